package awsjob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// MaxAnswer is how many bytes an answer may have. What describes a job has a few
// thousand.
const MaxAnswer = awscall.MaxAnswer

// maxDepth is how deep an answer may nest.
const maxDepth = 1000

var errTooDeep = fmt.Errorf("%w: it nests deeper than %d", ErrAnswer, maxDepth)

// ErrAnswer means that a service's answer cannot be used: it is too long, or
// does not have the form that the model says.
var ErrAnswer = awscall.ErrAnswer

// call is what all calls of an operation by a client have in common.
type call struct {
	client   *Client
	op       *catalog.Operation
	protocol smithyhttp.ClientProtocol
	endpoint awscall.Endpoint
	// configured tells that the configuration names the endpoint, and labels that
	// its host begins with values of the input.
	configured, labels bool
	schema             *smithy.OperationSchema
}

// do sends a request and reads the answer. The members of the result have the
// spelling.
func (c *call) do(ctx context.Context, in *input, spell spelling) (any, error) {
	out := &output{call: c, spell: spell, value: map[string]any{}}
	to, err := c.address(ctx, in)
	if err != nil {
		return nil, err
	}
	err = c.client.calls.Do(ctx, &awscall.Call{
		Service: c.op.Service.Name, Operation: c.op.Name, Agent: "jobpoller-awsjob",
		Write:    func(ctx context.Context, request *smithyhttp.Request) error { return c.write(ctx, in, to, request) },
		Endpoint: func(aws.Credentials) (awscall.Endpoint, error) { return to.Endpoint, nil },
		Read: func(ctx context.Context, answer *smithyhttp.Response, body []byte) error {
			if !awscall.Succeeds(answer) {
				return readError(c.op, answer, body)
			}
			return c.parse(ctx, answer, body, out)
		},
	})
	if err != nil {
		return nil, err
	}
	return out.value, nil
}

// write writes the request.
func (c *call) write(ctx context.Context, in *input, to address, request *smithyhttp.Request) error {
	if err := c.protocol.SerializeRequest(ctx, c.schema, in, request); err != nil {
		return err
	}
	if chooseProtocol(c.op.Service) == catalog.RESTXML {
		if err := dropEmptyPayload(in, request); err != nil {
			return err
		}
	}
	if to.bucket != "" {
		dropBucket(request.URL, to.bucket)
	}
	if c.op.Service.Key == "s3" {
		return finishS3(c.op, request)
	}
	if c.op.Service.Key == "glacier" { // its documentation asks for this, its model does not
		request.Header.Set("X-Amz-Glacier-Version", c.op.Service.APIVersion)
	}
	return nil
}

// parse reads an answer of success.
func (c *call) parse(ctx context.Context, answer *smithyhttp.Response, body []byte, to *output) error {
	if c.op.Output == nil {
		return nil
	}
	body, err := c.check(answer, body)
	if err != nil {
		return err
	}
	if c.op.Service.Key == "s3" && c.op.Name == "GetBucketLocation" {
		body = wrapLocation(body)
	}
	to.value = map[string]any{} // of an earlier try
	whole := *answer.Response
	whole.Body, whole.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	err = c.protocol.DeserializeResponse(ctx, c.schema, nil, &smithyhttp.Response{Response: &whole}, to)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("it has no result of %s, or breaks off", c.op.Name)
	}
	if err != nil {
		return &smithy.DeserializationError{Err: fmt.Errorf("%w: %w", ErrAnswer, err)}
	}
	return nil
}

// check refuses an answer of success that should not be parsed, and returns what to
// parse of it.
func (c *call) check(answer *smithyhttp.Response, body []byte) ([]byte, error) {
	if rawPayload(c.op.Output) {
		return body, nil
	}
	switch chooseProtocol(c.op.Service) {
	case catalog.AWSJSON, catalog.RESTJSON:
		if err := checkForm(body); err != nil {
			return nil, &smithy.DeserializationError{Err: err}
		}
		return body, nil
	case catalog.CBOR:
		return boundCBOR(body)
	default:
		return body, checkXML(c.op, answer, body)
	}
}

// rawPayload reports whether the body of an answer is a member as it is.
func rawPayload(output *catalog.Shape) bool {
	for _, m := range output.Members {
		if m.In == catalog.InPayload && (m.Shape.Type == catalog.Blob || m.Shape.Type == catalog.String) {
			return true
		}
	}
	return false
}

// errMore is the error of an answer that has more than one value: the SDK's parsers take
// the first for the whole.
var errMore = fmt.Errorf("%w: it goes on behind its end", ErrAnswer)

// checkForm refuses JSON that nests so deep that reading it would take more stack than
// there is, and JSON behind which something stands.
func checkForm(text []byte) error {
	depth, quoted, ended := 0, false, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case ended:
			if !strings.ContainsRune(" \t\r\n", rune(b)) {
				return errMore
			}
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return errTooDeep
			}
		case b == '}' || b == ']':
			depth--
			ended = depth <= 0
		}
	}
	return nil
}
