package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// quoted is a JSON string of that many bytes.
func quoted(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }

func TestPayloadLimits(t *testing.T) {
	t.Parallel()
	const whole = asl.MaxPayloadBytes
	const all, named = `, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`, `, "Catch": [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "Caught"}]`
	const resultCause = "The state/task 'aws-sdk:dynamodb' returned a result with a size exceeding the maximum number of bytes service limit."
	const outputCause = "The state/task 'S' returned a result with a size exceeding the maximum number of bytes service limit."
	tests := []struct {
		name, definition, input string
		handler                 sim.Handler
		cause                   string // empty: it succeeds
	}{
		{"result at the limit", task(``), `{}`, returns(quoted(whole)), ""},
		{"result above the limit", task(``), `{}`, returns(quoted(whole + 1)), resultCause},
		{"wide characters count in bytes", task(``), `{}`, returns(`"` + strings.Repeat("ö", whole/2) + `"`), resultCause},
		{"escapes count", task(``), `{}`, returns(`"` + strings.Repeat(`\n`, whole/2) + `"`), resultCause},
		{"result above the limit, caught", task(all), `{}`, returns(quoted(whole + 1)), ""},
		{"output above the limit", task(`, "ResultPath": "$.r"`), `{"a": ` + quoted(whole/2) + `}`, returns(quoted(whole / 2)), outputCause},
		{"output above the limit is out of reach of States.ALL", task(`, "ResultPath": "$.r"` + all), `{"a": ` + quoted(whole/2) + `}`, returns(quoted(whole / 2)), outputCause},
		{"output above the limit, caught by name", task(`, "ResultPath": "$.r"` + named), `{"a": ` + quoted(whole/2) + `}`, returns(quoted(whole / 2)), ""},
		{"output below the limit after OutputPath", task(`, "ResultPath": "$.r", "OutputPath": "$.r"`), `{"a": ` + quoted(whole/2) + `}`, returns(quoted(whole / 2)), ""},
		{"output at the limit", task(`, "ResultPath": "$.r"`), `{"a": ` + quoted(whole/2) + `}`, returns(quoted(whole/2 - len(`{"a":,"r":}`))), ""},
		{"output with a member replaced at the limit", task(`, "ResultPath": "$.r"`), `{"a": ` + quoted(whole/2) + `, "r": "old"}`, returns(quoted(whole/2 - len(`{"a":,"r":}`))), ""},
		{"output with a member replaced above it", task(`, "ResultPath": "$.r"`), `{"a": ` + quoted(whole/2) + `, "r": "old"}`, returns(quoted(whole/2 + 1 - len(`{"a":,"r":}`))), outputCause},
		{"arguments above the limit", task(`, "Parameters": {"a.$": "$", "b.$": "$"}`), quoted(whole / 2), returns(`1`), outputCause},
		{"output of Pass", `{"StartAt": "S", "States": {"S": {"Type": "Pass", "Parameters": {"a.$": "$", "b.$": "$"}, "End": true}}}`, quoted(whole / 2), nil, outputCause},
		{"input at the limit", `{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}`, quoted(whole), nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.definition, tt.input, tt.handler, sim.Options{})
			if tt.cause == "" {
				require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
				return
			}
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, "States.DataLimitExceeded", r.Error)
			require.Equal(t, tt.cause, r.Cause)
		})
	}
}

func TestHistoryLimit(t *testing.T) {
	t.Parallel()
	const cause = "The execution reached the maximum number of history events (25000)."
	tests := []struct {
		name, definition string
		last             sim.EventType // before the end
	}{
		{"loop", `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "Next": "C"},
			"C": {"Type": "Choice", "Choices": [{"Variable": "$.done", "IsPresent": true, "Next": "Z"}], "Default": "W"}, "Z": {"Type": "Succeed"}}}`, "WaitStateExited"},
		{"loop of an odd number", `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "Catch": [{"ErrorEquals": ["E"], "Next": "Z"}], "Next": "S"}, "Z": {"Type": "Succeed"}}}`, sim.TaskStarted},
		{"retries", task(`, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 99999, "BackoffRate": 1}]`), sim.TaskScheduled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			handler := returns(`{}`)
			if tt.name == "retries" {
				handler = failsWith("E", "")
			}
			calls := 0
			h := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
				calls++
				return handler(ctx, call)
			}
			r := run(t, tt.definition, `{}`, h, sim.Options{})
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, "States.Runtime", r.Error)
			require.Equal(t, cause, r.Cause)
			require.Len(t, r.Events, asl.MaxEvents)
			end := r.Events[asl.MaxEvents-1]
			require.Equal(t, sim.ExecutionFailed, end.Type)
			require.EqualValues(t, asl.MaxEvents, end.ID)
			require.EqualValues(t, asl.MaxEvents-1, end.PreviousEventID)
			require.Equal(t, tt.last, r.Events[asl.MaxEvents-2].Type)
			started := 0
			for _, e := range r.Events {
				if e.Type == sim.TaskStarted {
					started++
				}
			}
			require.Equal(t, started, calls, "no call is made that has no room for its start")
		})
	}
}

