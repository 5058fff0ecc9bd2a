// Package awscall sends requests to AWS services as the SDK's clients do, without
// one of them: it signs, retries and finds endpoints by the same configuration.
// What a request and its answer hold is the caller's.
package awscall

import (
	"io"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/defaults"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Client calls operations of AWS services. It is safe for concurrent use.
type Client struct {
	cfg     aws.Config
	http    smithyhttp.ClientDo
	retryer aws.Retryer
	// skew is how far the service's clock is ahead, in nanoseconds.
	skew atomic.Int64
}

// Options are what a client does otherwise than the configuration says.
type Options struct {
	// Once lets a call be one request.
	Once bool
	// Retries changes how the SDK's standard retryer tries again. It does not count
	// for a retryer of the configuration.
	Retries func(*retry.StandardOptions)
}

// New returns a client. It reads of cfg what the SDK's clients read, but for
// Interceptors and ServiceOptions, which it does not run: middleware goes into
// APIOptions.
func New(cfg aws.Config, o Options) *Client {
	cfg = cfg.Copy()
	return &Client{cfg: cfg, http: newHTTPClient(&cfg), retryer: newRetryer(&cfg, o)}
}

// newHTTPClient returns the client of the configuration, which follows no
// redirects: a signed request goes where it was signed for. A client of the
// caller's own making does as it likes.
func newHTTPClient(cfg *aws.Config) smithyhttp.ClientDo { //nolint:ireturn // it may be the caller's
	var client smithyhttp.ClientDo = cfg.HTTPClient
	if client == nil {
		client = awshttp.NewBuildableClient()
	}
	if buildable, ok := client.(*awshttp.BuildableClient); ok {
		client = setTimeouts(buildable, cfg).Freeze()
	}
	if standard, ok := client.(*http.Client); ok {
		own := *standard
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		client = &own
	}
	return wholeBodies{client}
}

// setTimeouts gives a client of the SDK the timeouts of the defaults mode.
func setTimeouts(client *awshttp.BuildableClient, cfg *aws.Config) *awshttp.BuildableClient {
	settings, err := defaults.GetModeConfiguration(defaultsMode(cfg))
	if err != nil { // the legacy mode has none
		return client
	}
	if timeout, ok := settings.GetConnectTimeout(); ok {
		client = client.WithDialerOptions(func(d *net.Dialer) { d.Timeout = timeout })
	}
	if timeout, ok := settings.GetTLSNegotiationTimeout(); ok {
		client = client.WithTransportOptions(func(t *http.Transport) { t.TLSHandshakeTimeout = timeout })
	}
	return client
}

func defaultsMode(cfg *aws.Config) aws.DefaultsMode {
	if cfg.DefaultsMode == aws.DefaultsModeAuto {
		return defaults.ResolveDefaultsModeAuto(cfg.Region, cfg.RuntimeEnvironment)
	}
	return cfg.DefaultsMode
}

// wholeBodies lets answers that come early be read to their end. The SDK closes
// the body of a request as soon as the answer begins, and its WriteTo then fails
// with io.EOF: net/http takes that for a failed write and closes the connection
// under the answer. Read, the other way to read a body, ends as it should.
type wholeBodies struct{ smithyhttp.ClientDo }

func (w wholeBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return w.ClientDo.Do(r)
}

// newRetryer returns the retryer that the configuration asks for.
func newRetryer(cfg *aws.Config, o Options) aws.Retryer { //nolint:ireturn // which one is for the configuration to say
	var standard []func(*retry.StandardOptions)
	if o.Retries != nil {
		standard = append(standard, o.Retries)
	}
	var retryer aws.Retryer
	switch {
	case o.Once:
		return aws.NopRetryer{}
	case cfg.Retryer != nil:
		retryer = cfg.Retryer()
	case retryMode(cfg) == aws.RetryModeAdaptive:
		retryer = retry.NewAdaptiveMode(func(a *retry.AdaptiveModeOptions) { a.StandardOptions = append(a.StandardOptions, standard...) })
	default:
		retryer = retry.NewStandard(standard...)
	}
	if cfg.RetryMaxAttempts != 0 {
		retryer = retry.AddWithMaxAttempts(retryer, cfg.RetryMaxAttempts)
	}
	return retryer
}

func retryMode(cfg *aws.Config) aws.RetryMode {
	if cfg.RetryMode != "" {
		return cfg.RetryMode
	}
	settings, err := defaults.GetModeConfiguration(defaultsMode(cfg))
	if err != nil { // the legacy mode has none
		return ""
	}
	return settings.RetryMode
}
