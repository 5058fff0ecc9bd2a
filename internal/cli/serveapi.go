package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

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
	account, region string // empty: the defaults
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
	if a.account != "" {
		r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/20260101/%s/states/aws4_request", a.account, a.region))
	}
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

// stateMachineARN is the ARN of a state machine of localAPI.
func stateMachineARN(name string) string {
	return "arn:aws:states:" + sim.DefaultRegion + ":" + sim.DefaultAccount + ":stateMachine:" + name
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
