package awscall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// MaxAnswer is how many bytes an answer may have. What describes a job has a few
// thousand, an item of DynamoDB some hundred thousand.
const MaxAnswer = 8 << 20

// ErrAnswer means that a service's answer cannot be used: it is too long, or
// does not have the form that the caller expects.
var ErrAnswer = errors.New("the service's answer cannot be used")

// Call is a call of an operation.
type Call struct {
	// Service is the name that the SDK has for the service, such as "DynamoDB".
	Service, Operation string
	// Agent names the caller in the user agent, and Features are of the SDK's.
	Agent    string
	Features []awsmiddleware.UserAgentFeature
	// Write writes the request: method, path, query, headers and body.
	Write func(context.Context, *smithyhttp.Request) error
	// Endpoint says where a request goes that is signed with the keys. They are the
	// zero value for a request without a signature.
	Endpoint func(keys aws.Credentials) (Endpoint, error)
	// Read reads the answer to one try, of whatever status. The body is read to its
	// end.
	Read func(ctx context.Context, answer *smithyhttp.Response, body []byte) error
}

// Do sends a request through a stack of the SDK's middleware, again if need be, and
// lets the call read the answer. An error is a *smithy.OperationError.
func (c *Client) Do(ctx context.Context, call *Call) error {
	cfg := &c.cfg
	ctx = middleware.ClearStackValues(ctx)
	ctx = middleware.WithServiceID(ctx, call.Service)
	ctx = middleware.WithOperationName(ctx, call.Operation)
	ctx = awsmiddleware.SetServiceID(ctx, call.Service)
	ctx = awsmiddleware.SetOperationName(ctx, call.Operation)
	ctx = awsmiddleware.SetRegion(ctx, cfg.Region)
	logger := cfg.Logger
	if logger == nil {
		logger = logging.Nop{}
	}
	ctx = middleware.SetLogger(ctx, logger)

	stack := middleware.NewStack(call.Operation, smithyhttp.NewStackRequest)
	if err := c.assemble(ctx, stack, call); err != nil {
		return err
	}
	for _, change := range cfg.APIOptions {
		if err := change(stack); err != nil {
			return err
		}
	}
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(c.http), stack)
	if _, _, err := handler.Handle(ctx, struct{}{}); err != nil {
		return &smithy.OperationError{ServiceID: call.Service, OperationName: call.Operation, Err: err}
	}
	return nil
}

// assemble puts the steps of a call together, as the SDK's clients do.
func (c *Client) assemble(ctx context.Context, stack *middleware.Stack, call *Call) error {
	cfg := &c.cfg
	attempts := retry.NewAttemptMiddleware(&timely{c.retryer, ctx}, smithyhttp.RequestCloner, func(a *retry.Attempt) {
		a.LogAttempts = cfg.ClientLogMode.IsRetries()
		a.ClientSkew = &c.skew
		a.DisableClockSkewCorrection = cfg.DisableClockSkewCorrection
	})
	const after = middleware.After
	return errors.Join(
		stack.Serialize.Add(middleware.SerializeMiddlewareFunc("OperationSerializer", call.serialize), after),
		stack.Build.Add(&awsmiddleware.ClientRequestID{}, after),
		stack.Build.Add(c.agent(call), after),
		stack.Build.Add(&awsmiddleware.RecursionDetection{}, after),
		stack.Finalize.Add(attempts, after),
		stack.Finalize.Add(&v4.ComputePayloadSHA256{}, after),
		stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("Signing", signer{c, call}.sign), after),
		// Of what has to do with answers the last sees them first.
		stack.Deserialize.Add(&awsmiddleware.AddRawResponse{}, after),
		stack.Deserialize.Add(&awshttp.ResponseErrorWrapper{}, after),
		stack.Deserialize.Add(&awsmiddleware.RequestIDRetriever{}, after),
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("OperationDeserializer", reader{c, call}.deserialize), after),
		stack.Deserialize.Add(&awsmiddleware.RecordResponseTiming{DisableClockSkewCorrection: cfg.DisableClockSkewCorrection}, after),
		stack.Deserialize.Add(&smithyhttp.RequestResponseLogger{
			LogRequest: cfg.ClientLogMode.IsRequest(), LogRequestWithBody: cfg.ClientLogMode.IsRequestWithBody(),
			LogResponse: cfg.ClientLogMode.IsResponse(), LogResponseWithBody: cfg.ClientLogMode.IsResponseWithBody(),
		}, after),
	)
}

