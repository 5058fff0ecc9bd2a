package awsjob

import (
	"fmt"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/cbor"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// readCBORRefusal reads an answer in CBOR that does not succeed. A body that is not
// CBOR says no name.
func readCBORRefusal(answer *smithyhttp.Response, body []byte) *smithy.GenericAPIError {
	e := &smithy.GenericAPIError{}
	if value, err := cbor.Decode(body); err == nil {
		said, _ := value.(cbor.Map)
		code, _ := said["__type"].(cbor.String)
		message, _ := said["message"].(cbor.String)
		e.Code, e.Message = awscall.PlainCode(string(code)), string(message)
	}
	return awscall.CompleteRefusal(answer, e)
}

// boundCBOR writes an answer of success anew: the SDK's deserializer follows what the
// model does not know to any depth, until the stack overflows. Its decoder does not.
func boundCBOR(body []byte) ([]byte, error) {
	if len(body) == 0 { // an output without members
		return nil, nil
	}
	value, err := cbor.Decode(body)
	if err != nil { // its text repeats itself for each level
		return nil, &smithy.DeserializationError{Err: fmt.Errorf("%w: it is not CBOR, breaks off, or nests too deep", ErrAnswer)}
	}
	return cbor.Encode(value), nil
}
