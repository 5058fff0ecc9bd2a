package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/internal/terminal/terminaltest"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// door is a request that gets something out of a server, or something into it.
type door struct{ method, path, target, host, body string }

// doors are all of a server that has a machine and an execution, each by itself.
func doors(t *testing.T, machine, execution string) map[string]door {
	t.Helper()
	api, err := models.Load("stepfunctions")
	require.NoError(t, err)
	all := map[string]door{}
	for _, operation := range slices.Sorted(maps.Keys(api.Operations)) {
		all[operation] = door{http.MethodPost, "/", targetPrefix + operation, "", `{"name": "in", "definition": "{}", "roleArn": "` + watchRole + `", ` +
			`"stateMachineArn": "` + machine + `", "executionArn": "` + execution + `", "resourceArn": "` + machine + `"}`}
	}
	for _, operation := range []string{"StartSyncExecution", "TestState"} {
		all["sync- "+operation] = door{http.MethodPost, "/", targetPrefix + operation, "sync-", `{"stateMachineArn": "` + machine + `"}`}
	}
	for _, path := range []string{
		"clock", "events", "events?execution=" + url.QueryEscape(execution), "health", "", "live",
		"run/" + url.PathEscape(execution), "run/" + url.PathEscape(execution) + "/live", "machine/" + url.PathEscape(machine),
	} {
		all["GET "+path] = door{http.MethodGet, ownPaths + path, "", "", ""}
	}
	for path, body := range map[string]string{
		"clock": `{"advance": "1h"}`, "executions/run-1/skip": `{}`, "act/stop": "arn=" + url.QueryEscape(execution), "act/advance": "by=1h",
		"act/start": "arn=" + url.QueryEscape(machine), "act/skip": "arn=" + url.QueryEscape(execution), "machine/" + url.PathEscape(machine): "state=A",
	} {
		all["POST "+path] = door{http.MethodPost, ownPaths + path, "", "", body}
	}
	all["GET /"] = door{http.MethodGet, "/", "", "", ""}
	all["forwarded object"] = door{http.MethodPut, "/bucket/key", "", "", "in"}
	all["forwarded read"] = door{http.MethodGet, "/bucket?list-type=2", "", "", ""}
	all["forwarded call"] = door{http.MethodPost, "/", "AmazonSQS.SendMessage", "", "{}"}
	return all
}

// request is that of a door, as a program sends it.
func (d door) request(t *testing.T, to string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), d.method, to+d.path, strings.NewReader(d.body))
	require.NoError(t, err)
	r.Host = d.host + r.URL.Host
	if d.target != "" {
		r.Header.Set(targetHeader, d.target)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	if strings.HasPrefix(d.path, ownPaths) {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// signRequest signs as the SDK does.
func signRequest(t *testing.T, r *http.Request, body, service string, keys loopback.Keys) {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	hash := hex.EncodeToString(sum[:])
	if service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", hash)
	}
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey},
		r, hash, service, "us-east-1", time.Now(), func(o *v4.SignerOptions) { o.DisableURIPathEscaping = service == "s3" }))
}

// strangers are those who know all but the keys.
var strangers = map[string]func(t *testing.T, r *http.Request, body string){
	"unsigned": func(*testing.T, *http.Request, string) {},
	"signed as for an open server": func(t *testing.T, r *http.Request, body string) {
		t.Helper()
		signRequest(t, r, body, "states", loopback.Keys{AccessKeyID: "local", SecretAccessKey: "local"})
	},
	"signed by an account": func(t *testing.T, r *http.Request, body string) {
		t.Helper()
		signRequest(t, r, body, "states", loopback.Keys{AccessKeyID: "123456789012", SecretAccessKey: "local"})
	},
	"signed with other keys": func(t *testing.T, r *http.Request, body string) {
		t.Helper()
		signRequest(t, r, body, "s3", loopback.NewKeys())
	},
	"presigned": func(_ *testing.T, r *http.Request, _ string) {
		q := r.URL.Query()
		q.Set("X-Amz-Algorithm", "AWS4-HMAC-SHA256")
		q.Set("X-Amz-Signature", strings.Repeat("0", 64))
		r.URL.RawQuery = q.Encode()
	},
	"with a token": func(_ *testing.T, r *http.Request, _ string) {
		q := r.URL.Query()
		q.Set("token", loopback.NewSecret())
		r.URL.RawQuery = q.Encode()
		r.Header.Set("Cookie", "jobpoller="+loopback.NewSecret())
		r.Header.Set("X-Jobpoller-Token", loopback.NewSecret())
	},
}

