package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// targetPrefix begins the header of requests that are for Step Functions.
const (
	targetHeader = "X-Amz-Target"
	targetPrefix = "AWSStepFunctions."
)

// localAPI calls the operations of a server of this process.
type localAPI struct {
	server          http.Handler
	account, region string // as a client signs: empty for the defaults
}

// refusedError is the answer of an operation that refuses a request.
type refusedError struct{ code, message string }

func (r *refusedError) Error() string { return r.code + ": " + r.message }

// call does an operation. A refusal is an *refusedError.
func (a localAPI) call(ctx context.Context, operation string, input, output any) error {
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set(targetHeader, targetPrefix+operation)
	a.sign(r)
	w := &answerWriter{header: http.Header{}, status: http.StatusOK}
	a.server.ServeHTTP(w, r)
	if w.status == http.StatusOK {
		return json.Unmarshal(w.body.Bytes(), output)
	}
	var said struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(w.body.Bytes(), &said); err != nil {
		return fmt.Errorf("%s: status %d: %w", operation, w.status, err)
	}
	return &refusedError{w.header.Get("X-Amzn-Errortype"), said.Message}
}

// sign tells the server who calls, and from where.
func (a localAPI) sign(r *http.Request) {
	if a.account != "" || a.region != "" {
		r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/20260101/%s/states/aws4_request",
			cmp.Or(a.account, sim.DefaultAccount), cmp.Or(a.region, sim.DefaultRegion)))
	}
}

// caller is who calls, and from where, as the server sees it.
func (a localAPI) caller() (account, region string) {
	r := &http.Request{Header: http.Header{}}
	a.sign(r)
	return server.CallerOf(r)
}

// stateMachineARN is the ARN of a state machine of the caller's.
func (a localAPI) stateMachineARN(name string) string {
	account, region := a.caller()
	return "arn:aws:states:" + region + ":" + account + ":stateMachine:" + name
}

// answerWriter keeps an answer.
type answerWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *answerWriter) Header() http.Header         { return w.header }
func (w *answerWriter) WriteHeader(status int)      { w.status = status }
func (w *answerWriter) Write(p []byte) (int, error) { return w.body.Write(p) }
