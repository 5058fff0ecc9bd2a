package runtimeapi_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
)

// service is an InvokeHandler behind a socket, and the SDK's client of it.
type service struct {
	client     *lambda.Client
	url        string
	background *sync.WaitGroup
}

func newService(t *testing.T, functions map[string]func(context.Context, []byte) ([]byte, error)) service {
	t.Helper()
	var background sync.WaitGroup
	ctx := context.WithValue(t.Context(), ownerKey{}, "owner")
	server := httptest.NewServer(runtimeapi.InvokeHandler(functions, func(run func(context.Context)) {
		background.Go(func() { run(ctx) })
	}))
	t.Cleanup(func() {
		server.Close()
		background.Wait()
	})
	client := lambda.New(lambda.Options{
		BaseEndpoint: &server.URL,
		Credentials:  aws.CredentialsProviderFunc(credentials),
		HTTPClient:   server.Client(),
		Region:       "us-east-1",
		Retryer:      aws.NopRetryer{},
	})
	return service{client: client, url: server.URL, background: &background}
}

func credentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"}, nil
}

// ownerKey is the key of a context value by which a function tells whose
// context it was given.
type ownerKey struct{}

func reflectPayload(_ context.Context, payload []byte) ([]byte, error) { return payload, nil }

func TestInvokeHandlerRunsAFunction(t *testing.T) {
	t.Parallel()
	f := start(t, "answer")
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){"testee": f.Invoke})
	for _, name := range []string{
		"testee", "testee:$LATEST", "123456789012:function:testee",
		"arn:aws:lambda:us-east-1:123456789012:function:testee",
		"arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:testee:$LATEST",
	} {
		out, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: &name, Payload: []byte(`"succeed"`)})
		require.NoError(t, err, name)
		require.EqualValues(t, 200, out.StatusCode)
		require.Nil(t, out.FunctionError)
		require.Equal(t, "$LATEST", *out.ExecutedVersion)
		require.Regexp(t, `^\d+$`, string(out.Payload))
	}
	out, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String("testee"), Payload: []byte(`"named error"`),
		InvocationType: types.InvocationTypeRequestResponse, LogType: types.LogTypeNone, Qualifier: aws.String("$LATEST"),
	})
	require.NoError(t, err)
	require.EqualValues(t, 200, out.StatusCode)
	require.Equal(t, "Unhandled", *out.FunctionError)
	require.JSONEq(t, `{"errorType":"JobPoller.Running","errorMessage":"3 of 7"}`, string(out.Payload))
}

func TestInvokeHandlerGivesNoPayloadAsAnEmptyObject(t *testing.T) {
	t.Parallel()
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){"f": reflectPayload})
	out, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(out.Payload))
}

func TestInvokeHandlerAsynchronously(t *testing.T) {
	t.Parallel()
	received := make(chan string, 1)
	release := make(chan struct{})
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){
		"f": func(ctx context.Context, payload []byte) ([]byte, error) {
			<-release // the answer below does not wait for the function
			owner, _ := ctx.Value(ownerKey{}).(string)
			received <- owner + " " + string(payload)
			return nil, errors.New("of no interest to the client")
		},
	})
	out, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String("f"), InvocationType: types.InvocationTypeEvent, Payload: []byte(`[1]`),
	})
	require.NoError(t, err)
	require.EqualValues(t, 202, out.StatusCode)
	require.Empty(t, out.Payload)
	require.Empty(t, received)
	close(release)
	s.background.Wait()
	require.Equal(t, "owner [1]", <-received)
}

func TestInvokeHandlerDryRun(t *testing.T) {
	t.Parallel()
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){
		"f": func(context.Context, []byte) ([]byte, error) {
			t.Error("a dry run must not invoke the function")
			return nil, nil
		},
	})
	out, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f"), InvocationType: types.InvocationTypeDryRun})
	require.NoError(t, err)
	require.EqualValues(t, 204, out.StatusCode)
}

func TestInvokeHandlerGoesOnWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	finished := make(chan error, 1)
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){
		"f": func(ctx context.Context, _ []byte) ([]byte, error) {
			close(entered)
			<-left
			finished <- ctx.Err()
			return nil, nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, err := s.client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
	require.ErrorIs(t, err, context.Canceled)
	close(left)
	require.NoError(t, <-finished)
}

func TestInvokeHandlerRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		change        func(in *lambda.InvokeInput)
		code, message string
	}{
		{"unknown function", func(in *lambda.InvokeInput) { in.FunctionName = aws.String("g") }, "ResourceNotFoundException", "Function not found: g"},
		{
			"unknown ARN", func(in *lambda.InvokeInput) {
				in.FunctionName = aws.String("arn:aws:lambda:us-east-1:123456789012:function:g")
			}, "ResourceNotFoundException", "Function not found: arn:aws:lambda:us-east-1:123456789012:function:g",
		},
		{"alias", func(in *lambda.InvokeInput) { in.FunctionName = aws.String("f:live") }, "ResourceNotFoundException", "version or alias live (only $LATEST exists here)"},
		{"qualifier", func(in *lambda.InvokeInput) { in.Qualifier = aws.String("7") }, "ResourceNotFoundException", "version or alias 7"},
		{"odd name", func(in *lambda.InvokeInput) { in.FunctionName = aws.String("a b") }, "InvalidParameterValueException", `function name "a b": expected a name, a partial ARN or an ARN`},
		{"log tail", func(in *lambda.InvokeInput) { in.LogType = types.LogTypeTail }, "InvalidParameterValueException", `log type "Tail" is not supported here`},
		{"invocation type", func(in *lambda.InvokeInput) { in.InvocationType = "Odd" }, "InvalidParameterValueException", `invocation type "Odd"`},
		{"client context", func(in *lambda.InvokeInput) { in.ClientContext = aws.String("e30=") }, "InvalidParameterValueException", "header X-Amz-Client-Context is not supported here"},
		{"tenant", func(in *lambda.InvokeInput) { in.TenantId = aws.String("blue") }, "InvalidParameterValueException", "header X-Amz-Tenant-Id"},
		{"durable execution", func(in *lambda.InvokeInput) { in.DurableExecutionName = aws.String("d") }, "InvalidParameterValueException", "header X-Amz-Durable-Execution-Name"},
		{"not JSON", func(in *lambda.InvokeInput) { in.Payload = []byte("{") }, "InvalidRequestContentException", "Could not parse request body into json"},
		{"too large", func(in *lambda.InvokeInput) { in.Payload = spaces(6<<20 + 1) }, "RequestEntityTooLargeException", "Request must be smaller than 6291456 bytes"},
		{
			"too large an event", func(in *lambda.InvokeInput) {
				in.Payload, in.InvocationType = spaces(1<<20+1), types.InvocationTypeEvent
			}, "RequestEntityTooLargeException", "Request must be smaller than 1048576 bytes",
		},
		{"local failure", func(*lambda.InvokeInput) {}, "ServiceException", "the disk is gone"},
	}
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){
		"f": func(context.Context, []byte) ([]byte, error) { return nil, errors.New("the disk is gone") },
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := &lambda.InvokeInput{FunctionName: aws.String("f"), Payload: []byte(`{}`)}
			tt.change(in)
			_, err := s.client.Invoke(t.Context(), in)
			var failed smithy.APIError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, tt.code, failed.ErrorCode())
			require.Contains(t, failed.ErrorMessage(), tt.message)
		})
	}
}

func spaces(n int) []byte { return bytes.Repeat([]byte(" "), n) }

func TestInvokeHandlerErrorsAreTyped(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	_, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
	var notFound *types.ResourceNotFoundException
	require.ErrorAs(t, err, &notFound)
	require.Equal(t, "User", *notFound.Type)
	require.Equal(t, "Function not found: f", *notFound.Message)
}

func TestInvokeHandlerLimitsTheResponseOfGoFunctions(t *testing.T) {
	t.Parallel()
	s := newService(t, map[string]func(context.Context, []byte) ([]byte, error){
		"f": func(context.Context, []byte) ([]byte, error) { return spaces(6<<20 + 101), nil },
	})
	out, err := s.client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
	require.NoError(t, err)
	require.Equal(t, "Unhandled", *out.FunctionError)
	require.Contains(t, string(out.Payload), `"errorType":"Function.ResponseSizeTooLarge"`)
}

func TestInvokeHandlerServesOnlyInvoke(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/2015-03-31/functions", strings.NewReader(""))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.Equal(t, 404, resp.StatusCode)
	require.Equal(t, "UnknownOperationException", resp.Header.Get("X-Amzn-Errortype"))
}

// The service of a run invokes nothing for who does not have its keys.
func TestServeInvokeTakesSignedRequestsAlone(t *testing.T) {
	t.Parallel()
	var invoked atomic.Int32
	keys := loopback.NewKeys()
	server, err := runtimeapi.ServeInvoke(map[string]func(context.Context, []byte) ([]byte, error){
		"work": func(context.Context, []byte) ([]byte, error) { invoked.Add(1); return []byte("1"), nil },
	}, nil, keys)
	require.NoError(t, err)
	defer server.Close()
	invoke := func(keys loopback.Keys) error {
		client := lambda.New(lambda.Options{
			BaseEndpoint: aws.String(server.URL()), Region: "us-east-1", RetryMaxAttempts: 1,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey}, nil
			}),
		})
		_, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("arn:aws:lambda:us-east-1:123456789012:function:work"), Payload: []byte("{}")})
		return err
	}
	require.ErrorContains(t, invoke(loopback.NewKeys()), "SignatureDoesNotMatch")
	require.ErrorContains(t, invoke(loopback.Keys{AccessKeyID: keys.AccessKeyID, SecretAccessKey: "local"}), "SignatureDoesNotMatch")
	answer, err := http.Post(server.URL()+"/2015-03-31/functions/work/invocations", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	require.Zero(t, invoked.Load())
	require.NoError(t, invoke(keys))
	require.EqualValues(t, 1, invoked.Load())
}
