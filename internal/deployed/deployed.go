// Package deployed reads the definitions of state machines at AWS: those that an ARN
// names, and all of a region. Nothing that it calls changes anything.
package deployed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Parse reads an ARN of what has a definition: of a state machine, a version, an alias or
// an execution. Its error says what is wrong with it.
func Parse(arn string) (*stepfunctions.Origin, error) {
	o, err := stepfunctions.ParseOrigin(arn)
	if express, ok := errors.AsType[*stepfunctions.ExpressError](err); ok {
		return nil, fmt.Errorf("%q is an Express execution, of which Step Functions keeps no definition: pass %s", express.ARN, express.Machine)
	}
	if err == nil && o.IsMapRun() {
		return nil, fmt.Errorf("%q is a Map Run: pass the ARN of its execution or of its state machine", arn)
	}
	return o, err
}

// Read reads the definitions of what an ARN names: one, or those of the versions that an
// alias leads to. Its error is a *stepfunctions.CallError, beside the versions before it.
func Read(ctx context.Context, client *stepfunctions.Client, of *stepfunctions.Origin) ([]source.Deployed, error) {
	if !of.IsAlias() {
		m, err := client.Definition(ctx, of)
		if err != nil {
			return nil, nameKey(ctx, client, of.ARN, err)
		}
		return []source.Deployed{newDeployed(m)}, nil
	}
	routes, err := client.Routes(ctx, of.ARN)
	if err != nil {
		return nil, err
	}
	var all []source.Deployed
	for _, route := range routes {
		m, err := client.Describe(ctx, route.ARN)
		if err != nil {
			return all, nameKey(ctx, client, route.ARN, err)
		}
		d := newDeployed(m)
		d.Weight = route.Weight
		all = append(all, d)
	}
	return all, nil
}

func newDeployed(m *stepfunctions.Machine) source.Deployed {
	return source.Deployed{ARN: m.ARN, Text: layOut([]byte(m.Definition)), Type: m.Type}
}

// layOut puts a definition of one line on several, as jq does, so that places in it say
// something.
func layOut(text []byte) []byte {
	if bytes.Contains(bytes.TrimSpace(text), []byte("\n")) {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil || out.Len() > asl.MaxDefinitionBytes {
		return text
	}
	return out.Bytes()
}

// KeyError is the error of a definition whose key cannot be used.
type KeyError struct {
	Key string // the ARN or ID; empty if nobody says it
	Err error
}

// Error implements error.
func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the call.
func (e *KeyError) Unwrap() error { return e.Err }

// nameKey adds to an error of a key which one it is: the description without the
// definition says it.
func nameKey(ctx context.Context, client *stepfunctions.Client, arn string, err error) error {
	if code := codeOf(err); code != "KmsAccessDeniedException" && code != "KmsInvalidStateException" {
		return err
	}
	out := &KeyError{Err: err}
	if of, parsed := stepfunctions.ParseOrigin(arn); parsed == nil && !of.IsExecution() {
		if m, err := client.DescribeKey(ctx, arn); err == nil {
			out.Key = m.Key
		}
	}
	return out
}

// codeOf is the code of the service's error; empty if it is none.
func codeOf(err error) string {
	if coded, ok := errors.AsType[smithy.APIError](err); ok {
		return coded.ErrorCode()
	}
	return ""
}
