package httpjob_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
)

func TestStartRefusesArguments(t *testing.T) {
	t.Parallel()
	headers := func(text string) string {
		return `{"Start": {"Url": "https://api.example.com/jobs", "Headers": ` + text + `}, ` + describe + `}`
	}
	toDescribe := func(url string) string { return `{` + start + `, "Describe": {"Url": "` + url + `"}}` }
	with := func(more string) string { return `{` + start + `, ` + describe + `, ` + more + `}` }
	tests := []struct{ name, arguments, want string }{
		{"no Url", `{"Start": {}, ` + describe + `}`, `the start call needs the member "Url"`},
		{"no Url to describe", `{` + start + `, "Describe": {}}`, `the describe call needs the member "Url"`},
		{"unknown member of Start", `{"Start": {"Url": "https://api.example.com/", "Boddy": 1}, ` + describe + `}`, `did you mean "Body"`},
		{"headers of Describe", `{` + start + `, "Describe": {"Url": "https://api.example.com/", "Headers": {}}}`, "/Describe"},
		{"method", `{"Start": {"Url": "https://api.example.com/", "Method": "GET"}, ` + describe + `}`, "/Start/Method: "},
		{"method to stop", with(`"Stop": {"Url": "https://api.example.com/", "Method": "GET"}`), "/Stop/Method: "},
		{"no method to stop", with(`"Stop": {"Url": "https://api.example.com/"}`), `the stop call needs the member "Method"`},
		{"large body", `{"Start": {"Url": "https://api.example.com/", "Body": "` + strings.Repeat("x", 256<<10) + `"}, ` + describe + `}`, "expected at most 262144 bytes of JSON, found 262146"},
		{"window without key", with(`"IdempotencyWindowSeconds": 60`), "/IdempotencyWindowSeconds: IdempotencyWindowSeconds needs IdempotencyKey true"},
		{"window of nothing", with(`"IdempotencyKey": true, "IdempotencyWindowSeconds": 0`), "/IdempotencyWindowSeconds: "},

		{"headers are a list", headers(`[]`), "/Start/Headers: expected an object of headers, found an array"},
		{"header is a number", headers(`{"Prefer": 1}`), "/Start/Headers/Prefer: expected a string"},
		{"Authorization", headers(`{"Authorization": "Bearer secret"}`), "secrets do not belong in the input of an execution"},
		{"authorization", headers(`{"authorization": "Bearer secret"}`), "secrets do not belong"},
		{"Proxy-Authorization", headers(`{"Proxy-Authorization": "secret"}`), "secrets do not belong"},
		{"Cookie", headers(`{"cookie": "secret"}`), "secrets do not belong"},
		{"X-Api-Key", headers(`{"X-Api-Key": "secret"}`), "secrets do not belong"},
		{"X-Aws-Ec2-Metadata-Token", headers(`{"X-aws-ec2-metadata-token": "secret"}`), "secrets do not belong"},
		{"Host", headers(`{"host": "evil.net"}`), "remove the header"},
		{"Proxy-Connection", headers(`{"Proxy-Connection": "x"}`), "remove the header"},
		{"Transfer-Encoding", headers(`{"Transfer-Encoding": "chunked"}`), "remove the header"},
		{"Content-Length", headers(`{"content-length": "1"}`), "remove the header"},
		{"Idempotency-Key", headers(`{"idempotency-key": "mine"}`), "remove the header"},
		{"X-Forwarded-For", headers(`{"x-forwarded-for": "127.0.0.1"}`), "remove the header"},
		{"X-HTTP-Method-Override", headers(`{"X-HTTP-Method-Override": "DELETE"}`), "remove the header"},
		{"X-Method-Override", headers(`{"X-Method-Override": "DELETE"}`), "remove the header"},
		{"X-Original-URL", headers(`{"X-Original-URL": "/admin"}`), "remove the header"},
		{"X-Rewrite-URL", headers(`{"x-rewrite-url": "/admin"}`), "remove the header"},
		{"two cases", headers(`{"Prefer": "a", "prefer": "b"}`), "the header is there twice, in different case"},
		{"bad name", headers(`{"Pre fer": "a"}`), "expected the name of a header"},
		{"no name", headers(`{"": "a"}`), "expected the name of a header"},
		{"line break in a name", headers(`{"Prefer: a\r\nHost": "b"}`), "expected the name of a header"},
		{"line break in a value", headers(`{"Prefer": "a\r\nHost: evil.net"}`), "expected visible ASCII characters"},
		{"empty value", headers(`{"Prefer": ""}`), "expected visible ASCII characters"},
		{"value that is not ASCII", headers(`{"Prefer": "é"}`), "expected visible ASCII characters"},

		{"host off the list", toDescribe("https://evil.net/{Body.id}"), "/Describe/Url: not allowed: JOBPOLLER_HTTP_HOSTS does not list the server"},
		{"host of the answer", toDescribe("https://{Body.host}/jobs"), "expected scheme and host before the first brace"},
		{"half a host of the answer", toDescribe("https://api.example.com{Body.host}/jobs"), "expected scheme and host before the first brace"},
		{"scheme of the answer", toDescribe("{Body.scheme}://api.example.com/jobs"), "expected scheme and host before the first brace"},
		{"two expressions", toDescribe("{Body.base}{Body.id}"), "expected scheme and host before the first brace"},
		{"no https", toDescribe("http://api.example.com/{Body.id}"), "/Describe/Url: not allowed: expected an https URL"},
		{"fragment", toDescribe("https://api.example.com/#{Body.id}"), "fragment"},
		{"open brace", toDescribe("https://api.example.com/{Body.id"), "found { without a closing }"},
		{"close brace", toDescribe("https://api.example.com/Body.id}"), "found } without an opening {"},
		{"close brace after", toDescribe("https://api.example.com/{Body.id}}"), "found } without an opening {"},
		{"empty expression", toDescribe("https://api.example.com/{}"), "expected a JMESPath expression in the braces at character 25"},
		{"bad expression", toDescribe("https://api.example.com/{Body.id}/{Body..secret}"), "expected a JMESPath expression in the braces at character 35"},
		{"unknown function", toDescribe("https://api.example.com/{secret(Body)}"), "expected a JMESPath expression"},
		{"relative", toDescribe("/jobs/{Body.id}"), "expected scheme and host before the first brace"},
		{"dots", toDescribe("https://api.example.com/../{Body.id}"), "without the segments . and .. in its path"},
		{"empty", toDescribe(""), "expected an absolute URL"},
		{"stop off the list", with(`"Stop": {"Method": "DELETE", "Url": "https://evil.net/{Body.id}"}`), "/Stop/Url: not allowed: JOBPOLLER_HTTP_HOSTS does not list the server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			driver, err := httpjob.New(httpjob.Config{Hosts: []string{"api.example.com"}, Wrap: func(http.RoundTripper) http.RoundTripper { return unreached{t} }})
			require.NoError(t, err)
			_, err = driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(tt.arguments)})
			require.ErrorIs(t, err, jobs.ErrArguments)
			require.ErrorContains(t, err, "invalid job arguments of http:Request: ")
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, jobs.Idempotency{Class: jobs.NoProtection}, driver.Idempotency(jobs.Request{Arguments: json.RawMessage(tt.arguments)}))
		})
	}
}

