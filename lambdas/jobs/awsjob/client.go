// Package awsjob calls operations of AWS services by their description in the
// catalogue: a client for all services, without the SDK's client of any. On it stands a driver for the waiters and jobs of the catalogue.
package awsjob

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Client calls operations of AWS services. It signs, retries and finds
// endpoints by the rules of the SDK's own clients, and by the same
// configuration. It is safe for concurrent use.
type Client struct {
	cfg      aws.Config
	options  options
	calls    *awscall.Client
	prepared sync.Map // *catalog.Operation to *call

	discovered discovered
}

// options are what an Option sets.
type options struct {
	newToken func() (string, error)
	once     bool
}

// Option changes how a Client calls.
type Option func(*options)

// WithTokens lets the client fill in the member that makes a request idempotent,
// where the model has one and the input does not.
func WithTokens(newToken func() (string, error)) Option {
	return func(o *options) { o.newToken = newToken }
}

// WithoutRetries lets a call be one request.
func WithoutRetries() Option {
	return func(o *options) { o.once = true }
}

// New returns a client. It reads of cfg what the SDK's clients read, but for
// Interceptors and ServiceOptions, which it does not run: middleware goes into
// APIOptions. Endpoints that it cannot find as they would, such as those of an
// account, are the error of each call.
func New(cfg aws.Config, opts ...Option) *Client {
	c := &Client{cfg: cfg.Copy()}
	for _, opt := range opts {
		opt(&c.options)
	}
	c.calls = awscall.New(cfg, awscall.Options{Once: c.options.once})
	return c
}

// Call calls the operation. The input is a JSON value, as encoding/json decodes
// or encodes it, or its text as a json.RawMessage; nil stands for an object
// without members. The result is a JSON value.
//
// Members are spelt as the model spells them. Timestamps are RFC 3339 strings;
// an input may have epoch seconds, too. Blobs are base64 strings, unions objects
// of their one member, documents any JSON. Numbers of an output are json.Number
// with all their digits, but for NaN and the infinities, which are strings. An
// output has no nulls and no members that the model does not know.
//
// An input that does not fit the model is not sent: the error wraps
// jobs.ErrArguments and tells all problems with their places. Nor is one that
// has "." or ".." for a part of the request's path, which could lead to another
// operation. What the service answers instead of a result is an *Error within an
// SDK's response error, which has the HTTP status and the request's ID. An
// operation that cannot be called at all is an *UnsupportedError.
func (c *Client) Call(ctx context.Context, op *catalog.Operation, input any) (any, error) {
	call, err := c.prepare(op) //nolint:contextcheck // once for all calls
	if err != nil {
		return nil, err
	}
	text, isText := input.(json.RawMessage)
	if !isText {
		if input == nil {
			input = struct{}{}
		}
		if text, err = json.Marshal(input); err != nil {
			return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, operationName(op), err)
		}
	}
	in, err := call.read(text, reading{spell: modelSpelling, newToken: c.options.newToken, unseen: !isText})
	if err != nil {
		return nil, err
	}
	return call.do(ctx, in, modelSpelling)
}

// spelling gives the name of a member another form. It gives no two members of
// a structure the same.
type spelling func(name string) string

func modelSpelling(name string) string { return name }

// Check returns the error that every call of the operation would have, before
// it is made: an *UnsupportedError, or one of the configuration.
func (c *Client) Check(op *catalog.Operation) error {
	_, err := c.prepare(op)
	return err
}

// prepare returns what all calls of an operation have in common.
func (c *Client) prepare(op *catalog.Operation) (*call, error) {
	if known, ok := c.prepared.Load(op); ok {
		return known.(*call), nil //nolint:forcetypeassert // nothing else is stored
	}
	protocol, err := newProtocol(op)
	if err != nil {
		return nil, err
	}
	next := &call{client: c, op: op, protocol: protocol, schema: newSchema(op)}
	if next.endpoint, next.configured, err = newEndpoint(&c.cfg, op); err != nil {
		return nil, err
	}
	next.labels = !next.configured && strings.Contains(op.HostPrefix, "{")
	known, _ := c.prepared.LoadOrStore(op, next)
	return known.(*call), nil //nolint:forcetypeassert // nothing else is stored
}
