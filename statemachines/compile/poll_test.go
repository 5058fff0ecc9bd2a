package compile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// athena is a service that runs one query: it ends after a time, in a state.
type athena struct {
	clock    *sim.Clock
	ends     time.Duration
	state    string
	reason   any // StateChangeReason
	refused  *sim.TaskError
	noStop   *sim.TaskError
	requests []string // by action and arguments
}

func (a *athena) handlers() map[string]sim.Handler {
	handle := func(action string, answer func() (any, *sim.TaskError)) (string, sim.Handler) {
		return "arn:aws:states:::aws-sdk:athena:" + action, func(_ context.Context, call sim.Call) (sim.Reply, error) {
			arguments, err := json.Marshal(call.Arguments)
			if err != nil {
				return sim.Reply{}, err
			}
			if request := action + " " + string(arguments); len(a.requests) == 0 || a.requests[len(a.requests)-1] != request {
				a.requests = append(a.requests, request)
			}
			output, failed := answer()
			if failed != nil {
				return sim.Reply{}, failed
			}
			return sim.Reply{Output: output}, nil
		}
	}
	all := map[string]sim.Handler{}
	for action, answer := range map[string]func() (any, *sim.TaskError){
		"startQueryExecution": func() (any, *sim.TaskError) { return map[string]any{"QueryExecutionId": "q-1"}, a.refused },
		"stopQueryExecution":  func() (any, *sim.TaskError) { return map[string]any{}, a.noStop },
		"getQueryExecution": func() (any, *sim.TaskError) {
			status := map[string]any{"State": "RUNNING"}
			if a.clock.Now().Sub(sim.DefaultStart()) >= a.ends {
				status = map[string]any{"State": a.state}
				if a.reason != nil {
					status["StateChangeReason"] = a.reason
				}
			}
			return map[string]any{"QueryExecution": map[string]any{"QueryExecutionId": "q-1", "Status": status}}, nil
		},
	} {
		resource, handler := handle(action, answer)
		all[resource] = handler
	}
	return all
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// A job is started once, with a token, described by what the start gave, and
// stopped when its time is over.
func TestStartAndStop(t *testing.T) {
	t.Parallel()
	start := `startQueryExecution {"ClientRequestToken":"UUID","QueryString":"SELECT 1"}`
	get, stop := `getQueryExecution {"QueryExecutionId":"q-1"}`, `stopQueryExecution {"QueryExecutionId":"q-1"}`
	failed := &sim.TaskError{Name: "Athena.InvalidRequestException", Cause: "no such table"}
	for name, c := range map[string]struct {
		job      athena
		status   string
		reason   string
		requests []string
	}{
		"success": {athena{ends: 5 * time.Minute, state: "SUCCEEDED"}, "SUCCEEDED", `(acceptor 1 of 5)`, []string{start, get}},
		"failure": {
			athena{ends: 5 * time.Minute, state: "FAILED", reason: "no such table"},
			"FAILED",
			`QueryExecution.Status.State == "FAILED" (acceptor 2 of 5): no such table`,
			[]string{start, get},
		},
		"failure without a message": {
			athena{ends: 5 * time.Minute, state: "CANCELLED"}, "FAILED", `QueryExecution.Status.State == "CANCELLED" (acceptor 3 of 5)`, []string{start, get},
		},
		"failure with an empty message": {
			athena{ends: 5 * time.Minute, state: "CANCELLED", reason: ""},
			"FAILED",
			`QueryExecution.Status.State == "CANCELLED" (acceptor 3 of 5)`,
			[]string{start, get},
		},
		"time-out":              {athena{ends: 5 * time.Hour}, "TIMED_OUT", "not finished after ", []string{start, get, stop}},
		"time-out without stop": {athena{ends: 5 * time.Hour, noStop: failed}, "TIMED_OUT", "not finished after ", []string{start, get, stop}},
		"refused start": {
			athena{refused: failed}, "FAILED", "the job could not be started: Athena.InvalidRequestException: no such table", []string{start},
		},
	} {
		for _, s := range noLambda {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				t.Parallel()
				job := c.job
				job.clock = sim.NewVirtualClock(sim.DefaultStart())
				m := compiled(t, "athena", "StartQueryExecution", compile.Options{Strategy: s, MaxWait: 30 * time.Minute})
				result, err := sim.Run(t.Context(), m.Machine, []byte(`{"QueryString": "SELECT 1"}`), sim.Options{Clock: job.clock, Handlers: job.handlers()})
				require.NoError(t, err)
				status, reason := ended(t, result)
				require.Equal(t, c.status, status)
				switch status {
				case "SUCCEEDED": // then it is the whole output
					require.Contains(t, reason, c.reason)
				case "TIMED_OUT":
					require.True(t, strings.HasPrefix(reason, c.reason), reason)
					require.True(t, strings.HasSuffix(reason, ": QueryExecution.Status.State = RUNNING"), reason)
				default:
					require.Equal(t, c.reason, reason)
				}
				require.Equal(t, c.requests, withoutUUIDs(job.requests))
			})
		}
	}
}

