// Package page shows the executions of a local Step Functions endpoint in a browser,
// as they go, and lets a person steer them. It is made of the parts of package report.
package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

var (
	//go:embed page.gohtml
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// Options say where the page stands, and what it shows.
type Options struct {
	World World
	// Path is that of the page on its server; "/" if empty. It ends with a slash.
	Path string
	// Token is a secret that every form sends as the field "token". The page does not
	// check it.
	Token string
	// Models are the APIs of services, for findings about types; nil for none.
	Models typecheck.Models
	// Compare tries other loops on the same job, and the loop itself first. It returns
	// nothing where that cannot be worked out. Nil compares nothing.
	Compare func(ctx context.Context, c Comparison) []Trial
}

// Page is an http.Handler.
type Page struct {
	o         Options
	policy    string
	script    string
	templates *template.Template
	mux       *http.ServeMux

	mu     sync.Mutex
	resume string // the rate of the clock before its pause

	summaries  summaries
	strategies strategies
	streams    chan struct{} // takes one a stream
}

// mostStreams is how many pages are live at the same time.
const mostStreams = 64

// New returns the page.
func New(o Options) *Page {
	o.Path = cmp.Or(o.Path, "/")
	p := &Page{o: o, resume: "1", script: report.Script() + pageScript, mux: http.NewServeMux(), streams: make(chan struct{}, mostStreams)}
	hash := sha256.Sum256([]byte(p.script))
	p.policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	p.templates = parseTemplates()
	handle := func(pattern string, f func(*request) error) {
		method, path, _ := strings.Cut(pattern, " ")
		p.mux.HandleFunc(method+" "+o.Path+path, func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, f) })
	}
	handle("GET {$}", (*request).showRuns)
	handle("GET live", (*request).streamRuns)
	handle("GET run/{arn}", (*request).showRun)
	handle("GET run/{arn}/live", (*request).streamRun)
	handle("GET machine/{arn}", (*request).showMachine)
	handle("POST machine/{arn}", (*request).testState)
	handle("POST act/{action}", (*request).act)
	return p
}

// parseTemplates parses the templates once for all pages.
var parseTemplates = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// request is a request of a browser.
type request struct {
	*Page

	w http.ResponseWriter
	r *http.Request
}

// refusal is an error that the reader of a page can do something about.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func (p *Page) serve(w http.ResponseWriter, r *http.Request, f func(*request) error) {
	header := w.Header()
	header.Set("Content-Security-Policy", p.policy)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin") // with none, a browser hides the origin of forms
	q := &request{p, w, r}
	err := f(q)
	if err == nil {
		return
	}
	status := http.StatusBadRequest
	if known, ok := errors.AsType[*refusal](err); ok {
		status = known.status
	}
	if isScript(r) {
		http.Error(w, err.Error(), status)
		return
	}
	back := r.PostFormValue("back")
	if !p.isOwn(back) {
		back = p.o.Path
	}
	q.render(status, "problem", problemView{frame: q.frame("Problem", ""), Text: err.Error(), Back: back})
}

// problemView is the page of an error.
type problemView struct {
	frame

	Text, Back string
}

// isScript tells whether the page's own script asks, not the browser for its reader.
func isScript(r *http.Request) bool { return r.Header.Get("X-Page") != "" }

// isOwn tells whether a reference leads to the page. A browser takes "//" and "\" for
// another site's.
func (p *Page) isOwn(reference string) bool {
	u, err := url.Parse(reference)
	return err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(reference, p.o.Path) && !strings.HasPrefix(reference, "//") &&
		!strings.ContainsAny(reference, "\\\r\n")
}

// frame is what all pages have.
type frame struct {
	Title string
	// Live is the path of the stream; empty for a page that stands still.
	Live   string
	Style  template.CSS
	Marks  template.HTML
	Script template.JS
	Path   string
	Token  string
	// Here is the reference of the page itself.
	Here  string
	Clock clockView
}

func (q *request) frame(title, live string) frame {
	return frame{
		Title: title, Live: live, Style: template.CSS(report.Style() + pageStyle), Marks: template.HTML(report.Marks()), //nolint:gosec // our own
		Script: template.JS(q.script), Path: q.o.Path, Token: q.o.Token, //nolint:gosec // our own
		Here: q.r.URL.RequestURI(), Clock: q.newClockView(q.o.World.Clock()),
	}
}

// render writes a page.
func (q *request) render(status int, name string, data any) {
	text, err := q.fill(name, data)
	if err != nil {
		http.Error(q.w, err.Error(), http.StatusInternalServerError)
		return
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, _ = q.w.Write([]byte(text)) // a reader that is gone is no concern here
}

// fill executes a template.
func (p *Page) fill(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // a template made it
}

// runPath and machinePath are the paths of pages.
func (p *Page) runPath(arn string) string     { return p.o.Path + "run/" + url.PathEscape(arn) }
func (p *Page) machinePath(arn string) string { return p.o.Path + "machine/" + url.PathEscape(arn) }