// scripted answers a start, redirects the first call after it if it has a
// location, and keeps the requests that it saw.
type scripted struct {
	body, location string
	requests       []*http.Request
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests = append(s.requests, r)
	header := http.Header{}
	header.Set("Location", s.location)
	status := http.StatusOK
	if len(s.requests) == 2 && s.location != "" {
		status = http.StatusFound
	}
	return &http.Response{StatusCode: status, Header: header, Body: httpBody(s.body), Request: r}, nil
}

func httpBody(text string) *body { return &body{strings.NewReader(text)} }

type body struct{ *strings.Reader }

func (*body) Close() error { return nil }

// Whatever the template, the answer and the redirect, requests go to the server
// on the list and nowhere else, and below the path that the template names.
func FuzzTemplate(f *testing.F) {
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "1"}`, "")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "../../admin?x#y@evil.net"}`, "")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": ".."}`, "")
	f.Add("https://api.example.com/jobs/{Body.jobs[?a=='}'].id | [0]}", `{"jobs": [{"id": 1}]}`, "")
	f.Add("{Headers.Location}", ``, "//evil.net/x")
	f.Add("{Headers.Location}", ``, "https://api.example.com:443@evil.net/")
	f.Add("{Headers.Location}", ``, "\\\\evil.net/x")
	f.Add("{Body}", `"https://api.example.com\u0000.evil.net/"`, "")
	f.Add("https://api.example.com/?a={Body.a}&b={Body.b}", `{"a": "1&b=2", "b": 9007199254740993}`, "")
	f.Add("https://api.example.com.{Body.id}/", `{"id": "evil.net"}`, "")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "1"}`, "/jobs/2?a=b")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "1"}`, "https://api.example.com:443@evil.net/")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "1"}`, "//evil.net/")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "1"}`, "http://api.example.com/")
	f.Add("https://api.example.com/jobs/{Body.id}", `{"id": "1"}`, "%zz")
	f.Add("{", `{`, "%")
	f.Fuzz(func(t *testing.T, template, answer, location string) {
		network := &scripted{body: answer, location: location}
		driver, err := httpjob.New(httpjob.Config{Hosts: []string{"api.example.com"}, Wrap: func(http.RoundTripper) http.RoundTripper { return network }})
		require.NoError(t, err)
		quoted, err := json.Marshal(template)
		require.NoError(t, err)
		ref, err := driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(
			fmt.Sprintf(`{"Start": {"Url": "https://api.example.com/jobs"}, "Describe": {"Url": %s}}`, quoted))})
		if err == nil {
			_, _ = driver.Describe(t.Context(), ref)
			require.GreaterOrEqual(t, len(network.requests), 2, "%s is not a reference", ref)
		}
		require.LessOrEqual(t, len(network.requests), 3)
		for n, r := range network.requests {
			u := r.URL
			require.Empty(t, r.Referer())
			require.Equal(t, "https", u.Scheme)
			require.Equal(t, "api.example.com", strings.TrimSuffix(strings.ToLower(u.Host), ":443"))
			require.Nil(t, u.User)
			literal, _, _ := strings.Cut(template, "{")
			if base, err := url.Parse(literal); err == nil && literal != "" && n == 1 {
				require.True(t, strings.HasPrefix(u.Path, base.Path), "%s leaves %s", u, literal)
			}
		}
	})
}

// Whatever the arguments, they are refused or lead to one request.
func FuzzArguments(f *testing.F) {
	f.Add("{" + start + ", " + describe + ", " + stop + "}")
	f.Add(`{"Start": {"Url": "https://api.example.com/", "Headers": {"A": "b", "a": "\r\n"}}, "Describe": {"Url": "{Body}"}}`)
	f.Add(`{"Start": {"Url": "https://user@api.example.com/{x}", "Method": null}, "Describe": []}`)
	f.Add(`{"Start": 1, "IdempotencyKey": "x", "IdempotencyWindowSeconds": -1}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, text string) {
		network := &scripted{body: `{"id": "1"}`, location: "/jobs/1"}
		driver, err := httpjob.New(httpjob.Config{Hosts: []string{"api.example.com"}, Wrap: func(http.RoundTripper) http.RoundTripper { return network }})
		require.NoError(t, err)
		_, err = driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(text)})
		if len(network.requests) == 0 {
			require.ErrorIs(t, err, jobs.ErrArguments)
		} else {
			require.NotErrorIs(t, err, jobs.ErrArguments)
			require.Len(t, network.requests, 1)
		}
	})
}
