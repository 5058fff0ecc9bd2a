package stepfunctions

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

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
	if len(parts) < 7 || parts[2] != "states" || !beginsARN().MatchString(arn) {
		return nil, fmt.Errorf(wanted, arn)
	}
	o := &Origin{ARN: arn, Region: parts[3], Account: parts[4], kind: parts[5], Machine: parts[6], qualifier: strings.Join(parts[7:], ":")}
	name, label, _ := strings.Cut(o.Machine, "/")
	switch {
	case !isName(name) || o.Machine != name && !isName(label):
		return nil, fmt.Errorf("%q has no name that a state machine can have: it takes up to %d characters, no blanks, and none of %s",
			arn, longestName, notInNames)
	case o.kind == "express":
		return nil, &ExpressError{ARN: arn, Machine: strings.Join(append(parts[:5:5], machineKind, name), ":")}
	case o.kind == machineKind && len(parts) <= 8, o.kind == executionKind && o.qualifier != "", o.kind == mapRunKind && o.qualifier != "":
		return o, nil
	}
	return nil, fmt.Errorf(wanted, arn)
}

// ExpressError is the error of the ARN of an Express execution.
type ExpressError struct {
	ARN, Machine string // Machine is the ARN of its state machine
}

// Error implements error.
func (e *ExpressError) Error() string {
	return fmt.Sprintf("%q is an Express execution: Step Functions keeps no history of it. Pass the file of its log: --durations FILE", e.ARN)
}

// The kinds of things that ARNs name.
const (
	machineKind   = "stateMachine"
	executionKind = "execution"
	mapRunKind    = "mapRun"
)

// beginsARN matches what stands before the kind in an ARN: partition, service, region and account.
var beginsARN = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws[a-z-]*:states:[a-z0-9-]+:[0-9]{12}:`)
})

// What names may not have, and how long they may be.
const (
	notInNames  = `< > { } [ ] ? * " # % \ ^ | ~ ` + "`" + ` $ & , ; : /`
	longestName = 80
)

// isName tells whether a text can be the name of a state machine, or a label.
func isName(text string) bool {
	runes := []rune(text)
	return len(runes) > 0 && len(runes) <= longestName && !slices.ContainsFunc(runes, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(notInNames, r)
	})
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
	if o.kind == executionKind {
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
