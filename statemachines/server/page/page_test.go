package page_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

var update = flag.Bool("update", false, "write the golden pages anew")

const path = "/_jobpoller/"

func newPage(w page.World) *page.Page {
	return page.New(page.Options{World: w, Path: path, Token: "secret", Models: models.Load, Compare: func(_ context.Context, c page.Comparison) []page.Trial {
		return []page.Trial{{Name: "this loop", Calls: int(c.Runs / (10 * time.Second)), Transitions: 28, USD: .0007}, {Name: "variables", Late: time.Second, Calls: 3}}
	}})
}

// get returns the answer to a request.
func get(t *testing.T, p http.Handler, reference string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+reference, nil))
	return w.Code, w.Body.String()
}

// post sends a form.
func post(t *testing.T, p http.Handler, reference string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path+reference, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func run(arn string) string { return "run/" + url.PathEscape(arn) }

// The pages of a world that stands still do not change unnoticed.
func TestGoldenPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := newPage(w)
	for name, reference := range map[string]string{
		"runs.html": "", "run.html": run(w.runs[0].ARN), "ended.html": run(w.runs[1].ARN), "machine.html": "machine/" + url.PathEscape(machine),
	} {
		code, text := get(t, p, reference)
		require.Equal(t, http.StatusOK, code, text)
		text = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`).ReplaceAllString(text, "") // files of their own
		file := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		}
		golden, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(golden), text, "go test ./statemachines/server/page -update writes %s anew", file)
	}
}

// The ribbon of a running execution has a mark for each poll of the history, and
// hollow ones for those to come.
func TestRibbon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, text := get(t, newPage(w), run(w.runs[0].ARN))
	polls := 0
	for _, event := range w.runs[0].History.Events {
		if event.Type == "TaskScheduled" {
			polls++
		}
	}
	require.Equal(t, 6, polls)
	require.Len(t, regexp.MustCompile(`<use href="#retry" x=`).FindAllString(text, -1), polls)
	require.Len(t, regexp.MustCompile(`<use href="#planned" x=`).FindAllString(text, -1), 5)
	require.Contains(t, text, "<title>planned poll, +1m16s (00:01:16)</title>", "the wait began 66 seconds after the start")
	require.Contains(t, text, `<line class="now" `)
	require.Regexp(t, `class="state wait current"`, text)
	require.Contains(t, text, "goes on in 7s")
}

// The page's own script is the one that its policy lets run, and the page loads nothing
// from elsewhere.
func TestPolicy(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	w := httptest.NewRecorder()
	newPage(world).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	policy := w.Header().Get("Content-Security-Policy")
	_, rest, _ := strings.Cut(w.Body.String(), "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	hash := sha256.Sum256([]byte(script))
	require.Contains(t, policy, "script-src 'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'")
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		require.Contains(t, policy, part)
	}
	require.NotRegexp(t, `(?:src|href)="https?:`, w.Body.String())
	require.NotRegexp(t, `(?i)<[^>]+\son\w+=`, w.Body.String(), "no handler stands in the markup")
}

// What the forms send reaches the world, and the reader comes back.
func TestActions(t *testing.T) {
	t.Parallel()
	const arn = prefix + "execution:nightly:tonight"
	for _, c := range []struct {
		action string
		form   url.Values
		does   string
	}{
		{"pause", nil, "rate 0"},
		{"rate", url.Values{"rate": {"60"}}, "rate 60"},
		{"next", nil, "next"},
		{"advance", url.Values{"by": {"1h"}}, "advance 1h0m0s"},
		{"skip", url.Values{"arn": {arn}, "state": {"Wait"}}, "skip Wait of " + arn},
		{"stop", url.Values{"arn": {arn}, "error": {"E"}}, `StopExecution {"error":"E","executionArn":"` + arn + `"}`},
		{"redrive", url.Values{"arn": {arn}}, `RedriveExecution {"executionArn":"` + arn + `"}`},
		{"token", url.Values{"arn": {arn}, "taskToken": {"T"}, "how": {"success"}, "output": {"{}"}, "error": {"E"}}, `SendTaskSuccess {"output":"{}","taskToken":"T"}`},
		{"token", url.Values{"arn": {arn}, "taskToken": {"T"}, "how": {"failure"}, "output": {"{}"}, "error": {"E"}}, `SendTaskFailure {"error":"E","taskToken":"T"}`},
		{"token", url.Values{"arn": {arn}, "taskToken": {"T"}, "how": {"heartbeat"}}, `SendTaskHeartbeat {"taskToken":"T"}`},
		{"answer", url.Values{"arn": {arn}, "state": {"Get"}, "output": {`{"a": 1}`}}, `answer Get {"a": 1}  `},
		{"answer", url.Values{"arn": {arn}, "state": {"Get"}, "error": {"E"}, "cause": {"c"}}, `answer Get  E c`},
	} {
		w := newWorld(t)
		form := url.Values{"back": {path + "run/x"}}
		maps.Copy(form, c.form)
		answer := post(t, newPage(w), "act/"+c.action, form)
		require.Equal(t, http.StatusSeeOther, answer.Code, answer.Body.String())
		require.Equal(t, path+"run/x", answer.Header().Get("Location"))
		require.Equal(t, []string{c.does}, w.done)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := post(t, newPage(w), "act/start", url.Values{"arn": {machine}, "input": {" {\"a\": 1}\n"}, "name": {""}})
	require.Equal(t, http.StatusSeeOther, answer.Code)
	require.Equal(t, path+run(prefix+"execution:nightly:new"), answer.Header().Get("Location"))
	require.Equal(t, []string{`StartExecution {"input":"{\"a\": 1}","stateMachineArn":"` + machine + `"}`}, w.done)
}

// A refused form says why, and leads back to the page alone.
func TestRefusedActions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		action, says string
		form         url.Values
	}{
		{"start", "InvalidName: &lt;b&gt;no&lt;/b&gt;", nil},
		{"rate", "expected a rate above 0 and up to 86400, such as 60, found &#34;-1&#34;", url.Values{"rate": {"-1"}}},
		{"advance", "expected a time above 0, such as 10m, found &#34;soon&#34;", url.Values{"by": {"soon"}}},
		{"token", "expected success, failure or heartbeat", nil},
		{"answer", "give the answer as JSON, or the name of an error", nil},
		{"answer", "the answer is not JSON", url.Values{"output": {"{"}}},
		{"nothing", "there is no such action", nil},
	} {
		w := newWorld(t)
		w.answers = nil
		for _, back := range []string{"https://elsewhere.example/", "//elsewhere.example/", `/\elsewhere.example`, "/_jobpoller/\\x", "javascript:alert(1)"} {
			form := url.Values{"back": {back}}
			maps.Copy(form, c.form)
			answer := post(t, newPage(w), "act/"+c.action, form)
			require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, answer.Code)
			require.Contains(t, answer.Body.String(), c.says)
			require.Contains(t, answer.Body.String(), `<a href="/_jobpoller/">Go back</a>`)
		}
	}
}

