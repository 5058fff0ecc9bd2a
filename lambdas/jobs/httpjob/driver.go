// Package httpjob drives jobs behind HTTP APIs: a call starts the job, and
// another, whose URL stands in the answer of the first, describes it. See [Driver]
// for the arguments of such a job.
package httpjob

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// Name is what requests call this job.
const Name = "http:Request"

// The environment variables of the driver.
const (
	EnvHosts    = "JOBPOLLER_HTTP_HOSTS"    // see Config.Hosts, separated by commas
	EnvLoopback = "JOBPOLLER_HTTP_LOOPBACK" // see Config.Loopback, true or false
)

const (
	// callTimeout bounds a call with its redirects and the body of its answer.
	callTimeout = 30 * time.Second
	// maxRedirects bounds the redirects of a describe call.
	maxRedirects = 5
)

// Config says where a Driver may go.
type Config struct {
	// Hosts lists the servers that requests may name: host, host:port or
	// *.example.com for all names below a domain. Without a port it is that of
	// the scheme.
	Hosts []string
	// Loopback allows servers on this machine, by http too, if Hosts lists
	// them as localhost or by address.
	Loopback bool
	// TLS configures TLS; nil is Go's default.
	TLS *tls.Config
	// Wrap adds to the transport what the servers ask for, such as an
	// Authorization header or a signature. It sees every request, redirected
	// ones too, after its URL was found to be allowed. Nil adds nothing.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// Driver starts, describes and stops jobs behind HTTP APIs. Its arguments are
//
//	{
//	  "Start": {"Method": "POST", "Url": "https://host/jobs", "Headers": {"Prefer": "respond-async"}, "Body": any JSON},
//	  "Describe": {"Url": "https://host/jobs/{Body.id}"},
//	  "Stop": {"Method": "DELETE", "Url": "https://host/jobs/{Body.id}"},
//	  "IdempotencyKey": true, "IdempotencyWindowSeconds": 86400
//	}
//
// Start and Describe are required, each with its Url. An expression in braces is
// JMESPath: it reads the start call's answer, in the form of Describe's output. A
// Url that is one expression, such as "{Headers.Location}", is a URL itself, and
// may be relative to that of Start.
//
// Every start carries its token as Idempotency-Key. IdempotencyKey says that
// the server keeps to it: for a key that it has seen it returns the first job,
// for as long as IdempotencyWindowSeconds says, or 24 hours.
type Driver struct {
	allowed servers
	client  *http.Client
}

// New returns a driver. It uses no proxy of the environment, keeps no
// connection and repeats no request.
func New(c Config) (*Driver, error) {
	d := &Driver{allowed: servers{loopback: c.Loopback}}
	var problems []error
	for _, entry := range c.Hosts {
		s, err := parseServer(entry)
		problems = append(problems, err)
		d.allowed.list = append(d.allowed.list, s)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	var transport http.RoundTripper = &http.Transport{
		DialContext: d.allowed.dial, TLSClientConfig: c.TLS.Clone(), TLSHandshakeTimeout: dialTimeout,
		MaxResponseHeaderBytes: 64 * 1024,
		// net/http repeats a request with an Idempotency-Key whose connection
		// was used before and breaks; a new connection it does not.
		DisableKeepAlives: true,
	}
	if c.Wrap != nil {
		transport = c.Wrap(transport)
	}
	d.client = &http.Client{Transport: located{transport}, CheckRedirect: d.redirect}
	return d, nil
}

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	list, loopback := e.Getenv(EnvHosts), e.Getenv(EnvLoopback)
	if list == "" {
		return nil, &jobs.NotConfiguredError{Job: Name, Lack: "set " + EnvHosts + " to the hosts that it may call"}
	}
	var c Config
	for entry := range strings.SplitSeq(list, ",") {
		c.Hosts = append(c.Hosts, strings.TrimSpace(entry))
	}
	var problems []error
	switch loopback {
	case "true":
		c.Loopback = true
	case "", "false":
	default:
		problems = append(problems, fmt.Errorf("environment variable %s must be true or false, is %q", EnvLoopback, loopback))
	}
	driver, err := New(c)
	if err != nil {
		problems = append(problems, fmt.Errorf("environment variable %s: %w", EnvHosts, err))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return driver, nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver.
func (d *Driver) Idempotency(r jobs.Request) jobs.Idempotency {
	if a, err := d.arguments(r); err == nil && a.honoured {
		return jobs.Idempotency{Class: jobs.ByToken, Window: a.window}
	}
	return jobs.Idempotency{Class: jobs.NoProtection}
}

// Permissions implements jobs.Driver: IAM has no say in it.
func (*Driver) Permissions() []access.Permission { return nil }

// Start implements jobs.Driver. A status of 2xx means that the job has started.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	a, err := d.arguments(r)
	if err != nil {
		return nil, err
	}
	headers := a.headers.Clone()
	headers.Set("Idempotency-Key", r.Token)
	if a.body != nil && headers.Get("Content-Type") == "" {
		headers.Set("Content-Type", "application/json")
	}
	started, err := d.call(ctx, a.method, a.url, headers, a.body)
	if errors.Is(err, ErrNotAllowed) {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	if err != nil {
		return nil, err
	}
	if started.status == http.StatusConflict && a.honoured {
		// The draft of the header's standard has this for a key whose first
		// request is still being processed, so it is not a refusal.
		return nil, goerror.Mark(awserror.Unclear,
			fmt.Errorf("%s answered 409 Conflict: the server may still process an earlier request with this Idempotency-Key", started.call))
	}
	if err := started.ok(); err != nil {
		return nil, err
	}
	return a.ref(d.allowed, started)
}

// ref makes the reference of the start call's answer. Without it the job runs,
// but nobody can say where.
func (a *arguments) ref(allowed servers, started *answer) (jobs.Ref, error) {
	describe, err := a.describe.expand(allowed, a.url, started)
	if err != nil {
		return nil, fmt.Errorf("%s: URL of the describe call: %w", started.call, err)
	}
	ref := jobs.Ref{"DescribeUrl": describe.String()}
	if a.stopMethod == "" {
		return ref, nil
	}
	stop, err := a.stop.expand(allowed, a.url, started)
	if err != nil {
		return nil, fmt.Errorf("%s: URL of the stop call: %w", started.call, err)
	}
	ref["StopMethod"], ref["StopUrl"] = a.stopMethod, stop.String()
	return ref, nil
}

// Describe implements jobs.Driver. Its output is {"StatusCode": 200, "Headers":
// {"Content-Type": "application/json"}, "Body": the JSON of the answer}, with
// the names of headers in canonical case, and no Body if the answer has none. A
// status other than 2xx is a *StatusError.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	described, err := d.follow(ctx, http.MethodGet, ref["DescribeUrl"])
	if err != nil {
		return nil, err
	}
	if err := described.ok(); err != nil {
		return nil, err
	}
	document, err := described.document()
	if err != nil {
		return nil, err
	}
	return document, nil
}

// Stop implements jobs.Stopper, with the stop call that the request gave. The
// statuses 404 and 410 mean that there is nothing left to stop.
func (d *Driver) Stop(ctx context.Context, ref jobs.Ref) error {
	method := ref["StopMethod"]
	if !slices.Contains(stopMethods, method) {
		return errors.New("the request has no Stop call")
	}
	stopped, err := d.follow(ctx, method, ref["StopUrl"])
	if err != nil {
		return err
	}
	if stopped.status == http.StatusNotFound || stopped.status == http.StatusGone {
		return nil
	}
	return stopped.ok()
}

// follow calls a URL of a reference. It is checked again, for a start record
// can be written by others.
func (d *Driver) follow(ctx context.Context, method, text string) (*answer, error) {
	u, err := parseURL(text)
	if err == nil {
		err = d.allowed.check(u)
	}
	if err != nil {
		return nil, fmt.Errorf("job reference: %w", err)
	}
	return d.call(ctx, method, u, http.Header{}, nil)
}

// call sends one request. Its error is that there was no answer.
func (d *Driver) call(ctx context.Context, method string, u *url.URL, headers http.Header, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = headers
	if headers.Get("Accept") == "" {
		headers.Set("Accept", "application/json")
	}
	response, err := d.client.Do(request)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return nil, fmt.Errorf("%s: %w", place(method, u), refused)
	}
	if errors.Is(err, errLocation) {
		return nil, fmt.Errorf("%s: %w", place(method, u), errLocation)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place(method, u), &smithyhttp.RequestSendError{Err: withoutAnswer(err)})
	}
	return read(place(method, u), response), nil
}

// redirect decides on a redirect. One of a call that changes something is its
// answer: what follows could do it twice, or something else.
func (d *Driver) redirect(next *http.Request, earlier []*http.Request) error {
	if earlier[0].Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(earlier) > maxRedirects {
		return refuse("more than %d redirects", maxRedirects)
	}
	next.Header.Del("Referer") // a URL may hold what is for its server alone
	return d.allowed.check(next.URL)
}
