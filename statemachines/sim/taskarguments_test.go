package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// runWith runs a definition with the handlers of the options.
func runWith(t *testing.T, definition, input string, o sim.Options) *sim.Result {
	t.Helper()
	r, err := sim.Run(t.Context(), parse(t, definition), []byte(input), o)
	require.NoError(t, err)
	return r
}

// What AWS says of arguments that an integration does not take: before the Task
// is scheduled, and out of reach of Retry and Catch.
func TestArgumentsThatTheAPIDoesNotTakeEndTheExecution(t *testing.T) {
	t.Parallel()
	const (
		sdk    = "arn:aws:states:::aws-sdk:"
		caught = `, "Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`
	)
	for _, tt := range []struct {
		resource, arguments, input string
		want                       string // between the brackets; empty: the Task starts
	}{
		{"arn:aws:states:::batch:submitJob", `{"JobName.$": "$.n", "JobDefinition": "d", "JobQueue": "q"}`, `{"n": "x"}`, ""},
		{"arn:aws:states:::batch:submitJob", `{"JobName.$": "$.n", "JobDefinition": "d", "JobQueue": "q"}`, `{"n": 5}`, "The value for the field 'JobName' must be a STRING"},
		{"arn:aws:states:::batch:submitJob.sync", `{"JobName": "j", "JobDefinition": "d", "JobQueue": "q", "Parameters.$": "$.p"}`, `{"p": {"x": 5}}`, "The value for the field 'x' must be a STRING"},
		{"arn:aws:states:::ecs:runTask", `{"TaskDefinition": "t", "Overrides.$": "$.o"}`, `{"o": {"containerOverrides": []}}`, "The field \"containerOverrides\" is not supported by Step Functions. Did you mean 'ContainerOverrides'?"},
		{
			sdk + "dynamodb:updateTimeToLive", `{"TableName.$": "$.t", "TimeToLiveSpecification.$": "$.s"}`, `{"t": {}, "s": {"TTL": true}}`,
			"The value for the field 'TableName' must be a STRING, The field \"TTL\" is not supported by Step Functions",
		},
		{sdk + "dynamodb:getItem", `{"TableName.$": "$.t", "Key.$": "$.k"}`, `{"t": null, "k": {"id": {"S": "x"}, "b": {"Bool": true}, "n": {"Nul": true}}}`, ""},
		{"arn:aws:states:::dynamodb:putItem", `{"TableName": "t", "Item.$": "$.i"}`, `{"i": {"id": {"S": "x"}, "b": {"BOOL": true}, "short": "x"}}`, ""},
		{"arn:aws:states:::dynamodb:putItem", `{"TableName": "t", "Item.$": "$.i"}`, `{"i": {"id": 5}}`, "The value for the field 'id' must be an OBJECT"},
		{"arn:aws:states:::lambda:invoke", `{"FunctionName": "f", "Payload.$": "$"}`, `{"any": [1]}`, ""},
		{"arn:aws:states:::sqs:sendMessage", `{"QueueUrl": "q", "MessageBody.$": "$", "DelaySeconds.$": "$.d"}`, `{"d": "5"}`, ""},
		{"arn:aws:states:::sqs:sendMessage", `{"QueueUrl": "q", "MessageBody.$": "$", "DelaySeconds.$": "$.d"}`, `{"d": [5]}`, "The value for the field 'DelaySeconds' must be a NUMBER"},
		{"arn:aws:states:::events:putEvents", `{"Entries.$": "$.e"}`, `{"e": [{"Detail": {"x": 1}, "Source": "s"}]}`, ""},
		{"arn:aws:states:::events:putEvents", `{"Entries.$": "$.e"}`, `{"e": {}}`, "The value for the field 'Entries' must be an ARRAY"},
		{sdk + "s3:putObject", `{"Bucket": "b", "Key": "k", "Body.$": "$"}`, `{"any": 1}`, ""},
		{sdk + "sts:getCallerIdentity", `{"Who.$": "$.w"}`, `{"w": 1}`, "The field \"Who\" is not supported by Step Functions"},
		{sdk + "nosuchservice:do", `{"Who.$": "$.w"}`, `{"w": 1}`, ""},
		{"arn:aws:states:::http:invoke", `{"ApiEndpoint": 1, "Method": "GET", "Authentication": {"ConnectionArn": "c"}}`, `{}`, ""},
	} {
		t.Run(tt.resource+" "+tt.input, func(t *testing.T) {
			t.Parallel()
			definition := `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + tt.resource + `", "Parameters": ` + tt.arguments + caught + `, "End": true},
				"Caught": {"Type": "Succeed"}}}`
			o := sim.Options{Models: models.Load, Lenient: true, Handlers: map[string]sim.Handler{tt.resource: returns(`1`)}}
			r := runWith(t, definition, tt.input, o)
			if tt.want == "" {
				require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
				require.Equal(t, 1, r.Calls["T"])
				return
			}
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, "States.Runtime", r.Error)
			require.Regexp(t, `^An error occurred while executing the state 'T' \(entered at the event id #2\)\. The Parameters '\{.*\}' could not be used to start the Task: \[.*\]$`, r.Cause)
			require.Contains(t, r.Cause, "Task: ["+tt.want+"]")
			var types []sim.EventType
			for _, e := range r.Events {
				types = append(types, e.Type)
			}
			require.Equal(t, []sim.EventType{sim.ExecutionStarted, "TaskStateEntered", sim.ExecutionFailed}, types)
			require.Zero(t, r.Calls["T"])

			o.Models = nil
			require.Equal(t, sim.StatusSucceeded, runWith(t, definition, tt.input, o).Status, "without models nothing is checked")
		})
	}
}

func TestArgumentsOfJSONataAreChecked(t *testing.T) {
	t.Parallel()
	const resource = "arn:aws:states:::aws-sdk:sqs:sendMessage"
	r := runWith(t, `{"StartAt": "T", "QueryLanguage": "JSONata", "States": {"T": {"Type": "Task", "Resource": "`+resource+`", "Arguments": "{% $states.input %}", "End": true}}}`,
		`{"QueueUrl": "q", "MessageBody": {"a": 1}}`, sim.Options{Models: models.Load, Lenient: true, Handlers: map[string]sim.Handler{resource: returns(`1`)}})
	require.Equal(t, `An error occurred while executing the state 'T' (entered at the event id #2). The Arguments '{"MessageBody":{"a":1},"QueueUrl":"q"}' `+
		`could not be used to start the Task: [The value for the field 'MessageBody' must be a STRING]`, r.Cause)
}

// A Map around the Task cannot catch it either: the whole execution ends, and the
// other iterations with it.
func TestArgumentsInAMapEndTheExecution(t *testing.T) {
	t.Parallel()
	const resource = "arn:aws:states:::batch:submitJob"
	r := runWith(t, `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}],
		"ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "`+resource+`", "End": true,
			"Parameters": {"JobName.$": "$", "JobDefinition": "d", "JobQueue": "q"}}}}}, "Caught": {"Type": "Succeed"}}}`,
		`["a", 5, "c"]`, sim.Options{Models: models.Load, Lenient: true, Handlers: map[string]sim.Handler{
			resource: func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Latency: time.Minute}, nil },
		}})
	require.Equal(t, []any{sim.StatusFailed, "States.Runtime"}, []any{r.Status, r.Error})
	require.Contains(t, r.Cause, "The value for the field 'JobName' must be a STRING")
	require.Zero(t, r.Visits["Caught"])
}