func withoutUUIDs(requests []string) []string {
	all := make([]string, len(requests))
	for i, r := range requests {
		all[i] = uuid.ReplaceAllString(r, "UUID")
	}
	return all
}

// The result of a wait has what the Lambda functions tell, too.
func TestResult(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	running := map[string]any{"ExportDescription": map[string]any{"ExportStatus": "IN_PROGRESS"}}
	done := map[string]any{"ExportDescription": map[string]any{"ExportStatus": "COMPLETED", "ItemCount": 7}}
	for _, s := range noLambda {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			o := compile.Options{Strategy: s, MaxWait: time.Hour, MinDelay: 30 * time.Second, MaxDelay: 30 * time.Second}
			m, err := compile.Compile(e.Waiter, compile.Call{Operation: e.Operation}, o)
			require.NoError(t, err)
			result, calls := polled(t, m, e.Operation, []any{running, running, done})
			require.Equal(t, 3, calls)
			var got map[string]any
			require.NoError(t, json.Unmarshal(result.Output, &got))
			want := map[string]any{
				"status": "SUCCEEDED", "attempt": 3.0, "reason": `ExportDescription.ExportStatus == "COMPLETED" (acceptor 1 of 2)`,
				"output": map[string]any{"ExportDescription": map[string]any{"ExportStatus": "COMPLETED", "ItemCount": 7.0}},
			}
			require.Equal(t, sim.DefaultStart().Format("2006-01-02T15:04:05.000Z"), got["startedAt"])
			if s != compile.Loop { // JSONPath cannot tell the time between two timestamps
				want["elapsedSeconds"] = 60.0
			}
			delete(got, "startedAt")
			require.Equal(t, want, got)
		})
	}
}

