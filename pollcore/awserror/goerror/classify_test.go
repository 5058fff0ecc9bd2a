package goerror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// endpoint is a service that answers every request in one way, and the
// configuration of its clients, which try once.
func endpoint(t *testing.T, answer http.HandlerFunc) aws.Config {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: server.Client(), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
	}
}

// The operations by which the services are asked.

func describeExport(ctx context.Context, cfg aws.Config) error {
	_, err := dynamodb.NewFromConfig(cfg).DescribeExport(ctx, &dynamodb.DescribeExportInput{ExportArn: aws.String("arn:x")})
	return err
}

func invokeFunction(ctx context.Context, cfg aws.Config) error {
	_, err := lambda.NewFromConfig(cfg).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
	return err
}

func getObject(ctx context.Context, cfg aws.Config) error {
	_, err := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }).
		GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
	return err
}

// json10 answers as DynamoDB does.
func json10(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		if code != "" {
			fmt.Fprintf(w, `{"__type": "com.amazonaws.dynamodb.v20120810#%s", "message": "no"}`, code)
		}
	}
}

// restJSON answers as Lambda does.
func restJSON(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code)
		w.WriteHeader(status)
		fmt.Fprint(w, `{"Message": "no"}`)
	}
}

// restXML answers as S3 does.
func restXML(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<Error><Code>%s</Code><Message>no</Message></Error>`, code)
	}
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// hangUp drops the connection, in the middle of an answer if there is one.
func hangUp(answer string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok && reset {
			_ = tcp.SetLinger(0)
		}
		_, _ = conn.Write([]byte(answer))
		_ = conn.Close()
	}
}

// statusError is what a client that is not the SDK's may return.
type statusError int

func (e statusError) Error() string { return http.StatusText(int(e)) }

func (e statusError) HTTPStatusCode() int { return int(e) }

func TestClassifyErrorsOfSDKClients(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer http.HandlerFunc
		call   func(context.Context, aws.Config) error
		want   awserror.Class
	}{
		{"access denied", json10(400, "AccessDeniedException"), describeExport, awserror.Refused},
		{"invalid", json10(400, "ValidationException"), describeExport, awserror.Refused},
		{"not found", json10(400, "ExportNotFoundException"), describeExport, awserror.Refused},
		{"expired token", json10(400, "ExpiredTokenException"), describeExport, awserror.Refused},
		{"throttled", json10(400, "ThrottlingException"), describeExport, awserror.Throttled},
		{"too many exports", json10(400, "LimitExceededException"), describeExport, awserror.Throttled},
		{"throttled as unavailable", json10(503, "ThrottlingException"), describeExport, awserror.Throttled},
		{"the request came too slowly", json10(400, "RequestTimeoutException"), describeExport, awserror.Unclear},
		{"timed out", json10(400, "OperationTimeoutException"), describeExport, awserror.Unclear},
		{"timed out as a fault of the caller", json10(400, "RequestTimedOut"), describeExport, awserror.Unclear},
		{"internal error", json10(500, "InternalServerError"), describeExport, awserror.Fault},
		{"unavailable", json10(503, "ServiceUnavailable"), describeExport, awserror.Fault},
		{"not implemented", json10(501, ""), describeExport, awserror.Refused},
		{"bad gateway of a proxy", text(502, "<html>bad gateway</html>"), describeExport, awserror.Fault},
		{"429 of a proxy", text(429, ""), describeExport, awserror.Throttled},
		{"408 of a proxy", text(408, ""), describeExport, awserror.Unclear},
		{"425 of a proxy", text(425, ""), describeExport, awserror.Throttled},
		{"403 of a proxy", text(403, "no"), describeExport, awserror.Refused},
		{"an answer that is not the service's", text(200, "<html>log in</html>"), describeExport, awserror.Unknown},
		{"no answer", hangUp("", false), describeExport, awserror.Unclear},
		{"reset", hangUp("", true), describeExport, awserror.Unclear},
		{"half an answer", hangUp("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"Exp", false), describeExport, awserror.Unclear},
		{"Lambda's not found", restJSON(404, "ResourceNotFoundException"), invokeFunction, awserror.Refused},
		{"Lambda's throttle", restJSON(429, "TooManyRequestsException"), invokeFunction, awserror.Throttled},
		{"Lambda's fault", restJSON(500, "ServiceException"), invokeFunction, awserror.Fault},
		{"S3's not found", restXML(404, "NoSuchKey"), getObject, awserror.Refused},
		{"S3's throttle", restXML(503, "SlowDown"), getObject, awserror.Throttled},
		{"S3's timeout", restXML(400, "RequestTimeout"), getObject, awserror.Unclear},
		{"S3's precondition", restXML(412, "PreconditionFailed"), getObject, awserror.Refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.call(t.Context(), endpoint(t, tt.answer))
			require.Error(t, err)
			require.Equal(t, tt.want, goerror.Classify(err), "%v", err)
		})
	}
}

func TestClassifyCallsWithoutAnswer(t *testing.T) {
	t.Parallel()
	unused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	tests := []struct {
		name string
		call func(t *testing.T) error
		want awserror.Class
	}{
		{"no server", func(t *testing.T) error {
			server := httptest.NewServer(nil)
			server.Close()
			cfg := endpoint(t, unused)
			cfg.BaseEndpoint = &server.URL
			return describeExport(t.Context(), cfg)
		}, awserror.NotSent},
		{"no such host", func(t *testing.T) error {
			cfg := endpoint(t, unused)
			cfg.BaseEndpoint = aws.String("http://nowhere.invalid")
			return describeExport(t.Context(), cfg)
		}, awserror.NotSent},
		{"the client's time limit", func(t *testing.T) error {
			release := make(chan struct{})
			cfg := endpoint(t, func(http.ResponseWriter, *http.Request) { <-release })
			t.Cleanup(func() { close(release) })
			cfg.HTTPClient = &http.Client{Timeout: time.Millisecond}
			return describeExport(t.Context(), cfg)
		}, awserror.Unclear},
		{"the caller's deadline", func(t *testing.T) error {
			ctx, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			return describeExport(ctx, endpoint(t, unused))
		}, awserror.Unclear},
		{"the caller gives up", func(t *testing.T) error {
			ctx, cancel := context.WithCancel(t.Context())
			return describeExport(ctx, endpoint(t, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice
				cancel()
				<-r.Context().Done()
			}))
		}, awserror.Ended},
		// The SDK checks its input and sends nothing.
		{"a missing member", func(t *testing.T) error {
			_, err := dynamodb.NewFromConfig(endpoint(t, unused)).DescribeExport(t.Context(), &dynamodb.DescribeExportInput{})
			return err
		}, awserror.Refused},
		{"a member that cannot be sent", func(t *testing.T) error {
			_, err := s3.NewFromConfig(endpoint(t, unused)).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("")})
			return err
		}, awserror.Refused},
		{"wrong arguments", func(*testing.T) error {
			return fmt.Errorf("start: %w", goerror.Mark(awserror.Refused, errors.New("no Table")))
		}, awserror.Refused},
		{"a refusal of another service", func(*testing.T) error { return fmt.Errorf("start: %w", statusError(404)) }, awserror.Refused},
		{"a throttle of another service", func(*testing.T) error { return statusError(429) }, awserror.Throttled},
		{"a redirect of another service", func(*testing.T) error { return statusError(302) }, awserror.Unknown},
		{"a fault of another service", func(*testing.T) error { return statusError(502) }, awserror.Fault},
		{"an error of another kind", func(*testing.T) error { return errors.New("surprise") }, awserror.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.call(t)
			require.Error(t, err)
			require.Equal(t, tt.want, goerror.Classify(err), "%v", err)
		})
	}
}

// A client that finds no credentials sends nothing.
func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	cfg := endpoint(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	lookup := func(cause error) error {
		cfg := cfg.Copy()
		cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{}, &smithy.OperationError{ServiceID: "ec2imds", OperationName: "GetMetadata", Err: cause}
		})
		return describeExport(t.Context(), cfg)
	}
	err := lookup(errors.New("no role"))
	require.True(t, goerror.WithoutCredentials(err), "%v", err)
	require.Equal(t, awserror.Refused, goerror.Classify(err))
	// Whether there are any is not known if the caller gave up.
	err = lookup(context.DeadlineExceeded)
	require.False(t, goerror.WithoutCredentials(err), "%v", err)
	require.Equal(t, awserror.Unclear, goerror.Classify(err))
	require.False(t, goerror.WithoutCredentials(errors.New("no")))
}
