package answers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// remoteFunction is a Lambda function behind a server that invokes it, such as AWS's
// emulator.
type remoteFunction struct {
	url    string
	client *http.Client
	// settings sign for a Lambda service; nil for any other server.
	settings *localSettings
	open     bool // anybody on the way can read what is sent
	// operation is Lambda's, which names the errors of a server.
	operation *catalog.Operation
}

// newRemote returns the function at a URL. One without a path is that of a
// Lambda service, which gets signed requests. They have no qualifier: sam local knows
// none, and refuses it.
func newRemote(name, address string, transport http.RoundTripper, settings *localSettings) (sim.LambdaFunction, error) {
	u, err := awscall.ParseEndpoint(address)
	if err != nil {
		return nil, err
	}
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath("2015-03-31", "functions", name, "invocations")
	} else {
		settings = nil
	}
	operation, err := typecheck.FindOperation(LambdaInvoke, models.Load)
	if err != nil {
		return nil, err
	}
	f := &remoteFunction{u.String(), &http.Client{
		Transport: transport,
		// A redirect would send the event to a host that nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, settings, u.Scheme == "http" && !loopback.IsLoopback(u.Hostname()), operation}
	return f.invoke, nil
}

// invoke is a sim.LambdaFunction. It ends with ctx, which ends at the TimeoutSeconds of
// the state, and no later than the longest invocation of Lambda.
func (f *remoteFunction) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, longestInvocation)
	defer cancel()
	response, text, err := f.post(limited, payload) //nolint:bodyclose // it has closed it
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return nil, newTimeout(fmt.Sprintf("Task timed out after %.2f seconds", longestInvocation.Seconds()))
	case err != nil:
		return nil, mock.ClientFailure(LambdaInvoke, f.operation, err.Error())
	case response.StatusCode != http.StatusOK:
		return nil, f.refusal(response, text)
	case len(text) > runtimeapi.MaxPayload:
		return nil, &sim.FunctionError{
			Type:    "Function.ResponseSizeTooLarge",
			Message: fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", runtimeapi.MaxPayload),
		}
	case response.Header.Get("X-Amz-Function-Error") != "":
		return nil, sim.ReadFunctionError(text)
	case emulatorTimeout().Match(text):
		return nil, newTimeout(string(text))
	case len(text) == 0: // the process ended without an answer; no result is "null"
		return nil, &sim.FunctionError{Payload: text}
	case isFailureAlone(text):
		return nil, sim.ReadFunctionError(text)
	default:
		return text, nil
	}
}

// refusal is the failure of a call that Lambda itself, or what stands for it, answers
// with an error.
func (f *remoteFunction) refusal(response *http.Response, text []byte) error {
	answer := mock.Answer{Status: response.StatusCode, Message: beginning(text), RequestID: response.Header.Get("X-Amzn-Requestid")}
	answer.Code, _, _ = strings.Cut(response.Header.Get("X-Amzn-Errortype"), ":")
	var said struct {
		Message string `json:"message"` // or Message
	}
	if json.Unmarshal(text, &said) == nil && said.Message != "" {
		answer.Message = beginning([]byte(said.Message))
	}
	if answer.Code == "" && response.StatusCode >= http.StatusInternalServerError {
		answer.Code = "ServiceException"
	}
	if to, err := response.Location(); err == nil {
		answer.Message = fmt.Sprintf("the server names another URL: pass that one if the event may go there: %s://%s%s", to.Scheme, to.Host, to.EscapedPath())
	}
	return mock.ServiceFailure(LambdaInvoke, f.operation, answer)
}

// post sends an event, and reads the answer as far as one may go.
func (f *remoteFunction) post(ctx context.Context, payload []byte) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(payload))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if err := f.sign(request, payload); err != nil {
		return nil, nil, err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, runtimeapi.MaxPayload+1))
	return response, text, errors.Join(err, response.Body.Close())
}

// sign signs a request for a Lambda service. Over plain http to another machine it uses
// made-up keys: the user's session token is a header, which others could read.
func (f *remoteFunction) sign(request *http.Request, payload []byte) error {
	if f.settings == nil {
		return nil
	}
	ctx := request.Context()
	cfg, err := f.settings.load(ctx)
	if err != nil {
		return err
	}
	keys := aws.Credentials{AccessKeyID: awssettings.MadeUpKey, SecretAccessKey: awssettings.MadeUpKey}
	if !f.open {
		if keys, err = cfg.Credentials.Retrieve(ctx); err != nil {
			return err
		}
	}
	hash := sha256.Sum256(payload)
	return v4.NewSigner().SignHTTP(ctx, keys, request, hex.EncodeToString(hash[:]), f.operation.Service.Endpoint.SigningName, cfg.Region, time.Now())
}

// newTimeout is the failure of a function that worked for too long.
func newTimeout(message string) *sim.FunctionError {
	return &sim.FunctionError{Type: "Sandbox.Timedout", Message: message}
}

// emulatorTimeout is what AWS's emulator answers, with the status of a result, for a
// function that worked for too long.
var emulatorTimeout = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Task timed out after [0-9.]+ seconds$`) })

// isFailureAlone tells whether an answer has what a runtime of Lambda says of a failure,
// and nothing else: AWS's emulator sends no header with it.
func isFailureAlone(text []byte) bool {
	var members map[string]any
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	for member := range members {
		if !slices.Contains(failureMembers, member) {
			return false
		}
	}
	_, hasType := members["errorType"].(string)
	_, hasMessage := members["errorMessage"].(string)
	return hasType && hasMessage
}

// failureMembers are what the runtimes of Lambda say of a failure.
var failureMembers = []string{"errorType", "errorMessage", "stackTrace", "trace", "requestId", "cause"}

// beginning is the beginning of an answer, in one line.
func beginning(text []byte) string {
	const most = 500 // bytes
	cut, more := text, ""
	if len(cut) > most {
		cut, more = cut[:most], "..."
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(cut), "")), " ") + more
}
