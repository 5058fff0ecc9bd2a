package loopback

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
)

// Guard lets only requests through that a program of this machine sends, or a page of
// the server itself. A page of another site reaches a server on this machine in two
// ways: it calls the address, and then the browser sends the page's origin; or it lets
// its own name resolve to the address, and then the host is that name.
type Guard struct {
	port    string
	hosts   []string
	own     string
	token   string
	noPages bool
}

// GuardOptions say what a Guard lets through.
type GuardOptions struct {
	// Port is that of the server.
	Port string
	// Hosts are names that reach the server beside those of loopback: "name" with
	// the server's port, or "name:port".
	Hosts []string
	// Own is the prefix of the paths that are the server's. A form below it carries
	// the token; JSON of a program needs none.
	Own string
}

// TokenField is the field of a form with the token, and TokenHeader the header.
const (
	TokenField  = "token"
	TokenHeader = "X-Jobpoller-Token" //nolint:gosec // its name
)

// syncPrefix is what the SDKs put before a host for the synchronous operations.
const syncPrefix = "sync-"

// maxForm is the size of the largest form of a page in bytes.
const maxForm = 2 << 20

// NewGuard returns a Guard with a token of its own.
func NewGuard(o GuardOptions) *Guard {
	g := &Guard{port: o.Port, own: o.Own, token: NewSecret()}
	for _, host := range o.Hosts {
		host = strings.ToLower(host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), o.Port)
		}
		g.hosts = append(g.hosts, host)
	}
	return g
}

// Token is what the server's pages, and nobody else, send with all that changes
// something.
func (g *Guard) Token() string { return g.token }

// Protect refuses all other requests.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		if status, problem := g.refuse(w, r); problem != "" {
			header.Set("Connection", "close") // the body has not been read
			LimitBody(maxForm, BodyTimeout, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, problem, status)
			})).ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse says why a request is refused, in words that quote nothing of it.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request) (status int, problem string) {
	switch origins := r.Header.Values("Origin"); {
	case r.URL.IsAbs() || r.URL.Host != "" || r.Method == http.MethodConnect:
		return http.StatusBadRequest, "this server is no proxy: send the path alone"
	case !g.knows(r):
		return http.StatusMisdirectedRequest, "this server does not know the host of the request: use localhost with the port, or name the host with --host"
	case r.Method == http.MethodOptions:
		return http.StatusMethodNotAllowed, "this server answers no preflight: pages of other sites cannot call it"
	case len(origins) > 0 && (g.noPages || !slices.Equal(origins, []string{"http://" + r.Host})):
		return http.StatusForbidden, "this server does not answer pages of other sites"
	case !isOwnSite(r.Header.Values("Sec-Fetch-Site")):
		return http.StatusForbidden, "this server does not answer what pages of other sites ask for"
	}
	return g.checkToken(w, r)
}

// isOwnSite tells whether a browser asks for its user or for a page of the server, by
// what it says of the site; other clients say nothing.
func isOwnSite(site []string) bool {
	return len(site) == 0 || slices.Equal(site, []string{"same-origin"}) || slices.Equal(site, []string{"none"})
}

// knows tells whether the request names a host of the server. A loopback address, and
// the address that the connection has reached, cannot be anybody else's.
func (g *Guard) knows(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	for _, host := range []string{host, strings.TrimPrefix(host, syncPrefix)} {
		if slices.Contains(g.hosts, host) {
			return true
		}
		name, port, err := net.SplitHostPort(host)
		if err != nil && g.port == "80" {
			name, port, err = host, g.port, nil
		}
		if err != nil || port != g.port {
			continue
		}
		if name == "localhost" || strings.HasSuffix(name, ".localhost") || isReached(r, net.ParseIP(name)) {
			return true
		}
	}
	return false
}

func isReached(r *http.Request, ip net.IP) bool {
	if ip == nil {
		return false
	}
	reached, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || reached != nil && reached.IP.Equal(ip)
}

// checkToken asks for the token where a page changes something: a browser sends its
// origin or site with that, and a form below the server's own paths comes from a page. A
// program of this machine that sends JSON needs none anywhere: it can call the API, which
// does all that a page does, and no page of another site can send JSON without an origin.
func (g *Guard) checkToken(w http.ResponseWriter, r *http.Request) (status int, problem string) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return 0, ""
	}
	form := false
	if g.own != "" && strings.HasPrefix(r.URL.Path, g.own) {
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		form = kind != "application/json"
	}
	program := r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == ""
	if program && !form {
		return 0, ""
	}
	given := r.Header.Get(TokenHeader)
	if given == "" && form {
		limitBody(w, r, maxForm, BodyTimeout)
		if err := r.ParseForm(); err != nil {
			return http.StatusBadRequest, fmt.Sprintf("expected a form of at most %d bytes, as application/x-www-form-urlencoded, or JSON as application/json", maxForm)
		}
		given = r.PostForm.Get(TokenField)
	}
	switch {
	case IsSecret(given, g.token):
		return 0, ""
	case program && given == "":
		return http.StatusForbidden, "expected the header Content-Type: application/json; only forms of the server's page are sent otherwise, with its token"
	}
	return http.StatusForbidden, "the page's token is missing, or of an earlier start of this server: load the page again"
}

// IsLoopback tells whether a host of a URL is this machine's loopback interface.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