// A time-out says what was seen last, as far as it was there.
func TestSeenLast(t *testing.T) {
	t.Parallel()
	describe := operation(t, "dynamodb", "DescribeExport")
	status, stage := pollcore.Output("ExportDescription.ExportStatus"), pollcore.Output("ExportDescription.ExportFormat")
	errors := pollcore.MustNew("Errors", pollcore.Succeed(status.Is("COMPLETED")), pollcore.Again(pollcore.ErrorType("ExportNotFoundException")))
	two := pollcore.MustNew("Two", pollcore.Succeed(status.Is("COMPLETED")), pollcore.Fail(stage.Is("CSV")))
	again := pollcore.MustNew("Again", pollcore.Again(status.Is("IN_PROGRESS")), pollcore.Succeed(pollcore.AnyResponse()))
	number := pollcore.MustNew("Number", pollcore.Succeed(pollcore.Output("ExportDescription.ItemCount > `5`").IsTrue()))
	export := func(members map[string]any) any { return map[string]any{"ExportDescription": members} }
	for name, c := range map[string]struct {
		waiter *pollcore.Waiter
		answer any
		want   map[compile.Strategy]string // behind "seen "; empty if it says nothing
	}{
		"one": {errors, export(map[string]any{"ExportStatus": "IN_PROGRESS"}), map[compile.Strategy]string{
			compile.Loop: "ExportDescription.ExportStatus = IN_PROGRESS", compile.Variables: "ExportDescription.ExportStatus = IN_PROGRESS",
			compile.RetryTask: "ExportDescription.ExportStatus = IN_PROGRESS",
		}},
		"both": {two, export(map[string]any{"ExportStatus": "IN_PROGRESS", "ExportFormat": "ION"}), map[compile.Strategy]string{
			compile.Loop:      "ExportDescription.ExportStatus = IN_PROGRESS, ExportDescription.ExportFormat = ION",
			compile.Variables: "ExportDescription.ExportStatus = IN_PROGRESS, ExportDescription.ExportFormat = ION",
			compile.RetryTask: "ExportDescription.ExportStatus = IN_PROGRESS, ExportDescription.ExportFormat = ION",
		}},
		"one of both": {two, export(map[string]any{"ExportStatus": "IN_PROGRESS"}), map[compile.Strategy]string{
			compile.Loop: "", compile.Variables: "ExportDescription.ExportStatus = IN_PROGRESS, ExportDescription.ExportFormat = ",
			compile.RetryTask: "ExportDescription.ExportStatus = IN_PROGRESS, ExportDescription.ExportFormat = ",
		}},
		"what an acceptor goes on for": {again, export(map[string]any{"ExportStatus": "IN_PROGRESS"}), map[compile.Strategy]string{
			compile.Loop:      `ExportDescription.ExportStatus == "IN_PROGRESS" (acceptor 1 of 2)`,
			compile.Variables: "ExportDescription.ExportStatus = IN_PROGRESS", compile.RetryTask: "ExportDescription.ExportStatus = IN_PROGRESS",
		}},
		"nothing": {errors, map[string]any{}, map[compile.Strategy]string{
			compile.Loop: "", compile.Variables: "ExportDescription.ExportStatus = ", compile.RetryTask: "ExportDescription.ExportStatus = ",
		}},
		"an error": {errors, &sim.TaskError{Name: "DynamoDb.ExportNotFoundException", Cause: "no export"}, map[compile.Strategy]string{
			compile.Loop: "DynamoDb.ExportNotFoundException: no export", compile.Variables: "DynamoDb.ExportNotFoundException: no export",
			compile.RetryTask: "DynamoDb.ExportNotFoundException: no export",
		}},
		"what JSONata cannot compare": {number, export(map[string]any{"ItemCount": "many"}), map[compile.Strategy]string{
			compile.RetryTask: "States.QueryEvaluationError: ",
		}},
	} {
		for s, want := range c.want {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				t.Parallel()
				m, err := compile.Compile(c.waiter, compile.Call{Operation: describe}, compile.Options{Strategy: s, MaxWait: 5 * time.Minute})
				require.NoError(t, err)
				result, _ := polled(t, m, describe, []any{c.answer})
				status, reason := ended(t, result)
				require.Equal(t, "TIMED_OUT", status, reason)
				_, seen, found := strings.Cut(reason, ": ")
				require.Equal(t, want != "", found, reason)
				if strings.HasPrefix(want, "States.") {
					require.Contains(t, seen, want)
					require.Contains(t, seen, "ItemCount", "the cause says which expression")
				} else {
					require.Equal(t, want, seen)
				}
			})
		}
	}
}

// Two pollers in one machine, of the same entry: the second waits for what the
// first has started.
func TestFragments(t *testing.T) {
	t.Parallel()
	for _, first := range noLambda {
		for _, second := range noLambda {
			t.Run(string(first)+" and "+string(second), func(t *testing.T) {
				t.Parallel()
				for _, c := range []struct {
					state, want string
				}{{"SUCCEEDED", "BothDone"}, {"FAILED", "OneFailed"}, {"RUNNING", "OneLate"}} {
					job := athena{clock: sim.NewVirtualClock(sim.DefaultStart()), ends: time.Minute, state: c.state}
					result, err := sim.Run(t.Context(), merged(t, first, second), []byte(`{"QueryString": "SELECT 1"}`),
						sim.Options{Clock: job.clock, Handlers: job.handlers()})
					require.NoError(t, err)
					require.Equal(t, sim.StatusSucceeded, result.Status, "%s: %s", result.Error, result.Cause)
					require.Equal(t, 1, result.Visits[c.want], "%v", result.Visits)
					var output struct {
						Status pollcore.Status `json:"status"`
					}
					require.NoError(t, json.Unmarshal(result.Output, &output))
					require.Equal(t, map[string]pollcore.Status{"SUCCEEDED": "SUCCEEDED", "FAILED": "FAILED", "RUNNING": "TIMED_OUT"}[c.state], output.Status)
				}
			})
		}
	}
}

