package awsjob_test

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// sent is a request that a service has got.
type sent struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// answer is what a service says next.
type answer struct {
	status int // 0 stands for 200
	header map[string]string
	body   string
}

// scripted is a service that gives one answer after the other, and the last for
// good.
type scripted struct {
	*httptest.Server

	mu      sync.Mutex
	answers []answer
	got     []sent
}

func newScripted(t *testing.T, answers ...answer) *scripted {
	t.Helper()
	s := &scripted{answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	s.mu.Lock()
	s.got = append(s.got, sent{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Clone(), string(body)})
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(cmp.Or(a.status, http.StatusOK))
	_, _ = io.WriteString(w, a.body) // a client that is gone is no concern here
}

// take returns the requests so far.
func (s *scripted) take() []sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// config is a configuration whose clients send to the endpoint and do not pause
// between tries.
func config(endpoint string) aws.Config {
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret-of-the-test", "session-of-the-test"),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

// service returns a service of the catalogue from its JSON.
func service(t testing.TB, text string) *catalog.Service {
	t.Helper()
	var s catalog.Service
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return catalogOf(t, &s).mustService(t, s.Key)
}

// testCatalog is a catalogue of services of a test.
type testCatalog struct{ *catalog.Catalog }

func catalogOf(t testing.TB, services ...*catalog.Service) testCatalog {
	t.Helper()
	files := fstest.MapFS{}
	index := []catalog.Listing{}
	for _, s := range services {
		index = append(index, s.Listing())
		text, err := json.Marshal(s)
		require.NoError(t, err)
		files[s.Key+".json"] = &fstest.MapFile{Data: text}
	}
	text, err := json.Marshal(index)
	require.NoError(t, err)
	files[catalog.IndexFile] = &fstest.MapFile{Data: text}
	return testCatalog{catalog.Open(files)}
}

func (c testCatalog) mustService(t testing.TB, key string) *catalog.Service {
	t.Helper()
	s, err := c.Service(key)
	require.NoError(t, err)
	return s
}

// fixtures is the catalogue of testdata.
func fixtures(t testing.TB) testCatalog {
	t.Helper()
	var services []*catalog.Service
	for _, name := range []string{"ovens", "gardens"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(t, err)
		services = append(services, service(t, string(text)))
	}
	return catalogOf(t, services...)
}

func mustDriver(t testing.TB, name, endpoint string) jobs.Driver {
	t.Helper()
	d, err := awsjob.NewDriver(config(endpoint), fixtures(t).Catalog, name)
	require.NoError(t, err)
	return d
}

// catalogueMaker makes the driver of a job of AWS's.
func catalogueMaker(name string) jobs.Maker {
	return func(e jobs.Environment) (jobs.Driver, error) { return awsjob.NewDriver(e.AWS, catalog.AWS(), name) }
}

// driverAt returns the driver of a job of AWS's at a service.
func driverAt(t *testing.T, name string, service http.Handler) jobs.Driver {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	driver, err := awsjob.NewDriver(config(server.URL), catalog.AWS(), name)
	require.NoError(t, err)
	return driver
}

// stopAt stops a job at a service.
func stopAt(t *testing.T, name string, service http.Handler, ref jobs.Ref) error {
	t.Helper()
	stopper, ok := driverAt(t, name, service).(jobs.Stopper)
	require.True(t, ok)
	return stopper.Stop(t.Context(), ref)
}

// An answer without an ID leaves open whether there is a job.
func TestStartOfAWSWithoutAnID(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"athena:StartQueryExecution":        `{"QueryString": "SELECT 1"}`,
		"glue:StartJobRun":                  `{"JobName": "nightly"}`,
		"redshift-data:ExecuteStatement":    `{"Sql": "SELECT 1"}`,
		"dynamodb:ExportTableToPointInTime": exportArguments,
	} {
		for _, body := range []string{`{}`, `{"ExportDescription": {}}`} {
			_, err := driverAt(t, name, newScripted(t, answer{body: body})).Start(t.Context(), jobs.Request{Token: "token-1", Arguments: json.RawMessage(arguments)})
			require.ErrorContains(t, err, name+": the start call returned no output.")
			require.True(t, goerror.Classify(err).MayHaveActed())
		}
	}
}
