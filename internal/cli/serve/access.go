package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// access says who may use a server that acts with its owner's rights: whoever has its
// keys, a browser that has its token, and the functions that it runs.
type access struct {
	loopback.Access

	token   string // of the page's first address
	session string // that the browser gets for it, as a cookie
	// page is the path of the page. A browser sends cookies to all ports of a host, so to
	// every server of this machine: but it sends those of a path that they do not know to
	// none of them.
	page string
	// functions begins the path for the functions of --lambda whose keys are for other
	// services.
	functions string
}

const (
	sessionCookie = "jobpoller"
	tokenQuery    = "token"
	// secretVariable has a secret key for the server instead of a drawn one.
	secretVariable = "JOBPOLLER_SECRET_ACCESS_KEY"
	// leastSecret is how long that must be.
	leastSecret = 16
)

// newAccess draws the secrets of a server.
func newAccess(address string) *access {
	a := &access{
		Access: loopback.Access{Keys: newKeys(os.Getenv)},
		token:  loopback.NewSecret(), session: loopback.NewSecret(), page: ownPaths + loopback.NewSecret() + "/", functions: loopback.NewSecret(),
	}
	a.Page = address + ownPaths + "?" + tokenQuery + "=" + a.token
	return a
}

// newKeys are those of the environment, or drawn.
func newKeys(getenv func(string) string) loopback.Keys {
	if secret := getenv(secretVariable); secret != "" {
		return loopback.Keys{AccessKeyID: sim.DefaultAccount, SecretAccessKey: secret}
	}
	return loopback.NewKeys()
}

// ownerFlags are the flags with which a server acts with its owner's rights, or has what
// is the owner's, and the variable that sets a key: such a server asks for signed requests.
func (o *serveOptions) ownerFlags() (flags []string) {
	if len(o.services.AWS) > 0 {
		flags = append(flags, "--aws")
	}
	for _, at := range o.services.Places.All() {
		if !at.IsAWS() && !isLocal(at.URL()) {
			flags = append(flags, "--endpoint-url")
			break
		}
	}
	if o.forward != "" && !isLocal(o.forward) {
		flags = append(flags, "--forward")
	}
	for _, f := range o.functions.ByName {
		if !answers.IsURL(f.What) || !isLocal(f.What) {
			flags = append(flags, "--lambda")
			break
		}
	}
	if o.lambdaEndpoint != "" && !isLocal(o.lambdaEndpoint) {
		flags = append(flags, "--lambda-endpoint")
	}
	if o.data != "" {
		flags = append(flags, "--data")
	}
	if o.listen != "" && !loopback.IsLoopback(o.host()) {
		flags = append(flags, "--listen")
	}
	if os.Getenv(secretVariable) != "" {
		flags = append(flags, secretVariable)
	}
	return flags
}

// isLocal tells whether a URL leads to this machine: Tasks sign with the user's own
// credentials what they send elsewhere.
func isLocal(address string) bool {
	to, err := awscall.ParseEndpoint(address)
	return err == nil && loopback.IsLoopback(to.Hostname())
}

// checkSecret refuses a secret of the environment that can be guessed.
func checkSecret(getenv func(string) string) error {
	if secret := getenv(secretVariable); secret != "" && len(secret) < leastSecret {
		return fmt.Errorf("%s must have %d characters or more: openssl rand -hex 20 draws one", secretVariable, leastSecret)
	}
	return nil
}

// findAccess reads the access to the server that runs where the flags say; nil for one
// that asks for none.
func (o *serveOptions) findAccess() error {
	o.access = nil
	found, err := loopback.FindAccess(o.address())
	switch {
	case err == nil:
		o.access = &access{Access: found}
	case !errors.Is(err, fs.ErrNotExist):
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("the keys of the server: %w", err))
	case os.Getenv(secretVariable) != "":
		o.access = &access{Access: loopback.Access{Keys: newKeys(os.Getenv)}}
	}
	return nil
}

// save keeps the access for the owner's other programs, until the function is called.
func (o *serveOptions) saveAccess(log *serveLog) (remove func() error, err error) {
	if o.access == nil {
		loopback.ForgetAccess(o.address())
		return func() error { return nil }, nil
	}
	file, err := loopback.SaveAccess(o.address(), o.access.Access)
	switch {
	case err == nil:
		o.accessFile = file.Path()
		return file.Remove, nil
	case len(o.command) > 0 || os.Getenv(secretVariable) != "":
		log.warn("--print-env will not find this server's keys: %v", err)
		return func() error { return nil }, nil
	}
	return nil, kit.WithCode(kit.ExitFailed, err)
}

// keysFor are what a client signs with. An access key of twelve digits is its account, so
// it stays.
func (a *access) keysFor(own string) loopback.Keys {
	keys := a.Keys
	if server.IsAccount(own) {
		keys.AccessKeyID = own
	}
	return keys
}

// protect lets nothing else through. Requests that are sent on are signed for any
// service.
func (a *access) protect(o *serveOptions, next http.Handler) http.Handler {
	signed := loopback.Signed{
		Unverified: loopback.NewBudget(), MaxBody: maxOwnBody,
		Service: loopback.StepFunctions, Keys: []loopback.Keys{a.Keys}, TakesID: server.IsAccount, Refuse: refuseStranger,
		Source: fmt.Sprintf(`who started it gets them by eval "$(jobpoller serve --print-env --port %d)"`, o.port),
	}
	own := signed.Require(next)
	signed.Service, signed.MaxBody = loopback.AnyService, loopback.MaxBody
	others := signed.Require(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.hasSession(r) && strings.HasPrefix(r.URL.Path, a.page):
			next.ServeHTTP(w, r)
		case r.URL.Path == ownPaths && loopback.IsSecret(r.URL.Query().Get(tokenQuery), a.token):
			http.SetCookie(w, &http.Cookie{ //nolint:gosec // the server speaks no TLS
				Name: sessionCookie, Value: a.session, Path: a.page, HttpOnly: true, SameSite: http.SameSiteStrictMode,
			})
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, a.page, http.StatusSeeOther)
		case loopback.HasPath(r, a.functions):
			http.StripPrefix("/"+a.functions, next).ServeHTTP(w, r)
		case o.isForwarded(r):
			others.ServeHTTP(w, r)
		default:
			own.ServeHTTP(w, r)
		}
	})
}

// hasSession tells whether a browser has been let in. Another server of this machine may
// have set a cookie of the same name.
func (a *access) hasSession(r *http.Request) bool {
	for _, cookie := range r.CookiesNamed(sessionCookie) {
		if loopback.IsSecret(cookie.Value, a.session) {
			return true
		}
	}
	return false
}

// refuseStranger answers who is not let in: a client as AWS does, and a reader.
func refuseStranger(w http.ResponseWriter, r *http.Request, refusal *loopback.Refusal) {
	if r.Method == http.MethodGet && r.Header.Get("Authorization") == "" {
		const text = "this server is its owner's alone: open the address with the token that it printed at its start, or sign the request with its keys"
		http.Error(w, text, refusal.Status)
		return
	}
	text, err := json.Marshal(map[string]string{"__type": refusal.Code, "message": refusal.Message})
	if err != nil {
		panic(err) // of two strings
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Errortype", refusal.Code)
	w.WriteHeader(refusal.Status)
	_, _ = w.Write(text) // if it fails, the client has gone
}