// merged is a machine of two fragments.
func merged(t *testing.T, first, second compile.Strategy) *asl.StateMachine {
	t.Helper()
	states := map[string]any{}
	add := func(prefix string, s compile.Strategy, done string) string {
		exits := map[pollcore.Status]string{pollcore.Succeeded: done, pollcore.Failed: "OneFailed", pollcore.TimedOut: "OneLate"}
		m := compiled(t, "athena", "StartQueryExecution", compile.Options{
			Strategy: s, MaxWait: 10 * time.Minute, Prefix: prefix, Exits: exits,
		})
		var definition struct {
			States map[string]any `json:"States"`
		}
		require.NoError(t, json.Unmarshal(asl.Print(m.Machine), &definition))
		for _, exit := range exits {
			delete(definition.States, exit)
		}
		for name := range definition.States {
			require.NotContains(t, states, name)
			require.True(t, strings.HasPrefix(name, prefix), name)
			require.LessOrEqual(t, len(name), 80)
		}
		maps.Copy(states, definition.States)
		return m.StartAt
	}
	start := add("First", first, "Between")
	states["Between"] = map[string]any{"Type": "Pass", "Parameters": map[string]any{"QueryString": "SELECT 2"}, "Next": add("Second", second, "BothDone")}
	for _, name := range []string{"BothDone", "OneFailed", "OneLate"} {
		states[name] = map[string]any{"Type": "Pass", "End": true}
	}
	text, err := json.Marshal(map[string]any{"StartAt": start, "States": states})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err, fmt.Sprint(string(text)))
	return m
}

// A token of the user's own is the one that the service gets, so that a job can
// be started once for more than one execution.
func TestTokenOfTheUser(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	const input = `{"QueryString": "SELECT 1", "ClientRequestToken": "orders-2026-11-21"}`
	given := func(name string, value any) map[string]any {
		return map[string]any{"QueryString": "SELECT 1", name: value}
	}
	for _, s := range noLambda {
		path, value := "ClientRequestToken", "{% $states.input.ClientRequestToken %}"
		if s == compile.Loop {
			path, value = "ClientRequestToken.$", "$.ClientRequestToken"
		}
		for name, arguments := range map[string]map[string]any{
			"input": nil, "arguments": given("ClientRequestToken", "orders-2026-11-21"), "expression": given(path, value),
		} {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				t.Parallel()
				call := compile.CallOf(e)
				call.Start.Arguments = arguments
				m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: s, MaxWait: time.Hour})
				require.NoError(t, err)
				job := athena{clock: sim.NewVirtualClock(sim.DefaultStart()), state: "SUCCEEDED"}
				result, err := sim.Run(t.Context(), m.Machine, []byte(input), sim.Options{Clock: job.clock, Handlers: job.handlers()})
				require.NoError(t, err)
				require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
				require.Equal(t, `startQueryExecution {"ClientRequestToken":"orders-2026-11-21","QueryString":"SELECT 1"}`, job.requests[0])
			})
		}
	}
}

