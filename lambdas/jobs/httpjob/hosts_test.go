package httpjob_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// unreached fails the test if a request gets as far as the network.
type unreached struct{ t *testing.T }

func (u unreached) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("%s %s was sent", r.Method, r.URL)
	return nil, http.ErrAbortHandler
}

// sent answers every request.
type sent struct{}

func (sent) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestAllowedURLs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url      string
		hosts    string
		loopback bool
		want     string // what the refusal says, empty if the URL is allowed
	}{
		{"https://api.example.com/jobs", "api.example.com", false, ""},
		{"https://api.example.com:443/jobs", "api.example.com", false, ""},
		{"https://API.Example.com/jobs", "api.EXAMPLE.com", false, ""},
		{"https://api.example.com:8443/jobs", "api.example.com:8443", false, ""},
		{"https://a.b.example.com/jobs", "*.example.com", false, ""},
		{"https://a.example.com:8443/jobs", "*.example.com:8443", false, ""},
		{"https://10.0.0.5/jobs", "10.0.0.5", false, ""},
		{"https://[2001:db8::1]:8443/jobs", "[2001:db8::1]:8443", false, ""},
		{"http://localhost/jobs", "localhost", true, ""},
		{"http://127.0.0.1:8080/jobs", "127.0.0.1:8080", true, ""},
		{"http://[::1]:8080/jobs", "[::1]:8080", true, ""},
		{"https://localhost/jobs", "localhost", true, ""},

		{"https://api.example.com:8443/jobs", "api.example.com", false, "does not list the server"},
		{"https://api.example.com/jobs", "api.example.com:8443", false, "does not list the server"},
		{"https://api.example.com:80/jobs", "api.example.com", false, "does not list the server"},
		{"https://example.com/jobs", "*.example.com", false, "does not list the server"},
		{"https://badexample.com/jobs", "*.example.com", false, "does not list the server"},
		{"https://a.example.com/jobs", "*.example.com:8443", false, "does not list the server"},
		{"https://api.example.com.evil.net/jobs", "api.example.com", false, "does not list the server"},
		{"https://api.example.com./jobs", "api.example.com", false, "does not list the server"},
		{"https://evil.net#@api.example.com/jobs", "api.example.com", false, "fragment"},
		{"https://api.example.com@evil.net/jobs", "api.example.com", false, "user or password"},
		{"https://user:pass@api.example.com/jobs", "api.example.com", false, "user or password"},
		{"https://user@api.example.com/jobs", "api.example.com", false, "user or password"},
		{"https://evil.net\\@api.example.com/jobs", "api.example.com", false, "found other text"},
		{"https://api.example.com/jobs#x", "api.example.com", false, "fragment"},
		{"https://api.example.com/a/../jobs", "api.example.com", false, "segments . and .. in its path"},
		{"https://api.example.com/a/%2e%2e/jobs", "api.example.com", false, "segments . and .. in its path"},
		{"https://api.example.com/a%2f..%2fjobs", "api.example.com", false, "segments . and .. in its path"},
		{"https://api.example.com/%zz", "api.example.com", false, "found other text"},
		{"https://api.example.com/\r\nX: y", "api.example.com", false, "found other text"},
		{"https://api.example.com/" + strings.Repeat("x", 4096), "api.example.com", false, "at most 4096 bytes"},
		{"http://api.example.com/jobs", "api.example.com", false, "expected an https URL"},
		{"http://api.example.com/jobs", "api.example.com", true, "expected an https URL"},
		{"http://10.0.0.5/jobs", "10.0.0.5", true, "expected an https URL"},
		{"http://localhost/jobs", "localhost", false, "expected an https URL"},
		{"http://127.0.0.1:8080/jobs", "127.0.0.1:8080", false, "expected an https URL"},
		{"http://127.0.0.1:8081/jobs", "127.0.0.1:8080", true, "does not list the server"},
		{"http://localhost.evil.net/jobs", "localhost.evil.net", true, "expected an https URL"},
		{"file:///etc/passwd", "api.example.com", true, "expected an absolute URL"},
		{"ftp://api.example.com/jobs", "api.example.com", true, "expected an https URL"},
		{"gopher://127.0.0.1/jobs", "127.0.0.1", true, "expected an https URL"},
		{"https:api.example.com/jobs", "api.example.com", false, "expected an absolute URL"},
		{"//api.example.com/jobs", "api.example.com", false, "expected an https URL"},
		{"/jobs", "api.example.com", false, "expected an absolute URL"},
		{"", "api.example.com", false, "expected an absolute URL"},
		{"https://169.254.169.254/latest/meta-data", "api.example.com", false, "does not list the server"},
		{"https://2852039166/latest/meta-data", "api.example.com", false, "does not list the server"},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			t.Parallel()
			hosts := strings.Split(tt.hosts, ",")
			var transport http.RoundTripper = sent{}
			if tt.want != "" {
				transport = unreached{t}
			}
			driver, err := httpjob.New(httpjob.Config{Hosts: hosts, Loopback: tt.loopback, Wrap: func(http.RoundTripper) http.RoundTripper { return transport }})
			require.NoError(t, err)
			start, err := json.Marshal(map[string]any{"Start": map[string]any{"Url": tt.url}, "Describe": map[string]any{"Url": "https://" + strings.TrimPrefix(hosts[0], "*") + "/"}})
			require.NoError(t, err)
			_, err = driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: start})
			_, describeErr := driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": tt.url})
			stopErr := driver.Stop(t.Context(), jobs.Ref{"StopUrl": tt.url, "StopMethod": "DELETE"})
			if tt.want == "" {
				require.NoError(t, err)
				require.NoError(t, describeErr)
				require.NoError(t, stopErr)
				return
			}
			require.ErrorIs(t, err, jobs.ErrArguments)
			require.ErrorContains(t, err, "/Start/Url: ")
			require.ErrorContains(t, err, tt.want)
			for _, err := range []error{describeErr, stopErr} {
				require.ErrorContains(t, err, tt.want)
				require.False(t, goerror.Passes(err))
			}
		})
	}
}

