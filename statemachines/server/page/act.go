package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// actions are what the forms do besides the clock's. Each returns where the reader
// goes; empty for the page that the form stands on.
var actions = map[string]func(q *request, ctx context.Context) (string, error){
	"start": (*request).start, "stop": (*request).stop, "redrive": (*request).redrive, "skip": (*request).skip,
	"token": (*request).answerToken, "answer": (*request).setAnswer,
}

// act does what a form asks for, and sends the reader back.
func (q *request) act() error {
	name := q.r.PathValue("action")
	to := ""
	var err error
	switch {
	case steers[name] != nil:
		err = q.steer(q.r.Context(), name)
	case actions[name] != nil:
		to, err = actions[name](q, q.r.Context())
	default:
		return &refusal{http.StatusNotFound, "there is no such action"}
	}
	if err != nil {
		return err
	}
	if isScript(q.r) {
		if to != "" {
			q.w.Header().Set("X-Page-To", to)
		}
		q.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if to == "" {
		if to = q.r.PostFormValue("back"); !q.isOwn(to) {
			to = q.o.Path
		}
	}
	http.Redirect(q.w, q.r, to, http.StatusSeeOther)
	return nil
}

// field is a field of the form.
func (q *request) field(name string) string { return q.r.PostFormValue(name) }

// call calls an operation of the API, without the members that are empty.
func (q *request) call(ctx context.Context, arn, operation string, input map[string]string) (json.RawMessage, error) {
	for name, value := range input {
		if value == "" {
			delete(input, name)
		}
	}
	return q.o.World.Call(ctx, arn, operation, input)
}

func (q *request) start(ctx context.Context) (string, error) {
	machine := q.field("arn")
	out, err := q.call(ctx, machine, "StartExecution", map[string]string{
		"stateMachineArn": machine, "name": q.field("name"), "input": strings.TrimSpace(q.field("input")),
	})
	if err != nil {
		return "", err
	}
	var started struct {
		ExecutionARN string `json:"executionArn"`
	}
	if err := json.Unmarshal(out, &started); err != nil {
		return "", err
	}
	return q.runPath(started.ExecutionARN), nil
}

func (q *request) stop(ctx context.Context) (string, error) {
	arn := q.field("arn")
	_, err := q.call(ctx, arn, "StopExecution", map[string]string{"executionArn": arn, "error": q.field("error"), "cause": q.field("cause")})
	return "", err
}

func (q *request) redrive(ctx context.Context) (string, error) {
	arn := q.field("arn")
	_, err := q.call(ctx, arn, "RedriveExecution", map[string]string{"executionArn": arn})
	return "", err
}

func (q *request) skip(context.Context) (string, error) {
	return "", q.o.World.Skip(q.field("arn"), q.field("state"))
}

// answerToken answers a Task that waits for a callback.
func (q *request) answerToken(ctx context.Context) (string, error) {
	arn, token := q.field("arn"), q.field("taskToken")
	input := map[string]string{"taskToken": token}
	var operation string
	switch q.field("how") {
	case "success":
		operation, input["output"] = "SendTaskSuccess", strings.TrimSpace(q.field("output"))
	case "failure":
		operation, input["error"], input["cause"] = "SendTaskFailure", q.field("error"), q.field("cause")
	case "heartbeat":
		operation = "SendTaskHeartbeat"
	default:
		return "", fmt.Errorf("expected success, failure or heartbeat, found %.20q", q.field("how"))
	}
	_, err := q.call(ctx, arn, operation, input)
	return "", err
}

// setAnswer sets what the next call of a mocked Task gets.
func (q *request) setAnswer(context.Context) (string, error) {
	var output json.RawMessage
	if text := strings.TrimSpace(q.field("output")); text != "" {
		if !json.Valid([]byte(text)) {
			return "", fmt.Errorf("the answer is not JSON: %.60q", text)
		}
		output = json.RawMessage(text)
	}
	name := q.field("error")
	if (output == nil) == (name == "") {
		return "", errors.New("give the answer as JSON, or the name of an error")
	}
	return "", q.o.World.Answer(q.field("arn"), q.field("state"), output, name, q.field("cause"))
}
