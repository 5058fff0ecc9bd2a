package awsjob

import (
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
