package stepfunctions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Origin names executions: those of a state machine, or of one of its versions or
// aliases, or of a Map Run, or one execution alone.
type Origin struct {
	// ARN is as the user gave it.
	ARN, Region, Account string
	// Machine is what ARNs of the executions have for the name of their state machine:
	// MACHINE, or MACHINE/LABEL of a Map Run.
	Machine string

	kind      string // stateMachine, execution or mapRun
	qualifier string // a version, an alias, or the name
}

// ParseOrigin reads the ARN of a state machine, a version, an alias, a Map Run or an
// execution. Its error says what is wrong with it.
func ParseOrigin(arn string) (*Origin, error) {
	parts := strings.Split(arn, ":")
	const wanted = "expected the ARN of a state machine, such as arn:aws:states:us-east-1:123456789012:stateMachine:NAME, found %q"
	if len(parts) < 7 || parts[0] != "arn" || parts[2] != "states" || parts[3] == "" || parts[6] == "" {
		return nil, fmt.Errorf(wanted, arn)
	}
	o := &Origin{ARN: arn, Region: parts[3], Account: parts[4], kind: parts[5], Machine: parts[6], qualifier: strings.Join(parts[7:], ":")}
	switch {
	case o.kind == "express":
		return nil, fmt.Errorf("%q is an Express execution: Step Functions keeps no history of it. Pass the file of its log: --durations FILE", arn)
	case o.kind == "stateMachine" && len(parts) <= 8, o.kind == "execution" && o.qualifier != "", o.kind == "mapRun" && o.qualifier != "":
		return o, nil
	}
	return nil, fmt.Errorf(wanted, arn)
}

// String names the executions for people.
func (o *Origin) String() string {
	if o.qualifier != "" {
		return o.Machine + ":" + o.qualifier
	}
	return o.Machine
}

// Has tells whether an execution is one of the same state machine.
func (o *Origin) Has(executionARN string) bool {
	parts := strings.Split(executionARN, ":")
	return len(parts) > 7 && parts[3] == o.Region && parts[4] == o.Account && parts[6] == o.Machine
}

// Ended is an execution that has ended.
type Ended struct {
	ARN string
	// Start and Redrives are zero where the origin is the execution itself.
	Start    time.Time
	Redrives int
}

// What a list may have. An account has at most a million open executions.
const (
	listSize  = 1000
	listPages = 2000
)

// ListEnded lists the executions that have ended, the newest first: at most so many,
// and only those that started after a time and are wanted. Its error is a *CallError.
func (c *Client) ListEnded(ctx context.Context, o *Origin, most int, after time.Time, wanted func(arn string) bool) ([]Ended, error) {
	if o.kind == "execution" {
		return []Ended{{ARN: o.ARN}}, nil
	}
	const operation = "ListExecutions"
	input := map[string]any{o.kind + "Arn": o.ARN, "maxResults": json.Number(strconv.Itoa(listSize))}
	seen := map[string]bool{}
	var all []Ended
	for page := 0; ; page++ {
		var answer struct {
			Executions []struct {
				ExecutionArn, Status string
				StartDate            time.Time
				RedriveCount         int
			}
			NextToken string
		}
		err := c.persist(ctx, func(ctx context.Context) error {
			answer.Executions, answer.NextToken = nil, ""
			if err := c.pace(ctx, operation, o.Region); err != nil {
				return err
			}
			return c.do(ctx, operation, input, &answer)
		})
		if err != nil {
			return nil, err
		}
		older := len(answer.Executions) > 0
		for _, e := range answer.Executions {
			older = older && e.StartDate.Before(after)
			switch {
			case !o.Has(e.ExecutionArn):
				return nil, failCall(operation, fmt.Errorf("%w: it lists %q, which is no execution of %s", ErrAnswer, e.ExecutionArn, o.Machine))
			case seen[e.ExecutionArn], e.StartDate.Before(after):
				continue
			}
			seen[e.ExecutionArn] = true
			if e.Status != history.StatusRunning && e.Status != "PENDING_REDRIVE" && wanted(e.ExecutionArn) {
				if all = append(all, Ended{e.ExecutionArn, e.StartDate, e.RedriveCount}); len(all) == most {
					return all, nil
				}
			}
		}
		switch {
		case answer.NextToken == "", older:
			return all, nil
		case seen[answer.NextToken], page == listPages:
			return nil, failCall(operation, fmt.Errorf("%w: its pages do not end", ErrAnswer))
		}
		seen[answer.NextToken] = true
		input["nextToken"] = answer.NextToken
	}
}

// History reads the history of an execution. Its error is a *CallError, or matches
// ErrAnswer.
func (c *Client) History(ctx context.Context, arn string) (*history.Execution, error) {
	r := c.Record(arn)
	err := c.persist(ctx, func(ctx context.Context) error {
		_, err := r.Update(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.Execution()
}

// Definition reads the definition of the state machine. Its error is a *CallError.
func (c *Client) Definition(ctx context.Context, o *Origin) (text []byte, as asl.ExecutionType, err error) {
	operation, input := "DescribeStateMachine", map[string]any{"stateMachineArn": o.machineARN()}
	if o.kind == "execution" {
		operation, input = "DescribeStateMachineForExecution", map[string]any{"executionArn": o.ARN}
	}
	var answer struct{ Definition, Type string }
	if err := c.persist(ctx, func(ctx context.Context) error { return c.do(ctx, operation, input, &answer) }); err != nil {
		return nil, "", err
	}
	return []byte(answer.Definition), asl.ExecutionType(answer.Type), nil
}

// machineARN is what DescribeStateMachine takes: the ARN of the state machine or of a
// version. An alias may lead to two versions.
func (o *Origin) machineARN() string {
	if _, err := strconv.Atoi(o.qualifier); err == nil && o.kind == "stateMachine" {
		return o.ARN
	}
	parts := strings.Split(o.ARN, ":")
	name, _, _ := strings.Cut(o.Machine, "/")
	return strings.Join(append(parts[:5:5], "stateMachine", name), ":")
}
