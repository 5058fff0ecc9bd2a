package external_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/internal/elasticmq"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
)

// account is the endpoint of all services, told apart as AWS JSON does. It counts calls,
// loses answers, and kills functions at their calls.
type account struct {
	services map[string]http.Handler // by what stands before the operation in X-Amz-Target

	mu        sync.Mutex
	random    *rand.Rand
	functions map[string]*runtimeapi.Function // by their access keys
	calls     map[string]int                  // by operation
	kills     int                             // of each kind of function, at most
	killed    map[string]int                  // by kind
	lost      int
}

// fate is what becomes of a call.
type fate int

const (
	goesWell fate = iota
	killedBefore
	killedAfter
	answerLost
)

// newAccount starts an SQS server and a DynamoDB server. The other services are given.
func newAccount(t *testing.T, kills int, services map[string]http.Handler) (*account, *elasticmq.Server) {
	t.Helper()
	queues, err := elasticmq.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, queues.Close()) })
	tables, err := dynalite.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	require.NoError(t, tables.CreateTable(t.Context(), recordsTable, "key"))
	client, ok := tables.Config(dynalite.ClientOptions{}).HTTPClient.(*http.Client)
	require.True(t, ok)

	a := &account{
		services: maps.Clone(services), random: rand.New(rand.NewPCG(*seed, 1)), kills: kills,
		functions: map[string]*runtimeapi.Function{}, calls: map[string]int{}, killed: map[string]int{},
	}
	a.services["AmazonSQS"] = forward(t, queues.URL(), &http.Transport{MaxIdleConnsPerHost: 64})
	a.services["DynamoDB_20120810"] = forward(t, tables.URL(), client.Transport)
	return a, queues
}

func forward(t *testing.T, to string, by http.RoundTripper) http.Handler {
	t.Helper()
	at, err := url.Parse(to)
	require.NoError(t, err)
	return &httputil.ReverseProxy{Transport: by, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }}
}

// credential is what a signature begins with: the access key.
var credential = regexp.MustCompile(`Credential=(\w+)/`)

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	service, ok := a.services[target]
	if !ok {
		http.Error(w, "no such service: "+target, http.StatusNotFound)
		return
	}
	caller := ""
	if found := credential.FindStringSubmatch(r.Header.Get("Authorization")); found != nil {
		caller = found[1]
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // its client has been killed
	}
	function, fate := a.draw(caller, operation)
	if fate == killedBefore {
		function.Kill()
		panic(http.ErrAbortHandler)
	}
	// A service answers to the end what it has got.
	r = r.WithContext(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	service.ServeHTTP(answer, r)
	switch fate {
	case killedAfter:
		function.Kill()
		panic(http.ErrAbortHandler)
	case answerLost:
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"__type": "ServiceUnavailable", "message": "the answer is lost"}`)
	default:
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // a client that is gone is no concern of the service
	}
}

// One call in so many kills its function, and one in so many loses its answer.
const (
	killsOneIn = 200
	losesOneIn = 100
)

// draw counts a call, and draws what becomes of it. Calls of who is no function go well.
func (a *account) draw(caller, operation string) (*runtimeapi.Function, fate) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[operation]++
	function, kind := a.functions[caller], strings.TrimRight(caller, "0123456789")
	switch {
	case function == nil:
		return nil, goesWell
	case a.killed[kind] < a.kills && a.random.IntN(killsOneIn) == 0:
		a.killed[kind]++
		return function, killedBefore + fate(a.random.IntN(2))
	case a.random.IntN(losesOneIn) == 0:
		a.lost++
		return function, answerLost
	default:
		return function, goesWell
	}
}

// add makes a function that calls the account with its name as the access key.
func (a *account) add(t *testing.T, config runtimeapi.Config, endpoint string, environment map[string]string) *runtimeapi.Function {
	t.Helper()
	config.Env = []string{
		"AWS_REGION=us-east-1", "AWS_ENDPOINT_URL=" + endpoint, "AWS_ACCESS_KEY_ID=" + config.Name, "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_LAMBDA_LOG_FORMAT=JSON",
	}
	for name, value := range environment {
		config.Env = append(config.Env, name+"="+value)
	}
	function, err := runtimeapi.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, function.Close()) })
	a.mu.Lock()
	defer a.mu.Unlock()
	a.functions[config.Name] = function
	return function
}

// quota is a token bucket: so many calls a second, and some more at once.
type quota struct {
	rate, burst float64

	mu      sync.Mutex
	level   float64
	at      time.Time
	refused int
}

// take reports whether a call is within the quota.
func (q *quota) take() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if q.at.IsZero() {
		q.level = q.burst
	} else {
		q.level = min(q.burst, q.level+now.Sub(q.at).Seconds()*q.rate)
	}
	q.at = now
	if q.level < 1 {
		q.refused++
		return false
	}
	q.level--
	return true
}