func TestListOfHosts(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "*", "*.", "*.com", "*.10.0.0.1", "a.*.com", "https://example.com", "example.com/", "user@example.com", "example.com:", "example.com:x",
		"example.com:443:443", "exa mple.com", ".example.com", "example.com.", "exämple.com", "[fe80::1%25eth0]", "::1", "example.com?x", "-example.com",
	} {
		_, err := httpjob.New(httpjob.Config{Hosts: []string{"example.com", bad, "b_2.example.com:1"}})
		require.ErrorContains(t, err, "expected ", bad)
	}
}

func TestFromEnvironment(t *testing.T) {
	t.Parallel()
	build := func(variables map[string]string) (jobs.Driver, error) {
		return httpjob.FromEnvironment(jobs.Environment{Getenv: func(name string) string { return variables[name] }})
	}
	driver, err := build(map[string]string{"JOBPOLLER_HTTP_HOSTS": "api.example.com, *.example.org:8443", "JOBPOLLER_HTTP_LOOPBACK": "false"})
	require.NoError(t, err)
	require.Equal(t, "http:Request", driver.Name())
	_, err = driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": "http://localhost/"})
	require.ErrorIs(t, err, httpjob.ErrNotAllowed)

	for _, nothing := range []map[string]string{{}, {"JOBPOLLER_HTTP_LOOPBACK": "true"}} {
		_, err = build(nothing)
		require.ErrorIs(t, err, jobs.ErrNotConfigured)
		require.ErrorContains(t, err, "http:Request is not configured: set JOBPOLLER_HTTP_HOSTS to the hosts that it may call")
	}
	_, err = build(map[string]string{"JOBPOLLER_HTTP_HOSTS": "https://a, b,", "JOBPOLLER_HTTP_LOOPBACK": "yes"})
	require.NotErrorIs(t, err, jobs.ErrNotConfigured)
	require.ErrorContains(t, err, `JOBPOLLER_HTTP_HOSTS: expected host, host:port or *.example.com, found "https://a"`)
	require.ErrorContains(t, err, `found ""`)
	require.ErrorContains(t, err, `JOBPOLLER_HTTP_LOOPBACK must be true or false, is "yes"`)
}