// The end of an execution that succeeds may be event 25,000; one state more
// has no room.
func TestHistoryLimitAtTheEnd(t *testing.T) {
	t.Parallel()
	// 1 for the start, 9 for each of 2,775 rounds, 7 for the last poll, 2 for
	// each Pass, 1 for the end.
	const rounds = 2_775
	for passes, status := range map[int]sim.Status{8: sim.StatusSucceeded, 9: sim.StatusFailed} {
		loops := 0
		h := func(context.Context, sim.Call) (sim.Reply, error) {
			loops++
			return sim.Reply{Output: map[string]any{"done": loops > rounds}}, nil
		}
		definition := `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "Next": "C"},
			"C": {"Type": "Choice", "Choices": [{"Variable": "$.done", "BooleanEquals": true, "Next": "P1"}], "Default": "W"},
			"W": {"Type": "Wait", "Seconds": 1, "Next": "S"}`
		for i := range passes {
			next := `"End": true`
			if i+1 < passes {
				next = fmt.Sprintf(`"Next": "P%d"`, i+2)
			}
			definition += fmt.Sprintf(`, "P%d": {"Type": "Pass", %s}`, i+1, next)
		}
		r := run(t, definition+`}}`, `{}`, h, sim.Options{})
		require.Equal(t, status, r.Status)
		require.Len(t, r.Events, asl.MaxEvents)
	}
}

// An Express workflow has five minutes, any other a year.
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 99999999, "End": true}}}`
	for _, tt := range []struct {
		express bool
		want    time.Duration
	}{{true, 5 * time.Minute}, {false, 365 * 24 * time.Hour}} {
		r, err := sim.Run(t.Context(), parse(t, definition), nil, sim.Options{Express: tt.express})
		require.NoError(t, err)
		require.Equal(t, sim.StatusTimedOut, r.Status)
		require.Equal(t, tt.want, r.Duration())
	}
}

// A Task whose arguments are too large leaves no event, so a retrier of that
// error ran for ever.
func TestRetriesThatLeaveNoEventsEnd(t *testing.T) {
	t.Parallel()
	half := quoted(asl.MaxPayloadBytes / 2)
	retry := `, "Parameters": {"a.$": "$", "b.$": "$"}, "Retry": [{"ErrorEquals": ["States.DataLimitExceeded"], "IntervalSeconds": 1, "BackoffRate": 1, "MaxAttempts": 99999999}]`
	o := sim.Options{Handlers: map[string]sim.Handler{describe: returns(`1`)}}
	o.LimitBudget(1000, 1<<40)
	_, err := sim.Run(t.Context(), parse(t, task(retry)), []byte(half), o)
	require.ErrorIs(t, err, sim.ErrTooMuch)
	require.ErrorContains(t, err, "events and attempts")
	o.LimitBudget(1<<40, 100*asl.MaxPayloadBytes)
	_, err = sim.Run(t.Context(), parse(t, task(retry)), []byte(half), o)
	require.ErrorIs(t, err, sim.ErrTooMuch)
	require.ErrorContains(t, err, "payloads")
}

// Each child execution of a distributed Map has 25,000 events of its own, and
// there may be a hundred thousand children.
func TestEventsOfAllChildExecutionsAreLimited(t *testing.T) {
	t.Parallel()
	definition := distributed("STANDARD", `, "ToleratedFailurePercentage": 100`)
	o := sim.Options{Handlers: map[string]sim.Handler{function: returns(`{}`)}}
	input := []byte("[" + strings.Repeat("1,", 99) + "1]")
	r, err := sim.Run(t.Context(), parse(t, definition), input, o)
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status)
	o.LimitBudget(500, 1<<40)
	_, err = sim.Run(t.Context(), parse(t, definition), input, o)
	require.ErrorIs(t, err, sim.ErrTooMuch)
}

// A definition may hold the same large value any number of times, which took as
// long as all of its text.
func TestPayloadsThatHoldAValueManyTimes(t *testing.T) {
	t.Parallel()
	const times = 20_000
	members := make([]string, times)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d.$": "$"`, i)
	}
	definition := `{"StartAt": "S", "States": {"S": {"Type": "Pass", "Parameters": {` + strings.Join(members, ", ") + `}, "End": true}}}`
	r := run(t, definition, `[`+strings.Repeat(`1,`, asl.MaxPayloadBytes/2-2)+`1]`, nil, sim.Options{})
	require.Equal(t, "States.DataLimitExceeded", r.Error)
}

