package awsjob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/defaults"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// MaxAnswer is how many bytes an answer may have. What describes a job has a few
// thousand.
const MaxAnswer = 8 << 20

// maxDepth is how deep an answer may nest.
const maxDepth = 1000

// ErrAnswer means that a service's answer cannot be used: it is too long, or
// does not have the form that the model says.
var ErrAnswer = errors.New("the service's answer cannot be used")

// call is what all calls of an operation by a client have in common.
type call struct {
	client   *Client
	op       *catalog.Operation
	protocol smithyhttp.ClientProtocol
	endpoint endpoint
	schema   *smithy.OperationSchema
}

// do sends a request through a stack of the SDK's middleware and reads the
// answer. The members of the result have the spelling.
func (c *call) do(ctx context.Context, in *input, spell spelling) (any, error) {
	cfg := &c.client.cfg
	ctx = middleware.ClearStackValues(ctx)
	ctx = middleware.WithServiceID(ctx, c.op.Service.Name)
	ctx = middleware.WithOperationName(ctx, c.op.Name)
	ctx = awsmiddleware.SetServiceID(ctx, c.op.Service.Name)
	ctx = awsmiddleware.SetOperationName(ctx, c.op.Name)
	ctx = awsmiddleware.SetRegion(ctx, cfg.Region)
	logger := cfg.Logger
	if logger == nil {
		logger = logging.Nop{}
	}
	ctx = middleware.SetLogger(ctx, logger)

	stack := middleware.NewStack(c.op.Name, smithyhttp.NewStackRequest)
	out := &output{call: c, spell: spell, value: map[string]any{}}
	if err := c.assemble(stack, in, out); err != nil {
		return nil, err
	}
	for _, change := range cfg.APIOptions {
		if err := change(stack); err != nil {
			return nil, err
		}
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(c.client.http), stack)
	if _, _, err := handler.Handle(ctx, struct{}{}); err != nil {
		return nil, &smithy.OperationError{ServiceID: c.op.Service.Name, OperationName: c.op.Name, Err: err}
	}
	return out.value, nil
}

// assemble puts the steps of a call together, as the SDK's clients do.
func (c *call) assemble(stack *middleware.Stack, in *input, out *output) error {
	cfg := &c.client.cfg
	agent := awsmiddleware.NewRequestUserAgent()
	agent.AddSDKAgentKey(awsmiddleware.APIMetadata, "jobpoller-awsjob")
	if cfg.AppID != "" {
		agent.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, cfg.AppID)
	}
	if source, ok := cfg.Credentials.(aws.CredentialProviderSource); ok {
		for _, s := range source.ProviderSources() {
			agent.AddCredentialsSource(s)
		}
	}
	attempts := retry.NewAttemptMiddleware(c.client.retryer, smithyhttp.RequestCloner, func(a *retry.Attempt) {
		a.LogAttempts = cfg.ClientLogMode.IsRetries()
		a.ClientSkew = c.client.skew
		a.DisableClockSkewCorrection = cfg.DisableClockSkewCorrection
	})
	const after = middleware.After
	return errors.Join(
		stack.Serialize.Add(middleware.SerializeMiddlewareFunc("OperationSerializer", c.serializer(in)), after),
		stack.Build.Add(&awsmiddleware.ClientRequestID{}, after),
		stack.Build.Add(agent, after),
		stack.Build.Add(&awsmiddleware.RecursionDetection{}, after),
		stack.Finalize.Add(attempts, after),
		stack.Finalize.Add(&v4.ComputePayloadSHA256{}, after),
		stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("Signing", c.sign), after),
		// Of what has to do with answers the last sees them first.
		stack.Deserialize.Add(&awsmiddleware.AddRawResponse{}, after),
		stack.Deserialize.Add(&awshttp.ResponseErrorWrapper{}, after),
		stack.Deserialize.Add(&awsmiddleware.RequestIDRetriever{}, after),
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("OperationDeserializer", c.deserializer(out)), after),
		stack.Deserialize.Add(&awsmiddleware.RecordResponseTiming{DisableClockSkewCorrection: cfg.DisableClockSkewCorrection}, after),
		stack.Deserialize.Add(&smithyhttp.RequestResponseLogger{
			LogRequest: cfg.ClientLogMode.IsRequest(), LogRequestWithBody: cfg.ClientLogMode.IsRequestWithBody(),
			LogResponse: cfg.ClientLogMode.IsResponse(), LogResponseWithBody: cfg.ClientLogMode.IsResponseWithBody(),
		}, after),
	)
}

// serializer writes the request.
func (c *call) serializer(in *input) func(context.Context, middleware.SerializeInput, middleware.SerializeHandler) (
	middleware.SerializeOutput, middleware.Metadata, error,
) {
	return func(ctx context.Context, si middleware.SerializeInput, next middleware.SerializeHandler) (
		middleware.SerializeOutput, middleware.Metadata, error,
	) {
		request, ok := si.Request.(*smithyhttp.Request)
		if !ok {
			return middleware.SerializeOutput{}, middleware.Metadata{}, fmt.Errorf("a request is a %T", si.Request)
		}
		if err := c.protocol.SerializeRequest(ctx, c.schema, in, request); err != nil {
			return middleware.SerializeOutput{}, middleware.Metadata{}, &smithy.SerializationError{Err: err}
		}
		toEndpoint(request.URL, c.endpoint.url)
		if c.op.Service.Key == "glacier" { // its documentation asks for this, its model does not
			request.Header.Set("X-Amz-Glacier-Version", c.op.Service.APIVersion)
		}
		return next.HandleSerialize(ctx, si)
	}
}

