package awsjob

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// readXMLRefusal reads an answer in XML to a call that does not succeed. The error is the
// root element, as S3 writes it, or below it: in <Error>, or for EC2 in
// <Errors><Error>. A body that is not XML says no name.
func readXMLRefusal(op *catalog.Operation, answer *smithyhttp.Response, body []byte) *smithy.GenericAPIError {
	type element struct {
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
		Lower   string `xml:"message"`
	}
	var said struct {
		element

		Error  element   `xml:"Error"`
		Errors []element `xml:"Errors>Error"`
	}
	_ = xml.Unmarshal(body, &said) // what could be read is there
	e := &smithy.GenericAPIError{}
	for _, s := range append([]element{said.element, said.Error}, said.Errors...) {
		if e.Code == "" {
			e.Code, e.Message = strings.TrimSpace(s.Code), s.Message+s.Lower
		}
	}
	if e.Code == "" && op.Method == http.MethodHead {
		// An answer to HEAD has no body. SDKs make a name of its status.
		e.Code = strings.ReplaceAll(http.StatusText(answer.StatusCode), " ", "")
	}
	e = awscall.CompleteRefusal(answer, e)
	if region := answer.Header.Get("X-Amz-Bucket-Region"); region != "" && answer.StatusCode == http.StatusMovedPermanently {
		e.Message += ": the bucket is in " + region + ", set this region"
	}
	return e
}

// checkXML refuses what answers a call of a service that speaks XML and is not
// from the service, or is an error in spite of its status.
func checkXML(op *catalog.Operation, answer *smithyhttp.Response, body []byte) error {
	root, err := rootElement(body)
	switch {
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(body)) == 0:
		if chooseProtocol(op.Service) != catalog.RESTXML {
			return &smithy.DeserializationError{Err: fmt.Errorf("%w: it is empty", ErrAnswer)}
		}
		return nil
	case errors.Is(err, io.EOF):
		return &smithy.DeserializationError{Err: fmt.Errorf("%w: it is not XML", ErrAnswer)}
	case errors.Is(err, errMore):
		return &smithy.DeserializationError{Err: err}
	case err != nil:
		return &smithy.DeserializationError{Err: fmt.Errorf("%w: it is not XML: %w", ErrAnswer, err)}
	case strings.EqualFold(root, "html"):
		return &smithy.DeserializationError{Err: fmt.Errorf("%w: it is a page of HTML, perhaps of a proxy", ErrAnswer)}
	case root == "Error" && op.Service.Key == "s3":
		// S3 sends its status before it knows the result of a long call.
		answer.StatusCode = http.StatusInternalServerError
		return readError(op, answer, body)
	default:
		return nil
	}
}

// rootElement is the name of the outermost element. Its error is io.EOF if there is none,
// and errMore if something stands behind it. What is wrong within it is for the parser to
// say.
func rootElement(body []byte) (string, error) {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	root, depth := "", 0
	for {
		token, err := decoder.Token()
		if root != "" && err != nil {
			return root, nil //nolint:nilerr // as said
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch {
			case root == "":
				root = token.Name.Local
			case depth == 0:
				return root, errMore
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if root != "" && depth == 0 && len(bytes.TrimSpace(token)) > 0 {
				return root, errMore
			}
		}
	}
}