// A Standard execution whose every payload has the largest size is within the
// budget, as it is at AWS.
func TestLargestStandardExecutionIsWithinTheBudget(t *testing.T) {
	t.Parallel()
	const passes = asl.MaxEvents / 2
	require.Greater(t, sim.WholeBudgetBytes, int64(passes*asl.MaxPayloadBytes))
}

// What cannot be simulated is refused where it stands, not skipped.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, definition string
		options          sim.Options
		pointer, message string
	}{
		{
			"placeholder for a number", `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": "${Seconds}", "End": true}}}`,
			sim.Options{},
			"/States/W/Seconds", `the placeholder "${Seconds}" needs a value`,
		},
		{
			"job in an Express workflow", `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + startJobRun + `", "Parameters": {"JobName": "j"}, "End": true}}}`,
			sim.Options{Express: true},
			"/States/T/Resource", "does not support \".sync\"",
		},
		{"distributed Map in an Express workflow", distributed("EXPRESS", ``), sim.Options{Express: true}, "/States/M/ItemProcessor/ProcessorConfig/Mode", "cannot have a distributed Map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.Handlers = map[string]sim.Handler{describe: returns(`1`), startJobRun: returns(`1`)}
			_, err := sim.Run(t.Context(), parse(t, tt.definition), []byte(`[1]`), tt.options)
			var problems diag.Problems
			require.ErrorAs(t, err, &problems)
			require.Len(t, problems, 1)
			require.Equal(t, tt.pointer, problems[0].Pointer)
			require.Contains(t, problems[0].Message, tt.message)
			require.Positive(t, problems[0].Line)
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExpot", "Parameters": {"ExportArn": "e"}, "Next": "B"},
		"B": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"QueueUrl": "q", "MessageBody": "m"}, "Next": "C"},
		"C": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "Next": "D"},
		"D": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:1:activity:a", "Next": "E"},
		"E": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "Next": "F"},
		"F": {"Type": "Task", "Resource": "`+function+`", "End": true}}}`)
	_, err := sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{describe: returns(`1`), function: nil}})
	var resources *sim.ResourceError
	require.ErrorAs(t, err, &resources)
	require.EqualError(t, err, `2:37: state "A": resource "arn:aws:states:::aws-sdk:dynamodb:describeExpot" has no handler (did you mean "`+describe+`"?)
3:37: state "B": resource "arn:aws:states:::sqs:sendMessage.waitForTaskToken" has no handler
4:37: state "C": resource "arn:aws:states:::glue:startJobRun.sync" has no handler
5:37: state "D": resource "arn:aws:states:us-east-1:1:activity:a" has no handler
7:37: state "F": resource "`+function+`" has no handler
there are handlers for `+describe)
	require.Equal(t, []string{describe}, resources.Handlers)
	require.Equal(t, "/States/A/Resource", resources.Tasks[0].Position.Pointer)

	succeed := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}`)
	_, err = sim.Run(t.Context(), parse(t, task(``)), nil, sim.Options{})
	require.ErrorContains(t, err, "no resource has a handler")

	_, err = sim.Run(t.Context(), succeed, []byte(quoted(asl.MaxPayloadBytes+1)), sim.Options{})
	var size *sim.InputSizeError
	require.ErrorAs(t, err, &size)
	require.Equal(t, asl.MaxPayloadBytes+1, size.Size)
	require.EqualError(t, err, "execution input has 262145 bytes; the limit is 262144")

	_, err = sim.Run(t.Context(), succeed, []byte(`{"a": }`), sim.Options{})
	var problems diag.Problems
	require.ErrorAs(t, err, &problems)
	require.ErrorContains(t, err, "execution input: 1:7: not valid JSON")

	_, err = sim.Run(t.Context(), succeed, nil, sim.Options{Execution: "a:b"})
	require.ErrorContains(t, err, `option Execution: "a:b" is not a name`)
}