// agent writes the header User-Agent.
func (c *Client) agent(call *Call) *awsmiddleware.RequestUserAgent {
	agent := awsmiddleware.NewRequestUserAgent()
	agent.AddSDKAgentKey(awsmiddleware.APIMetadata, call.Agent)
	if c.cfg.AppID != "" {
		agent.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, c.cfg.AppID)
	}
	if source, ok := c.cfg.Credentials.(aws.CredentialProviderSource); ok {
		for _, s := range source.ProviderSources() {
			agent.AddCredentialsSource(s)
		}
	}
	switch c.retryer.(type) {
	case *retry.Standard:
		agent.AddUserAgentFeature(awsmiddleware.UserAgentFeatureRetryModeStandard)
	case *retry.AdaptiveMode:
		agent.AddUserAgentFeature(awsmiddleware.UserAgentFeatureRetryModeAdaptive)
	}
	for _, feature := range call.Features {
		agent.AddUserAgentFeature(feature)
	}
	return agent
}

// serialize writes the request.
func (call *Call) serialize(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (
	middleware.SerializeOutput, middleware.Metadata, error,
) {
	request, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return middleware.SerializeOutput{}, middleware.Metadata{}, fmt.Errorf("a request is a %T", in.Request)
	}
	if err := call.Write(ctx, request); err != nil {
		return middleware.SerializeOutput{}, middleware.Metadata{}, &smithy.SerializationError{Err: err}
	}
	return next.HandleSerialize(ctx, in)
}

// signer says where one try of a request goes, and signs it.
type signer struct {
	client *Client
	call   *Call
}

func (s signer) sign(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	cfg := &s.client.cfg
	request, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, metadata, fmt.Errorf("a request is a %T", in.Request)
	}
	if cfg.Credentials == nil {
		return out, metadata, &v4.SigningError{Err: errors.New("there are no credentials")}
	}
	var keys aws.Credentials
	anonymous := aws.IsCredentialsProvider(cfg.Credentials, (*aws.AnonymousCredentials)(nil))
	if !anonymous {
		if keys, err = cfg.Credentials.Retrieve(ctx); err != nil {
			return out, metadata, &v4.SigningError{Err: fmt.Errorf("failed to retrieve credentials: %w", err)}
		}
	}
	to, err := s.call.Endpoint(keys)
	if err != nil {
		return out, metadata, err
	}
	to.apply(request.URL)
	if anonymous {
		return next.HandleFinalize(ctx, in)
	}
	now := time.Now()
	if !cfg.DisableClockSkewCorrection {
		now = now.Add(time.Duration(s.client.skew.Load()))
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) {
		o.Logger, o.LogSigning = middleware.GetLogger(ctx), cfg.ClientLogMode.IsSigning()
		o.DisableURIPathEscaping = isS3(to) // which signs a path as it is
	})
	hash := v4.GetPayloadHash(ctx)
	if isS3(to) {
		request.Header.Set("X-Amz-Content-Sha256", hash) // which it requires
	}
	err = signer.SignHTTP(ctx, keys, request.Request, hash, to.SigningName, to.Region, now.UTC())
	if err != nil {
		return out, metadata, &v4.SigningError{Err: fmt.Errorf("failed to sign http request, %w", err)}
	}
	return next.HandleFinalize(ctx, in)
}

// isS3 reports whether requests are signed by the rules of S3.
func isS3(to Endpoint) bool {
	return slices.Contains([]string{"s3", "s3express", "s3-object-lambda", "s3-outposts"}, to.SigningName)
}

// reader reads the answer to one try of a request.
type reader struct {
	client *Client
	call   *Call
}

func (r reader) deserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok || response == nil {
		return out, metadata, err
	}
	defer response.Body.Close() // it has been read as far as it is wanted
	if skew, found := awsmiddleware.GetAttemptSkew(metadata); found {
		r.client.skew.Store(skew.Nanoseconds()) // for the next try, too
	}
	if err != nil {
		return out, metadata, err
	}
	body, err := readBody(response.Body)
	if err != nil {
		return out, metadata, &smithy.DeserializationError{Err: err}
	}
	return out, metadata, r.call.Read(ctx, response, body)
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