// Whoever can connect to a server that acts with its owner's rights, and has no keys,
// gets nothing out of it and nothing into it, by whatever door.
func TestStrangersCannotUseServe(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	var forwarded atomic.Int64
	others := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		forwarded.Add(1)
		_, _ = io.WriteString(w, "out of the other server")
	}))
	t.Cleanup(others.Close)
	for name, flags := range map[string][]string{
		"--aws":                      {"--aws"},
		"--aws=athena":               {"--aws=athena"},
		"--lambda":                   {"--lambda", "enrich=" + self},
		"--lambda-endpoint":          {"--lambda-endpoint", "http://192.0.2.2:9001"},
		"--data":                     {"--data", t.TempDir()},
		"--listen":                   {"--listen", "0.0.0.0"},
		"--endpoint-url to a host":   {"--endpoint-url", "sqs=https://sqs.us-east-1.amazonaws.com"},
		"--forward and --aws=athena": {"--forward", others.URL, "--aws=athena"},
	} {
		s := startServing(t, io.Discard, append(flags, "--time", "manual")...)
		api := localAPI{server: s.server}
		call := func(operation string, in map[string]any) (out map[string]any) {
			require.NoError(t, api.call(t.Context(), operation, in, &out))
			return out
		}
		machine, _ := call("CreateStateMachine", map[string]any{"name": "secretive", "definition": waiting, "roleArn": watchRole})["stateMachineArn"].(string)
		execution, _ := call("StartExecution", map[string]any{"stateMachineArn": machine, "name": "run-1"})["executionArn"].(string)
		before := s.clock(t)
		for door, d := range doors(t, machine, execution) {
			for stranger, sign := range strangers {
				about := name + ", " + door + ", " + stranger
				r := d.request(t, s.http.URL())
				sign(t, r, d.body)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a stream that opens does not end
				answer, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
				require.NoError(t, err, about)
				text, err := io.ReadAll(answer.Body)
				cancel()
				require.NoError(t, err, about)
				require.NoError(t, answer.Body.Close())
				require.Contains(t, []int{http.StatusForbidden, http.StatusBadRequest}, answer.StatusCode, "%s: %s", about, text)
				require.Regexp(t, "sign|page|keys", string(text), about)
				require.NotRegexp(t, "secretive|run-1|arn:aws|out of", string(text), about)
				require.Empty(t, answer.Header.Values("Set-Cookie"), about)
			}
		}
		require.Equal(t, before, s.clock(t), name)
		require.Len(t, call("ListStateMachines", map[string]any{})["stateMachines"], 1, name)
		require.Len(t, call("ListExecutions", map[string]any{"stateMachineArn": machine, "statusFilter": "RUNNING"})["executions"], 1, name)
		require.Empty(t, call("ListActivities", map[string]any{})["activities"], name)
		require.Empty(t, call("ListTagsForResource", map[string]any{"resourceArn": machine})["tags"], name)
	}
	require.Zero(t, forwarded.Load(), "nothing was sent on")
}

// A server that signs with its owner's keys what it sends to another machine is for its
// owner alone, whichever flag names that machine.
func TestFunctionsElsewhereAreTheOwners(t *testing.T) {
	t.Parallel()
	for what, want := range map[string][]string{
		"https://lambda.us-east-1.amazonaws.com": {"--lambda"}, "http://192.0.2.2:9001/f": {"--lambda"}, "http://127.0.0.1:9001": nil, "http://localhost": nil,
	} {
		o := &serveOptions{}
		var err error
		o.functions, err = answers.ReadFunctions([]string{"enrich=" + what})
		require.NoError(t, err)
		require.Equal(t, want, o.ownerFlags(), what)
	}
}

// clock is the time of the server.
func (s *serving) clock(t *testing.T) time.Time {
	t.Helper()
	return s.server.World().Clock().Now()
}

// answered is what came of a request.
type answered struct {
	status int
	header http.Header
	text   string
}