// An error of a handler that is no TaskError is the test's, not the
// execution's.
func TestBrokenHandlers(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name    string
		handler sim.Handler
		want    string
	}{
		{"error", func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, broken }, `state "S": handler of "` + describe + `": broken`},
		{"output", func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Output: func() {}}, nil }, "output is not JSON"},
		{"no error name", failsWith("", "c"), "a TaskError needs a Name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, task(`, "Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`))
			r, err := sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{describe: tt.handler}})
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, []any{sim.StatusAborted, "", err.Error()}, []any{r.Status, r.Error, r.Cause})
			require.Len(t, r.Events, 5, "start, entry, two of the call, and the end")
			end := r.Events[4]
			require.Equal(t, []any{sim.ExecutionAborted, int64(0), err.Error()}, []any{end.Type, end.PreviousEventID, end.Details().Cause})
			require.Equal(t, tt.name == "error", errors.Is(err, broken))
		})
	}
}

// The values that one template makes are refused before they fill the memory,
// although each of them is small enough: the last is not evaluated.
func TestTemplatesThatMakeTooMuchEnd(t *testing.T) {
	t.Parallel()
	const cause = "The state/task 'S' returned a result with a size exceeding the maximum number of bytes service limit."
	definition := func(fields, field, member, last string) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, `"m%d%s,`, i, member)
		}
		return `{"StartAt": "S", "States": {"S": {"Type": "Pass", "End": true, ` + fields + `"` + field + `": {` + b.String() + `"last` + last + `}}}}`
	}
	const path, jsonata, fails = `.$": "$.none"`, `"QueryLanguage": "JSONata", `, `": "{% $error('evaluated') %}"`
	input := `{"s": "[` + strings.Repeat("1,", 100_000) + `1]"}`
	for name, text := range map[string]string{
		"intrinsic functions": definition(``, "Parameters", `.$": "States.StringToJson($.s)"`, path),
		"lists of paths":      definition(``, "Parameters", `.$": "$..*"`, path),
		"JSONata":             definition(jsonata, "Output", `": "{% [1..100000] %}"`, fails),
		"variables":           definition(jsonata, "Assign", `": "{% [1..100000] %}"`, fails),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, text, input, nil, sim.Options{})
			require.Equal(t, []string{"States.DataLimitExceeded", cause}, []string{r.Error, r.Cause})
		})
	}
}

// The batches of a distributed Map are made before the first child starts.
func TestBatchesThatHoldTooMuchEnd(t *testing.T) {
	t.Parallel()
	definition := distributed("STANDARD", `, "ItemsPath": "$.i", "ItemSelector": {"s.$": "$.s"}, "ItemBatcher": {"MaxItemsPerBatch": 2}`)
	o := sim.Options{Handlers: map[string]sim.Handler{function: returns(`1`)}}
	o.LimitBudget(1<<40, 100_000)
	_, err := sim.Run(t.Context(), parse(t, definition), []byte(`{"s": `+quoted(1000)+`, "i": [`+strings.Repeat("1,", 200)+`1]}`), o)
	require.ErrorIs(t, err, sim.ErrTooMuch)
}

// A cause that quotes what an expression made has no more than AWS's API has room
// for: each attempt of a Task may leave one in the history.
func TestCausesAreBounded(t *testing.T) {
	t.Parallel()
	for _, field := range []string{`"TimeoutSeconds": "{% [1..100000] %}"`, `"Output": "{% $error($string([1..100000])) %}"`} {
		r := run(t, jsonata(`"S": {"Type": "Task", "Resource": "`+describe+`", "Arguments": {}, "End": true, `+field+`}`), `{}`, returns(`{}`), sim.Options{})
		require.Equal(t, "States.QueryEvaluationError", r.Error)
		require.Equal(t, 32_768, len(r.Cause)) //nolint:testifylint // Len would print the text
	}
}