// toEndpoint makes the URL of a request, which has a path and a query, one below
// the endpoint.
func toEndpoint(u, endpoint *url.URL) {
	u.Scheme, u.Host = endpoint.Scheme, endpoint.Host
	if base := strings.TrimSuffix(endpoint.EscapedPath(), "/"); base != "" {
		raw := base + u.EscapedPath()
		u.Path = strings.TrimSuffix(endpoint.Path, "/") + u.Path
		u.RawPath = raw
	}
}

// sign signs one try of a request.
func (c *call) sign(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	cfg := &c.client.cfg
	request, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, metadata, fmt.Errorf("a request is a %T", in.Request)
	}
	if cfg.Credentials == nil {
		return out, metadata, &v4.SigningError{Err: errors.New("there are no credentials")}
	}
	if aws.IsCredentialsProvider(cfg.Credentials, (*aws.AnonymousCredentials)(nil)) {
		return next.HandleFinalize(ctx, in)
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return out, metadata, &v4.SigningError{Err: fmt.Errorf("failed to retrieve credentials: %w", err)}
	}
	now := time.Now()
	if !cfg.DisableClockSkewCorrection {
		now = now.Add(time.Duration(c.client.skew.Load()))
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) {
		o.Logger, o.LogSigning = middleware.GetLogger(ctx), cfg.ClientLogMode.IsSigning()
	})
	err = signer.SignHTTP(ctx, keys, request.Request, v4.GetPayloadHash(ctx), c.endpoint.signingName, c.endpoint.region, now.UTC())
	if err != nil {
		return out, metadata, &v4.SigningError{Err: fmt.Errorf("failed to sign http request, %w", err)}
	}
	return next.HandleFinalize(ctx, in)
}

// deserializer reads the answer to one try of a request.
func (c *call) deserializer(to *output) func(context.Context, middleware.DeserializeInput, middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	return func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
		middleware.DeserializeOutput, middleware.Metadata, error,
	) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		response, ok := out.RawResponse.(*smithyhttp.Response)
		if !ok || response == nil {
			return out, metadata, err
		}
		defer response.Body.Close() // it has been read as far as it is wanted
		if skew, found := awsmiddleware.GetAttemptSkew(metadata); found {
			c.client.skew.Store(skew.Nanoseconds()) // for the next try, too
		}
		if err != nil {
			return out, metadata, err
		}
		body, err := readBody(response.Body)
		if err != nil {
			return out, metadata, &smithy.DeserializationError{Err: err}
		}
		if response.StatusCode < 200 || response.StatusCode >= 300 {
			return out, metadata, readError(c.op, response, body)
		}
		return out, metadata, c.parse(ctx, response, body, to)
	}
}

// readBody reads an answer as far as it may go.
func readBody(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxAnswer {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrAnswer, MaxAnswer)
	}
	return text, nil
}

// parse reads an answer of success.
func (c *call) parse(ctx context.Context, response *smithyhttp.Response, body []byte, to *output) error {
	if c.op.Output == nil {
		return nil
	}
	if !rawPayload(c.op.Output) {
		if err := checkDepth(body); err != nil {
			return &smithy.DeserializationError{Err: err}
		}
	}
	to.value = map[string]any{} // of an earlier try
	whole := *response.Response
	whole.Body, whole.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	err := c.protocol.DeserializeResponse(ctx, c.schema, nil, &smithyhttp.Response{Response: &whole}, to)
	if err != nil {
		return &smithy.DeserializationError{Err: fmt.Errorf("%w: %w", ErrAnswer, err)}
	}
	return nil
}

// rawPayload reports whether the body of an answer is a member as it is, and no
// JSON.
func rawPayload(output *catalog.Shape) bool {
	for _, m := range output.Members {
		if m.In == catalog.InPayload && (m.Shape.Type == catalog.Blob || m.Shape.Type == catalog.String) {
			return true
		}
	}
	return false
}

// checkDepth refuses JSON that nests so deep that reading it would take more
// stack than there is.
func checkDepth(text []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("%w: it nests deeper than %d", ErrAnswer, maxDepth)
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return nil
}

// newRetryer returns the retryer that the configuration asks for.
func newRetryer(cfg *aws.Config, once bool) aws.Retryer { //nolint:ireturn // which one is for the configuration to say
	var retryer aws.Retryer
	switch {
	case once:
		return aws.NopRetryer{}
	case cfg.Retryer != nil:
		retryer = cfg.Retryer()
	case retryMode(cfg) == aws.RetryModeAdaptive:
		retryer = retry.NewAdaptiveMode()
	default:
		retryer = retry.NewStandard()
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
	mode := cfg.DefaultsMode
	if mode == aws.DefaultsModeAuto {
		mode = defaults.ResolveDefaultsModeAuto(cfg.Region, cfg.RuntimeEnvironment)
	}
	settings, err := defaults.GetModeConfiguration(mode)
	if err != nil { // the legacy mode has none
		return ""
	}
	return settings.RetryMode
}
