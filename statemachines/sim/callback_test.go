package sim_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	sendMessage = "arn:aws:states:::sqs:sendMessage.waitForTaskToken"
	startJobRun = "arn:aws:states:::glue:startJobRun.sync"
	activity    = "arn:aws:states:us-east-1:123456789012:activity:work"
)

func jsonNumber(t *testing.T, value any) json.Number {
	t.Helper()
	number, ok := value.(json.Number)
	require.True(t, ok, "%v", value)
	return number
}

func TestTasksThatEndLater(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, resource, fields string
		reply                  sim.Reply
		err                    error
		elapsed                time.Duration
		events                 []string // of the Task
		failed                 string
	}{
		{
			"token comes back", sendMessage, `, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{Submitted: map[string]any{"MessageId": "m"}, Output: "done", Latency: time.Minute},
			nil, time.Minute,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"},
			"",
		},
		{
			"token comes back with a failure that has no name", sendMessage, `, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{},
			&sim.TaskError{Submitted: "m", Latency: time.Minute}, time.Minute,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskFailed"},
			"",
		},
		{
			"request refused", sendMessage, `, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{},
			&sim.TaskError{Name: "SQS.AmazonSQSException"}, 0,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitFailed"},
			"SQS.AmazonSQSException",
		},
		{
			"answer to the request too large", sendMessage, `, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{Submitted: strings.Repeat("m", 262_145), Never: true},
			nil, 0,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitFailed"},
			"States.DataLimitExceeded",
		},
		{
			"token never comes back", sendMessage, `, "TimeoutSeconds": 60, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{Submitted: 1, Never: true},
			nil, time.Minute,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskTimedOut"},
			"States.Timeout",
		},
		{
			"heartbeat stops", sendMessage, `, "TimeoutSeconds": 60, "HeartbeatSeconds": 5, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{Submitted: 1, Output: 1, Latency: 30 * time.Second},
			nil, 5 * time.Second,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskTimedOut"},
			"States.Timeout",
		},
		{
			"heartbeat goes on", sendMessage, `, "TimeoutSeconds": 60, "HeartbeatSeconds": 5, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{Submitted: 1, Output: 1, Latency: 30 * time.Second, HeartbeatEvery: 4 * time.Second},
			nil, 30 * time.Second,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"},
			"",
		},
		{
			"answer at the very end", sendMessage, `, "TimeoutSeconds": 60, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}`,
			sim.Reply{Submitted: 1, Latency: time.Minute},
			nil, time.Minute,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"},
			"",
		},
		{
			"job runs to its end", startJobRun, `, "Parameters": {"JobName": "j"}`,
			sim.Reply{Submitted: map[string]any{"JobRunId": "r"}, Output: 1, Latency: time.Hour},
			nil, time.Hour,
			[]string{"TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"},
			"",
		},
		{
			"activity", activity, ``,
			sim.Reply{Output: 1, Latency: time.Hour},
			nil, time.Hour,
			[]string{"ActivityScheduled", "ActivityStarted", "ActivitySucceeded"},
			"",
		},
		{
			"activity without a heartbeat", activity, `, "HeartbeatSeconds": 7`,
			sim.Reply{Output: 1, Latency: time.Hour},
			nil, 7 * time.Second,
			[]string{"ActivityScheduled", "ActivityStarted", "ActivityTimedOut"},
			"States.Timeout",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+tt.resource+`", "End": true`+tt.fields+`}}}`)
			h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
				if arguments, ok := call.Arguments.(map[string]any); ok && tt.resource == sendMessage {
					require.Equal(t, call.TaskToken, arguments["MessageBody"])
				}
				require.Equal(t, tt.resource != startJobRun, call.TaskToken != "")
				return tt.reply, tt.err
			}
			r, err := sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{tt.resource: h}})
			require.NoError(t, err)
			require.Equal(t, tt.elapsed, r.Duration())
			require.Equal(t, tt.failed, r.Error)
			require.Equal(t, tt.events, types(r)[2:2+len(tt.events)])
		})
	}
}