// The Lambda functions are told what no call of the machine's says.
func TestRequestOfTheFunctions(t *testing.T) {
	t.Parallel()
	query, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	for _, s := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
		for name, c := range map[string]struct {
			waiter *pollcore.Waiter
			change func(c *compile.Call)
			want   map[string]any // of the request
		}{
			"stopped":     {query.Waiter, func(*compile.Call) {}, map[string]any{"onTimeout": nil}},
			"not stopped": {query.Waiter, func(c *compile.Call) { c.Stop = nil }, map[string]any{"onTimeout": "leave"}},
			"driver of one's own": {
				query.Waiter, func(c *compile.Call) { c.Stop, c.Job = nil, "acme:Query" }, map[string]any{"onTimeout": "leave"},
			},
			"waiter": {
				query.Waiter, func(c *compile.Call) { c.Stop, c.Job = nil, "athena:QueryExecutionSucceeded" }, map[string]any{"onTimeout": nil},
			},
			"value that looks like JSONata": {
				pollcore.MustNew("Odd", pollcore.Succeed(pollcore.Output("QueryExecution.Status.State").Is("{% $states.input %}"))),
				func(*compile.Call) {},
				map[string]any{"waiter": map[string]any{"acceptors": []any{map[string]any{
					"state": "success", "matcher": map[string]any{"output": map[string]any{
						"path": "QueryExecution.Status.State", "expected": "{% $states.input %}", "comparator": "stringEquals",
					}},
				}}}},
			},
		} {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				t.Parallel()
				call := compile.CallOf(query)
				c.change(&call)
				m, err := compile.Compile(c.waiter, call, compile.Options{Strategy: s, MaxWait: time.Hour})
				require.NoError(t, err)
				var request map[string]any
				_, err = sim.Run(t.Context(), m.Machine, []byte(`{"QueryString": "SELECT 1"}`), sim.Options{Handlers: map[string]sim.Handler{
					"arn:aws:states:::lambda:invoke": func(_ context.Context, call sim.Call) (sim.Reply, error) {
						text, err := json.Marshal(call.Arguments)
						var event struct {
							Payload struct {
								Input map[string]any `json:"Input"`
							} `json:"Payload"`
						}
						if err = errors.Join(err, json.Unmarshal(text, &event)); request == nil {
							request = event.Payload.Input
						}
						return sim.Reply{Output: map[string]any{"Payload": map[string]any{"status": "SUCCEEDED"}}}, err
					},
				}})
				require.NoError(t, err)
				for member, want := range c.want {
					require.Equal(t, want, request[member])
				}
			})
		}
	}
}

// A stop call that takes the token of the start call gets the one that the
// machine has made.
func TestStopTakesTheTokenOfTheStart(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("braket", "CreateQuantumTask")
	require.NoError(t, err)
	require.Equal(t, "input.clientToken", e.Job.Stop.Arguments["clientToken"])
	for _, strategy := range noLambda {
		m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Minute, Prefix: "Own"})
		require.NoError(t, err)
		tokens := map[string][]any{}
		answer := func(name string, output any) sim.Handler {
			return func(_ context.Context, call sim.Call) (sim.Reply, error) {
				tokens[name] = append(tokens[name], call.Arguments.(map[string]any)["ClientToken"])
				return sim.Reply{Output: output}, nil
			}
		}
		result, err := sim.Run(t.Context(), m.Machine, inputOf(t, e.Service.Operations[e.Name]), sim.Options{Handlers: map[string]sim.Handler{
			"arn:aws:states:::aws-sdk:braket:createQuantumTask": answer("start", map[string]any{"QuantumTaskArn": "arn:task"}),
			"arn:aws:states:::aws-sdk:braket:getQuantumTask":    answer("describe", map[string]any{"Status": "RUNNING"}),
			"arn:aws:states:::aws-sdk:braket:cancelQuantumTask": answer("stop", map[string]any{}),
		}})
		require.NoError(t, err)
		require.Equal(t, "JobPoller.TimedOut", result.Error, result.Cause)
		require.Len(t, tokens["start"], 1)
		require.NotEmpty(t, tokens["start"][0], strategy)
		require.Equal(t, tokens["start"], tokens["stop"], strategy)
	}
}

// Members inside the arguments of a call are spelled as SDK integrations do.
func TestArgumentsInPascalCase(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("mgn", "StartTest")
	require.NoError(t, err)
	require.Equal(t, "{jobIDs: [output.job.jobID]}", e.Job.Arguments["filters"])
	for _, strategy := range []compile.Strategy{compile.Variables, compile.RetryTask} {
		m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Minute})
		require.NoError(t, err)
		var described []any
		result, err := sim.Run(t.Context(), m.Machine, []byte(`{"AccountID": "1"}`), sim.Options{Handlers: map[string]sim.Handler{
			"arn:aws:states:::aws-sdk:mgn:startTest": func(context.Context, sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: map[string]any{"Job": map[string]any{"JobID": "job-1"}}}, nil
			},
			"arn:aws:states:::aws-sdk:mgn:describeJobs": func(_ context.Context, call sim.Call) (sim.Reply, error) {
				described = append(described, call.Arguments)
				return sim.Reply{Output: map[string]any{"Items": []any{map[string]any{"Status": "COMPLETED"}}}}, nil
			},
		}})
		require.NoError(t, err)
		require.NotEmpty(t, described, result.Cause)
		require.Equal(t, map[string]any{"AccountID": "1", "Filters": map[string]any{"JobIDs": []any{"job-1"}}}, described[0], strategy)
	}
}