// send sends a request, and follows no redirect.
func send(t *testing.T, r *http.Request) answered {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answered{answer.StatusCode, answer.Header, string(text)}
}

// browse opens an address as a browser does that has cookies.
func browse(t *testing.T, address string, cookies ...*http.Cookie) answered {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	return send(t, r)
}

// The owner uses every door with the keys, as any account, and the page with the token.
func TestOwnerUsesServe(t *testing.T) {
	t.Parallel()
	others := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "others got "+r.URL.RequestURI()+" "+string(body))
	}))
	t.Cleanup(others.Close)
	s := startServing(t, io.Discard, "--forward", others.URL, "--data", t.TempDir(), "--time", "manual")
	access, to := s.options.access, s.http.URL()
	call := func(keys loopback.Keys, service string, d door) (int, string) {
		r := d.request(t, to)
		signRequest(t, r, d.body, service, keys)
		answer := send(t, r)
		return answer.status, answer.text
	}
	for account, id := range map[string]string{"123456789012": access.AccessKeyID, "210987654321": "210987654321"} {
		keys := loopback.Keys{AccessKeyID: id, SecretAccessKey: access.SecretAccessKey}
		status, text := call(keys, "states", door{http.MethodPost, "/", targetPrefix + "CreateActivity", "", `{"name": "ask"}`})
		require.Equal(t, http.StatusOK, status, text)
		require.Contains(t, text, "arn:aws:states:us-east-1:"+account+":activity:ask")
		status, text = call(keys, "states", door{http.MethodPost, "/", targetPrefix + "TestState", "sync-", `{"definition": "{\"Type\": \"Pass\", \"End\": true}"}`})
		require.Equal(t, http.StatusOK, status, text)
		status, text = call(keys, "states", door{http.MethodPost, ownPaths + "clock", "", "", `{"advance": "1h"}`})
		require.Equal(t, http.StatusOK, status, text)
		status, text = call(keys, "states", door{http.MethodGet, ownPaths + "health", "", "", ""})
		require.Equal(t, http.StatusOK, status, text)
		status, text = call(keys, "s3", door{http.MethodPut, "/bucket/a%20b?x=y", "", "", "in"})
		require.Equal(t, "others got /bucket/a%20b?x=y in", text, status)
		status, text = call(keys, "sqs", door{http.MethodPost, "/", "AmazonSQS.SendMessage", "", "{}"})
		require.Equal(t, "others got / {}", text, status)
		status, text = call(keys, "sqs", door{http.MethodPost, "/", targetPrefix + "ListActivities", "", "{}"})
		require.Equal(t, http.StatusBadRequest, status, "signed for another service: %s", text)
		status, text = call(loopback.Keys{AccessKeyID: id + "0", SecretAccessKey: access.SecretAccessKey}, "states", door{http.MethodPost, "/", targetPrefix + "ListActivities", "", "{}"})
		require.Equal(t, http.StatusForbidden, status, "of no account: %s", text)
	}

	answer := browse(t, access.Page)
	require.Equal(t, http.StatusSeeOther, answer.status, answer.text)
	require.NotContains(t, answer.header.Get("Location"), "token")
	require.Len(t, answer.header.Values("Set-Cookie"), 1)
	cookie, err := http.ParseSetCookie(answer.header.Get("Set-Cookie"))
	require.NoError(t, err)
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, answer.header.Get("Location"), cookie.Path, "a server on another port does not get the cookie")
	page := to + answer.header.Get("Location")
	theirs := &http.Cookie{Name: cookie.Name, Value: "of another server"}
	answer = browse(t, page, theirs, cookie)
	require.Equal(t, http.StatusOK, answer.status, answer.text)
	require.Contains(t, answer.text, "<h1>Executions</h1>")
	require.Contains(t, answer.text, `data-live="`+access.page+"live")
	for about, refused := range map[string]string{
		"a cookie is no key": to + ownPaths + "clock", "nor one of the page's old path": to + ownPaths, "nor of the API": to + "/",
		"nor of events": to + ownPaths + "events", "nor below the path": to + ownPaths + "health",
	} {
		answer = browse(t, refused, cookie)
		require.Equal(t, http.StatusForbidden, answer.status, "%s: %s", about, answer.text)
	}
	answer = browse(t, page+"../clock", cookie)
	answer = browse(t, to+answer.header.Get("Location"), cookie)
	require.Equal(t, http.StatusForbidden, answer.status, "the way out of the page: %s", answer.text)
	answer = browse(t, page)
	require.Equal(t, http.StatusForbidden, answer.status, "the path is no key")
	for _, path := range []string{"/?token=" + access.token, page[len(to):] + "?token=" + access.token, ownPaths + "clock?token=" + access.token} {
		answer = browse(t, to+path)
		require.Equal(t, http.StatusForbidden, answer.status, "%s: the token opens the page alone", path)
	}
}