// What a name resolves to is judged when the connection is made, whatever the
// list says.
func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for address, allowed := range map[string]struct{ remote, local bool }{
		"93.184.216.34:443":           {true, false},
		"10.0.0.5:443":                {true, false},
		"[2001:db8::1]:443":           {true, false},
		"[fd00:1::1]:443":             {true, false},
		"[64:ff9b::5db8:d822]:443":    {true, false},
		"127.0.0.1:9001":              {false, true},
		"127.8.8.8:80":                {false, true},
		"[::1]:80":                    {false, true},
		"[::ffff:127.0.0.1]:80":       {false, true},
		"0.0.0.0:80":                  {false, false},
		"[::]:80":                     {false, false},
		"169.254.169.254:80":          {false, false},
		"169.254.170.2:80":            {false, false},
		"[::ffff:169.254.169.254]:80": {false, false},
		"[64:ff9b::a9fe:a9fe]:80":     {false, false},
		"[fe80::1%eth0]:80":           {false, false},
		"[fd00:ec2::254]:80":          {false, false},
		"[fd00:ec2::23]:80":           {false, false},
		"224.0.0.1:80":                {false, false},
		"[ff02::1]:80":                {false, false},
		"metadata.google.internal:80": {false, false},
		"[64:ff9b::7f00:1]:80":        {false, true},
	} {
		for local, want := range map[bool]bool{false: allowed.remote, true: allowed.local} {
			err := httpjob.CheckAddress(address, local)
			if want {
				require.NoError(t, err, "%s, local %t", address, local)
			} else {
				require.ErrorIs(t, err, httpjob.ErrNotAllowed, "%s, local %t", address, local)
			}
		}
	}
}

// The list allows these names; where they lead is not allowed.
func TestDialIsGuarded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, port, _ := strings.Cut(s.host, ":")
	for _, host := range []string{s.host, "localhost:" + port, "169.254.169.254:" + port, "0.0.0.0:" + port, "[::ffff:169.254.169.254]:" + port} {
		driver, err := httpjob.New(httpjob.Config{Hosts: []string{host}})
		require.NoError(t, err)
		target := "https://" + host + "/jobs"
		_, err = driver.Start(t.Context(), jobs.Request{
			Token: "token-1", Arguments: json.RawMessage(`{"Start": {"Url": "` + target + `"}, "Describe": {"Url": "` + target + `"}}`),
		})
		require.ErrorIs(t, err, httpjob.ErrNotAllowed)
		require.ErrorContains(t, err, "the server's name leads to ")
		require.ErrorIs(t, err, jobs.ErrArguments)
		require.Equal(t, awserror.Refused, goerror.Classify(err))

		_, err = driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": target})
		require.ErrorIs(t, err, httpjob.ErrNotAllowed)
		require.False(t, goerror.Passes(err))
	}
	require.Empty(t, s.take())
}

// Whatever the entry, it is refused, or allows its own name and no other.
func FuzzHosts(f *testing.F) {
	for _, seed := range []string{"api.example.com", "API.example.com:8443", "*.example.com", "10.0.0.5", "[::1]:80", "*", "a:b", "https://a", "a@b", "a/b", "[", "%41"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		driver, err := httpjob.New(httpjob.Config{Hosts: []string{entry}, Wrap: func(http.RoundTripper) http.RoundTripper { return sent{} }})
		if err != nil {
			require.ErrorContains(t, err, "expected ")
			return
		}
		_, err = driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": "https://" + strings.Replace(entry, "*.", "a.b.", 1) + "/jobs"})
		require.NoError(t, err)
		for _, other := range []string{"https://x" + strings.TrimPrefix(entry, "*.") + "/", "https://" + entry + ".invalid/", "http://" + entry + "/"} {
			_, err = driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": other})
			require.Error(t, err, other)
		}
	})
}
