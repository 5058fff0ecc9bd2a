package httpjob

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// How long a server remembers keys, in seconds: what is assumed of one of which
// nothing is said, and the most that can be said, which is how long an execution
// may last.
const (
	defaultWindow = 24 * 60 * 60
	maxWindow     = 365 * 24 * 60 * 60
)

// stopMethods are those that a stop call may have.
var stopMethods = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// arguments are those of a request, read and checked.
type arguments struct {
	method   string
	url      *url.URL
	headers  http.Header
	body     []byte
	describe template
	// stopMethod is empty if the job cannot be stopped.
	stopMethod string
	stop       template
	// honoured: the server returns the first job for an Idempotency-Key that
	// it has seen, for as long as window says.
	honoured bool
	window   time.Duration
}

// argumentReader reads arguments. It tells where they are wrong, but quotes no
// string: URLs and headers may hold what does not belong in a log.
type argumentReader struct {
	jsontree.Reader

	allowed servers
	to      arguments
}

func (d *Driver) arguments(r jobs.Request) (*arguments, error) {
	doc, err := jsontree.Parse(r.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	a := argumentReader{Reader: jsontree.Reader{HideStrings: true, Spell: javasdk.MemberName}, allowed: d.allowed}
	a.to.method, a.to.headers = http.MethodPost, http.Header{}
	seconds := defaultWindow
	a.Object(doc.Root, "the object of arguments", map[string]func(*jsontree.Node){
		"Start":                    a.start,
		"Describe":                 a.describe,
		"Stop":                     a.stop,
		"IdempotencyKey":           a.Bool(&a.to.honoured),
		"IdempotencyWindowSeconds": a.Int(&seconds, 1, maxWindow),
	}, "Start", "Describe")
	a.to.window = time.Duration(seconds) * time.Second
	if window := doc.Root.Get("IdempotencyWindowSeconds"); window != nil && !a.to.honoured {
		a.Report(window.Problem("IdempotencyWindowSeconds needs IdempotencyKey true: it says how long the server remembers keys"))
	}
	if err := a.Problems.Err(); err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	return &a.to, nil
}

func (a *argumentReader) start(n *jsontree.Node) {
	a.Object(n, "the start call", map[string]func(*jsontree.Node){
		"Method":  a.OneOf(&a.to.method, http.MethodPost, http.MethodPut),
		"Url":     a.url,
		"Headers": a.headers,
		"Body": func(n *jsontree.Node) {
			a.to.body = n.Raw()
			if len(a.to.body) > jobs.MaxPayloadBytes {
				a.Report(n.Problem("expected at most %d bytes of JSON, found %d", jobs.MaxPayloadBytes, len(a.to.body)))
			}
		},
	}, "Url")
}

func (a *argumentReader) describe(n *jsontree.Node) {
	a.Object(n, "the describe call", map[string]func(*jsontree.Node){"Url": a.template(&a.to.describe)}, "Url")
}

func (a *argumentReader) stop(n *jsontree.Node) {
	a.Object(n, "the stop call", map[string]func(*jsontree.Node){
		"Method": a.OneOf(&a.to.stopMethod, stopMethods...),
		"Url":    a.template(&a.to.stop),
	}, "Method", "Url")
}

func (a *argumentReader) url(n *jsontree.Node) {
	var text string
	if a.Text(&text)(n); n.Kind != jsontree.String {
		return
	}
	var err error
	switch a.to.url, err = parseURL(text); {
	case strings.ContainsAny(text, "{}"):
		a.Report(n.Problem("braces are not allowed here: only the URLs of the describe and stop calls can read an answer"))
	case err != nil:
		a.reportURL(n, err)
	default:
		a.reportURL(n, a.allowed.check(a.to.url))
	}
}

func (a *argumentReader) template(to *template) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		var text string
		if a.Text(&text)(n); n.Kind != jsontree.String {
			return
		}
		var err error
		if *to, err = parseTemplate(text); err == nil {
			err = to.check(a.allowed)
		}
		a.reportURL(n, err)
	}
}

// reportURL reports what is wrong with a URL, by an error that quotes nothing of it.
func (a *argumentReader) reportURL(n *jsontree.Node, err error) {
	if err != nil {
		a.Report(n.Problem("%s", diag.Word(err.Error())))
	}
}

var (
	headerName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") })
	headerValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$`) })
	// secretName is of headers that authenticate the caller, and of some that
	// only look so.
	secretName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)auth|cookie|token|secret|api-?key|password|credential|signature`)
	})
	// ownNames are headers that the driver, or HTTP itself, sets.
	ownNames = []string{
		"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Expect", "Forwarded", "Host", "Idempotency-Key",
		"Keep-Alive", "Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via", "X-Http-Method", "X-Http-Method-Override",
		"X-Method-Override", "X-Original-Url", "X-Rewrite-Url",
	}
	ownPrefixes = []string{"Proxy-", "Sec-", "X-Forwarded-"}
)

func (a *argumentReader) headers(n *jsontree.Node) {
	if n.Kind != jsontree.Object {
		a.Report(n.Problem("expected an object of headers, found %s", n.Kind))
		return
	}
	for _, m := range n.Members {
		name := http.CanonicalHeaderKey(m.Name)
		var value string
		a.Text(&value)(m.Value)
		switch {
		case !headerName().MatchString(m.Name):
			a.Report(n.MemberProblem(m, "expected the name of a header, found other text"))
		case secretName().MatchString(name):
			a.Report(n.MemberProblem(m, "secrets do not belong in the input of an execution, where every reader sees them: remove the header, "+
				"and have a function of your own add it (Config.Wrap)"))
		case slices.Contains(ownNames, name) || slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
			a.Report(n.MemberProblem(m, "remove the header: a request must not set it"))
		case a.to.headers[name] != nil:
			a.Report(n.MemberProblem(m, "the header is there twice, in different case"))
		case m.Value.Kind == jsontree.String && !headerValue().MatchString(value):
			a.Report(m.Value.Problem("expected visible ASCII characters, found other text"))
		}
		a.to.headers[name] = []string{value}
	}
}