// A form of the script is answered with the text of its problem alone.
func TestScriptedActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for action, want := range map[string]int{"next": http.StatusNoContent, "rate": http.StatusBadRequest} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path+"act/"+action, nil)
		r.Header.Set("X-Page", "1")
		answer := httptest.NewRecorder()
		newPage(w).ServeHTTP(answer, r)
		require.Equal(t, want, answer.Code)
		require.NotContains(t, answer.Body.String(), "<")
	}
}

func TestTestState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := post(t, newPage(w), "machine/"+url.PathEscape(machine), url.Values{"state": {"Get"}, "input": {"{}"}, "mock": {`{"a": 1}`}})
	require.Equal(t, http.StatusOK, answer.Code)
	require.Contains(t, answer.Body.String(), `<option selected>Get</option>`)
	require.Contains(t, answer.Body.String(), `<span class="status good">SUCCEEDED</span>`)
	require.Regexp(t, `TestState .*"mock":\{"result":"\{\\"a\\": 1\}"\},"stateName":"Get"`, strings.Join(w.done, "\n"))
}

// The page asks for all versions of a state machine at once: AWS's page has 100.
func TestAllVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, text := get(t, newPage(w), "machine/"+url.PathEscape(machine))
	require.Contains(t, text, "<td>2</td><td>2026-01-01 00:00:00</td>")
	require.Equal(t, []string{`ListStateMachineVersions {"maxResults":1000,"stateMachineArn":"` + machine + `"}`}, w.done)
}

// Each of many state machines is on a page of the list, and a search finds it.
func TestManyMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 70 {
		name := fmt.Sprintf("machine-%02d", i)
		w.machines = append(w.machines, page.Machine{ARN: prefix + "stateMachine:" + name, Name: name})
	}
	p := newPage(w)
	seen, reference := map[string]bool{}, ""
	for pages := 1; ; pages++ {
		_, text := get(t, p, reference)
		_, text, _ = strings.Cut(text, `<h2 id="machines">`)
		for _, found := range regexp.MustCompile(`>(machine-\d\d|nightly)</a>`).FindAllStringSubmatch(text, -1) {
			require.False(t, seen[found[1]], found[1])
			seen[found[1]] = true
		}
		next := regexp.MustCompile(`<a href="` + path + `([^"]*)#machines">next</a>`).FindStringSubmatch(text)
		if next == nil {
			require.Equal(t, 3, pages)
			require.Contains(t, text, "61 to 71 of 71")
			require.Contains(t, text, `<a href="`+path+`?machines=30#machines">previous</a>`)
			break
		}
		reference = next[1]
	}
	require.Len(t, seen, 71)
	_, text := get(t, p, "?search=E-42")
	require.Contains(t, text, ">machine-42</a>")
	require.NotContains(t, text, ">machine-41</a>")
	_, text = get(t, p, "?machines=90")
	require.Contains(t, text, "1 to 30 of 71", "they were more when the page was made")
}

// What other loops take is worked out once, but not kept where the reader left before.
func TestComparisonOfAReaderWhoLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried := 0
	p := page.New(page.Options{World: w, Path: path, Compare: func(ctx context.Context, _ page.Comparison) []page.Trial {
		if tried++; ctx.Err() != nil {
			return nil
		}
		return []page.Trial{{Name: "this loop"}}
	}})
	gone, leave := context.WithCancel(t.Context())
	leave()
	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, path+run(w.runs[1].ARN), nil))
	for range 2 {
		_, text := get(t, p, run(w.runs[1].ARN))
		require.Contains(t, text, "<td>this loop</td>")
	}
	require.Equal(t, 2, tried)
}

func TestMissing(t *testing.T) {
	t.Parallel()
	p := newPage(newWorld(t))
	for _, reference := range []string{"run/x", "machine/x", "run/x/live"} {
		code, text := get(t, p, reference)
		require.Equal(t, http.StatusNotFound, code)
		require.Contains(t, text, "there is no such")
	}
}
