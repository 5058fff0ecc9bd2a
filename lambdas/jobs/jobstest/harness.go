package jobstest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

// harness is a driver and the service it talks to.
type harness struct {
	t       *testing.T
	c       *Case
	service Service
	server  *server
	client  *http.Client
	driver  jobs.Driver
	judge   *pollcore.Check[jobs.Ref, any]
	// seen are the IAM actions that the calls so far needed.
	seen map[permission]bool
}

// permission is an action and the method that needs it.
type permission struct {
	method access.Purpose
	action string
}

func newHarness(t *testing.T, c *Case) *harness {
	t.Helper()
	service := c.Service(t)
	h := &harness{t: t, c: c, service: service, server: newServer(t, service), seen: map[permission]bool{}}
	h.client = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(h.client.CloseIdleConnections)
	h.driver = h.newDriver()
	var err error
	h.judge, err = pollcore.Compile[jobs.Ref, any](h.driver.Waiter())
	require.NoError(t, err, "the waiter cannot judge the output of Describe")
	return h
}

// newDriver returns a driver as another process would have it.
func (h *harness) newDriver() jobs.Driver {
	h.t.Helper()
	variables := map[string]string{}
	if h.c.Getenv != nil {
		variables = h.c.Getenv(h.server.url)
	}
	driver, err := h.c.Maker(Environment(h.server.url, h.client, func(name string) string { return variables[name] }))
	require.NoError(h.t, err)
	return driver
}

// Environment returns the environment in which a driver calls a server in place of
// AWS: a [Service], say. It has the SDK's own retries, without pauses between them,
// and the bucket "jobpoller". A nil getenv knows no variable.
func Environment(endpoint string, client *http.Client, getenv func(name string) string) jobs.Environment {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: &endpoint, HTTPClient: client,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
	return jobs.Environment{
		AWS: cfg, S3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }),
		Bucket: "jobpoller", Prefix: "test", Getenv: getenv,
	}
}

// request asks for the n-th job.
func (h *harness) request(n int) jobs.Request {
	return jobs.Request{Arguments: json.RawMessage(h.c.Arguments), Token: token(n)}
}

func (h *harness) idempotency() jobs.Idempotency { return h.driver.Idempotency(h.request(1)) }

// call makes a call of the driver and requires that each request it sends has
// its IAM action listed.
func (h *harness) call(method access.Purpose, do func(ctx context.Context) error) error {
	h.t.Helper()
	h.server.take()
	err := do(h.t.Context())
	for _, r := range h.server.take() {
		action := h.action(r.operation)
		if action == "" {
			continue
		}
		needed := permission{method, action}
		h.seen[needed] = true
		require.Contains(h.t, h.permissions(false), needed, "the driver sends %s, but its permissions do not say so", r.operation)
	}
	return err
}

// action is the IAM action of an operation, empty if it needs none.
func (h *harness) action(operation string) string {
	if action, ok := h.c.Actions[operation]; ok {
		return action
	}
	service, _, _ := strings.Cut(h.driver.Name(), ":")
	return service + ":" + operation
}

// permissions returns the driver's permissions, dependent or not.
func (h *harness) permissions(dependent bool) []permission {
	var all []permission
	for _, p := range h.driver.Permissions() {
		if p.Dependent == dependent {
			all = append(all, permission{p.For, p.Action})
		}
	}
	return all
}

func (h *harness) tryStart(r jobs.Request) (ref jobs.Ref, err error) {
	h.t.Helper()
	err = h.call(access.ForStart, func(ctx context.Context) error {
		ref, err = h.driver.Start(ctx, r)
		return err
	})
	return ref, err
}

// start starts the n-th job.
func (h *harness) start(n int) jobs.Ref {
	h.t.Helper()
	ref, err := h.tryStart(h.request(n))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, ref, "Start returned no reference to the job")
	return ref
}

func (h *harness) tryDescribe(ref jobs.Ref) (output any, err error) {
	h.t.Helper()
	err = h.call(access.ForDescribe, func(ctx context.Context) error {
		output, err = h.driver.Describe(ctx, ref)
		return err
	})
	return output, err
}

// describeBatch describes a job by the call for many, if there is one for it.
func (h *harness) describeBatch(ref jobs.Ref) {
	h.t.Helper()
	describer, ok := h.driver.(jobs.BatchDescriber)
	if !ok {
		return
	}
	if _, err := describer.Batch(ref); err != nil {
		return // its error says that no call describes many such jobs
	}
	require.NoError(h.t, h.call(access.ForBatch, func(ctx context.Context) error {
		outputs, err := describer.DescribeBatch(ctx, []jobs.Ref{ref})
		require.Len(h.t, outputs, 1)
		return err
	}))
}

// verdict describes a job and returns what the driver's waiter says. Some
// drivers have the waiter judge an error.
func (h *harness) verdict(ref jobs.Ref) (verdict pollcore.Verdict, reason string) {
	h.t.Helper()
	output, err := h.tryDescribe(ref)
	result := h.judge.Check(ref, output, err)
	if result.Acceptor == pollcore.NoAcceptor {
		require.NoError(h.t, err)
	}
	return result.Verdict, h.judge.Reason(result, ref, output, err)
}

func (h *harness) find(n int) (ref jobs.Ref, found bool) {
	h.t.Helper()
	finder, ok := h.driver.(jobs.Finder)
	require.True(h.t, ok, "a driver of the class %s needs Find", jobs.ByNaturalKey)
	err := h.call(access.ForFind, func(ctx context.Context) (err error) {
		ref, found, err = finder.Find(ctx, h.request(n))
		return err
	})
	require.NoError(h.t, err)
	return ref, found
}

func (h *harness) stop(ref jobs.Ref) error {
	h.t.Helper()
	return h.call(access.ForStop, func(ctx context.Context) error {
		stopper, _ := h.driver.(jobs.Stopper)
		return stopper.Stop(ctx, ref)
	})
}

func (h *harness) canStop() bool {
	_, ok := h.driver.(jobs.Stopper)
	return ok
}

func (h *harness) canFind() bool {
	_, ok := h.driver.(jobs.Finder)
	return ok
}