// A stream that the keys or the cookie have opened stays open.
func TestOwnerFollowsServe(t *testing.T) {
	t.Parallel()
	s := startServing(t, io.Discard, "--data", t.TempDir(), "--time", "manual")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := door{http.MethodGet, ownPaths + "events", "", "", ""}.request(t, s.http.URL()).WithContext(ctx)
	signRequest(t, events, "", "states", s.options.access.Keys)
	live := door{http.MethodGet, "", "", "", ""}.request(t, s.http.URL()+s.options.access.page+"live").WithContext(ctx)
	live.AddCookie(&http.Cookie{Name: sessionCookie, Value: s.options.access.session})
	for first, r := range map[string]*http.Request{": events\n": events, "event: patch\n": live} {
		answer, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		got := make([]byte, len(first))
		_, err = io.ReadFull(answer.Body, got)
		require.NoError(t, err)
		require.Equal(t, first, string(got))
		require.NoError(t, answer.Body.Close())
	}
}

// console is a terminal.
type console struct{ bytes.Buffer }

func (*console) Columns() int { return terminaltest.ScreenColumns }

// A terminal is its owner's, and a log is not: it has no secret, whatever happens.
func TestServeShowsNoSecret(t *testing.T) {
	t.Parallel()
	var log, errs bytes.Buffer
	s := startServing(t, &log, "--data", t.TempDir(), "--listen", "0.0.0.0", "-v")
	o := s.options
	for _, file := range []string{"", "/run/user/1000/jobpoller/serve.json"} {
		var out bytes.Buffer
		var shown console
		o.accessFile = file
		o.announce(&out, &errs)
		o.announce(terminal.NewWriter(&shown), &errs)
		require.Contains(t, out.String(), "page at           "+o.url()+ownPaths+" with ")
		require.Contains(t, out.String(), file)
		require.Contains(t, out.String(), "only whoever has its keys can use it, because of --data, --listen\n")
		require.Contains(t, shown.String(), "page at           "+o.access.Page+"\n")
		log.WriteString(out.String())
	}
	for _, sign := range strangers {
		r := door{http.MethodPost, "/", targetPrefix + "ListActivities", "", "{}"}.request(t, s.http.URL())
		sign(t, r, "{}")
		log.WriteString(send(t, r).text)
	}
	log.WriteString(browse(t, o.access.Page).text + errs.String())
	status, _, _ := s.run(t, "", invokeTask)
	require.Equal(t, "FAILED", status)
	require.NoError(t, s.close(t.Context()))
	for _, secret := range []string{o.access.AccessKeyID, o.access.SecretAccessKey, o.access.token, o.access.session, o.access.functions} {
		require.NotContains(t, log.String(), secret)
	}
}

// A server without such flags stays open.
func TestOpenServe(t *testing.T) {
	t.Parallel()
	others := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(others.Close)
	for name, flags := range map[string][]string{
		"nothing": nil, "emulators of this machine": {"--forward", others.URL, "--endpoint-url", "s3=" + others.URL},
		"a function server": {"--lambda", "enrich=" + others.URL, "--lambda-endpoint", others.URL},
		"loopback":          {"--listen", "127.0.0.1"}, "IPv6 loopback": {"--listen", "::1"}, "its name": {"--listen", "localhost"},
		"simulated": {"--simulate", "10m"},
	} {
		s := startServing(t, io.Discard, flags...)
		r := door{http.MethodPost, "/", targetPrefix + "ListActivities", "", "{}"}.request(t, s.http.URL())
		answer := send(t, r)
		require.Equal(t, http.StatusOK, answer.status, "%s: %s", name, answer.text)
		require.Nil(t, s.options.access, name)
	}
}