// A Catch of States.HeartbeatTimeout takes a missed heartbeat, though AWS
// writes States.Timeout.
func TestHeartbeatTimeoutIsCaught(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+activity+`", "HeartbeatSeconds": 5, "End": true,
		"Catch": [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "Z"}]}, "Z": {"Type": "Succeed"}}}`)
	h := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Never: true}, nil }
	r, err := sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{activity: h}})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status)
}

// A handler by the name of the state wins over that of its resource.
func TestStateHandlers(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "ResultPath": "$.a", "Next": "B"},
		"B": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "ResultPath": "$.b", "End": true}}}`)
	r, err := sim.Run(t.Context(), m, nil, sim.Options{
		Handlers: map[string]sim.Handler{describe: returns(`"by resource"`)}, StateHandlers: map[string]sim.Handler{"B": returns(`"by state"`)},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"a":"by resource","b":"by state"}`, string(r.Output))
}

// Whoever has a token ends the Task once, on any clock, also before its handler returns.
func TestAnswer(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Millisecond
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+sendMessage+`", "TimeoutSeconds": 60,
		"Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "End": true}}}`)
	for clock, newClock := range map[string]func() *sim.Clock{
		"virtual": func() *sim.Clock { return sim.NewVirtualClock(sim.DefaultStart()) }, "real": sim.NewRealClock,
	} {
		for name, tt := range map[string]struct {
			at    time.Duration
			reply sim.Reply
			err   error
			last  sim.EventType
			error string
		}{
			"success":        {delay, sim.Reply{Output: "done"}, nil, sim.TaskSucceeded, ""},
			"failure":        {delay, sim.Reply{}, &sim.TaskError{Name: "Broken", Cause: "glass"}, sim.TaskFailed, "Broken"},
			"before it ends": {0, sim.Reply{Output: "done"}, nil, sim.TaskSucceeded, ""},
		} {
			t.Run(name+", "+clock, func(t *testing.T) {
				t.Parallel()
				c := newClock()
				answers := make(chan bool, 2)
				h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
					answer := func() {
						answers <- call.Answer(tt.reply, tt.err)
						answers <- call.Answer(sim.Reply{Output: "again"}, nil)
					}
					if tt.at == 0 {
						answer()
					} else {
						c.AfterFunc(tt.at, answer)
					}
					return sim.Reply{Submitted: "m", Never: true}, nil
				}
				r, err := sim.Run(t.Context(), m, nil, sim.Options{Clock: c, Handlers: map[string]sim.Handler{sendMessage: h}})
				require.NoError(t, err)
				require.Equal(t, tt.error, r.Error)
				require.Equal(t, []string{"TaskSubmitted", string(tt.last)}, types(r)[4:6])
				require.True(t, <-answers)
				require.False(t, <-answers)
				if c.Virtual() {
					require.Equal(t, tt.at, r.Duration())
				}
			})
		}
	}
}

// A Task that has timed out waits for no answer, and one that is answered at the very
// instant does not time out. The same holds for its heartbeat.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"TimeoutSeconds", "HeartbeatSeconds"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			testLateAnswer(t, limit)
		})
	}
}

func testLateAnswer(t *testing.T, limit string) {
	t.Helper()
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+sendMessage+`", "`+limit+`": 60,
		"Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], "End": true},
		"Z": {"Type": "Wait", "Seconds": 60, "End": true}}}`)
	for at, waits := range map[time.Duration]bool{time.Minute - time.Second: true, time.Minute: true, time.Minute + time.Second: false} {
		c := sim.NewVirtualClock(sim.DefaultStart())
		var answered []bool
		h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
			answer := func() { answered = append(answered, call.Answer(sim.Reply{Output: 1}, nil)) }
			c.AfterFunc(0, func() { c.AfterFunc(at, answer) }) // behind the timer of the limit
			return sim.Reply{Submitted: "m", Never: true}, nil
		}
		r, err := sim.Run(t.Context(), m, nil, sim.Options{Clock: c, Handlers: map[string]sim.Handler{sendMessage: h}})
		require.NoError(t, err)
		require.Equal(t, []bool{waits}, answered)
		require.Equal(t, waits, r.Duration() == at)
	}
}
