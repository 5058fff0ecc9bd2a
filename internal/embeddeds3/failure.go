package embeddeds3

import (
	"encoding/xml"
	"errors"
	"net/http"
)

// failure is an error as S3 answers it:
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
type failure struct {
	XMLName xml.Name `xml:"Error"`
	Status  int      `xml:"-"`
	Code    string   `xml:"Code"`
	Message string   `xml:"Message"`
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

func failMissing(code, message string) *failure {
	return &failure{Status: http.StatusNotFound, Code: code, Message: message}
}

func failPrecondition(header string) *failure {
	return &failure{
		Status: http.StatusPreconditionFailed, Code: "PreconditionFailed",
		Message: "At least one of the pre-conditions you specified did not hold: " + header,
	}
}

func failArgument(code, message string) *failure {
	return &failure{Status: http.StatusBadRequest, Code: code, Message: message}
}

func notImplemented(what string) *failure {
	return &failure{Status: http.StatusNotImplemented, Code: "NotImplemented", Message: "not served here: " + what}
}

// asFailure is the failure of an error. One that is none is the file's.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return &failure{Status: http.StatusInternalServerError, Code: "InternalError", Message: err.Error()}
}

// reply answers with the failure; an answer to HEAD has no body.
func (f *failure) reply(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		w.WriteHeader(f.Status)
		return
	}
	replyXML(w, f.Status, f)
}

func replyXML(w http.ResponseWriter, status int, answer any) {
	text, err := xml.Marshal(answer)
	if err != nil { // no type here can fail
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	// A client that is gone needs no answer.
	_, _ = w.Write(append([]byte(xml.Header), text...)) //nolint:gosec // XML, escaped by its package
}
