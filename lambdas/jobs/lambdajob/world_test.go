package lambdajob_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
)

const token = "0123456789abcdef0123456789abcdef0123"

// world is a Lambda service with one function, "work", an S3 service, and the
// driver that reaches both through the SDK.
type world struct {
	driver jobs.Driver
	s3     *s3.Client
	// background are the function's invocations; payloads what they got.
	background sync.WaitGroup
	mu         sync.Mutex
	payloads   []string
}

func newWorld(t *testing.T, middleware func(http.Handler) http.Handler, work func(context.Context, *world, lambdajob.Event)) *world {
	t.Helper()
	storage, err := embeddeds3.Start(embeddeds3.Options{Middleware: middleware})
	require.NoError(t, err)
	require.NoError(t, storage.CreateBucket("status"))
	w := &world{s3: promptly(storage.Client())}
	functions := map[string]func(context.Context, []byte) ([]byte, error){
		"work": func(ctx context.Context, payload []byte) ([]byte, error) {
			w.mu.Lock()
			w.payloads = append(w.payloads, string(payload))
			w.mu.Unlock()
			var event lambdajob.Event
			if err := json.Unmarshal(payload, &event); err != nil {
				return nil, err
			}
			work(ctx, w, event)
			return nil, nil
		},
	}
	service := httptest.NewServer(runtimeapi.InvokeHandler(functions, func(run func(context.Context)) {
		w.background.Go(func() { run(context.Background()) })
	}))
	t.Cleanup(func() {
		service.Close()
		w.background.Wait()
		require.NoError(t, storage.Close())
	})
	w.driver, err = builtin.LambdaInvoke(jobs.Environment{
		AWS: aws.Config{
			Region: "us-east-1", BaseEndpoint: &service.URL, HTTPClient: service.Client(), RetryMaxAttempts: 1,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
			}),
		},
		S3: w.s3, Bucket: "status", Prefix: "team/",
	})
	require.NoError(t, err)
	return w
}

// promptly is the client with the SDK's retries, but without the pauses.
func promptly(client *s3.Client) *s3.Client {
	return s3.New(client.Options(), func(o *s3.Options) {
		o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

func (w *world) start(t *testing.T, arguments string) jobs.Ref {
	t.Helper()
	ref, err := w.driver.Start(t.Context(), jobs.Request{Token: token, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	return ref
}

// put writes the status object of the token.
func (w *world) put(t *testing.T, content string) jobs.Ref {
	t.Helper()
	ref := jobs.Ref{"FunctionName": "work", "StatusBucket": "status", "StatusKey": "team/jobs/" + token + ".json"}
	_, err := w.s3.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(ref["StatusBucket"]), Key: aws.String(ref["StatusKey"]), Body: strings.NewReader(content),
	})
	require.NoError(t, err)
	return ref
}

var event = lambdajob.Event{StatusBucket: "status", StatusKey: "team/jobs/" + token + ".json"}

// breaking breaks the answers to requests of one method: the request is
// carried out, and then the client is told something else. It does so for the
// first n of them.
func breaking(method string, n int, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			breaks := r.Method == method && n > 0
			if breaks {
				n--
			}
			mu.Unlock()
			if !breaks {
				next.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(httptest.NewRecorder(), r)
			answer(w, r)
		})
	}
}

func internalError(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprint(w, `<Error><Code>InternalError</Code></Error>`)
}

// half promises more than it sends.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `{"Status": "succ`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
