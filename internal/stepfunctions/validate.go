// Package stepfunctions asks Step Functions at AWS about definitions and executions.
// Nothing that it calls makes or runs anything.
package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Client calls operations of Step Functions, one at a time.
type Client struct {
	service  *catalog.Service
	call     Call
	answered bool               // the service has
	buckets  map[string]*bucket // by operation

	// Tried is told the error of each call that is made again, and nil after an answer;
	// nil tells nobody.
	Tried func(error)
}

// Call makes one call of an operation. Input and output are JSON values in the
// model's spelling. Method Call of awsjob.Client is one.
type Call func(ctx context.Context, op *catalog.Operation, input any) (any, error)

// New returns a client. The service is models.Load("stepfunctions").
func New(service *catalog.Service, call Call) *Client {
	return &Client{service: service, call: call, buckets: map[string]*bucket{}}
}

// Patience is how long a call may take, with the SDK's retries.
const Patience = 30 * time.Second

// ErrAnswer means that an answer does not say what it must.
var ErrAnswer = errors.New("the answer is not one of Step Functions")

// CallError is an error of a call, with the IAM action that it needs.
type CallError struct {
	Action string
	Err    error
}

// Error implements error.
func (e *CallError) Error() string { return fmt.Sprintf("%s: %s", e.Action, e.Err) }

// failCall is the error of a call of an operation.
func failCall(operation string, err error) error { return &CallError{"states:" + operation, err} }

// Unwrap returns the error of the call.
func (e *CallError) Unwrap() error { return e.Err }

// silence is the error of a call without an answer.
type silence struct{}

func (silence) Error() string { return fmt.Sprintf("no answer within %s: try again later", Patience) }

// Unwrap lets the error count for one that passes.
func (silence) Unwrap() error { return context.DeadlineExceeded }

// mostDiagnostics is the API's own limit.
const mostDiagnostics = 100

// Validate returns what ValidateStateMachineDefinition finds in a definition.
func (c *Client) Validate(ctx context.Context, text []byte, as asl.ExecutionType) (diag.Problems, error) {
	var answer struct {
		Result      string
		Diagnostics []struct{ Code, Location, Message, Severity string }
		Truncated   bool
	}
	err := c.do(ctx, "ValidateStateMachineDefinition", map[string]any{
		"definition": string(text), "type": string(as), "severity": "WARNING", "maxResults": json.Number(strconv.Itoa(mostDiagnostics)),
	}, &answer)
	if err != nil {
		return nil, err
	}
	if answer.Result != "OK" && answer.Result != "FAIL" {
		return nil, failCall("ValidateStateMachineDefinition", fmt.Errorf("%w: its result is %q, not OK or FAIL", ErrAnswer, answer.Result))
	}
	place := placesOf(text)
	var problems diag.Problems
	for _, d := range answer.Diagnostics {
		p := place(d.Location, fmt.Sprintf("AWS says %s: %s", d.Code, strings.TrimSpace(d.Message)))
		if d.Severity != "ERROR" {
			p.Severity = diag.Warning
		}
		problems = append(problems, p)
	}
	if answer.Result == "FAIL" && !slices.ContainsFunc(problems, func(p diag.Problem) bool { return p.Severity == diag.Error }) {
		problems = append(problems, diag.Problem{Message: "AWS rejects the definition, and does not say why"})
	}
	if answer.Truncated {
		problems = append(problems, diag.Problem{
			Severity: diag.Note, Message: fmt.Sprintf("AWS has more than these %d findings: mend them, and lint again", mostDiagnostics),
		})
	}
	return problems, nil
}

// do makes a call and reads its answer. Its error is a *CallError.
func (c *Client) do(ctx context.Context, operation string, input map[string]any, answer any) error {
	patient, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	out, err := c.call(patient, c.service.Operations[operation], input)
	if err != nil && ctx.Err() == nil && patient.Err() != nil {
		err = silence{}
	}
	class := goerror.Classify(err)
	c.answered = c.answered || err == nil || class != awserror.NotSent && class != awserror.Unclear
	if class == awserror.Throttled {
		c.giveUp(operation)
	}
	if err != nil {
		return failCall(operation, err)
	}
	text, err := json.Marshal(out)
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		return failCall(operation, fmt.Errorf("%w: %w", ErrAnswer, err))
	}
	return nil
}

// placesOf returns what makes a problem of a location that AWS names: a JSON
// pointer. The other form, "[Source: ...", names a place in a text that is not JSON.
func placesOf(text []byte) func(location, message string) diag.Problem {
	doc, err := jsontree.Parse(text)
	return func(location, message string) diag.Problem {
		if err != nil || !strings.HasPrefix(location, "/") {
			return diag.Problem{Message: message}
		}
		p := doc.Root.Nearest(strings.TrimSuffix(location, "/")).Problem("%s", message)
		p.Pointer = strings.TrimSuffix(location, "/")
		return p
	}
}
