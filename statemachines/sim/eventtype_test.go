package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// neverGiven are the types of events that no execution here has, each with its reason.
var neverGiven = map[string]string{
	"ActivityScheduleFailed":       "AWS has no event before States.Runtime where the activity does not exist; the quotas of activities have no model here",
	"LambdaFunctionScheduleFailed": "roles do not count here, so nothing forbids a call of a function, and the quotas of Lambda have no model",
	"LambdaFunctionStartFailed":    "roles do not count here, so one that cannot be assumed does not fail",
	"TaskStartFailed":              "roles do not count here, so one that cannot be assumed does not fail",
}

// eventTypeCases are executions that have all other types together. A Task does what the
// first word of its name says. The second execution of a name with "redriven" goes on
// with the first.
var eventTypeCases = map[string]string{
	"flow": `{"StartAt":"P","States":{"P":{"Type":"Pass","Next":"W"},"W":{"Type":"Wait","Seconds":1,"Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$","IsNull":true,"Next":"F"}],"Default":"S"},"F":{"Type":"Fail"},"S":{"Type":"Succeed"}}}`,
	"Fail":              `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E"}}}`,
	"time-out":          `{"TimeoutSeconds":1,"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":9,"End":true}}}`,
	"evaluation":        `{"QueryLanguage":"JSONata","StartAt":"P","States":{"P":{"Type":"Pass","Output":"{% $number('x') %}","End":true}}}`,
	"abort":             `{"StartAt":"stop","States":{"stop":` + taskState(function) + `}}`,
	"function":          `{"StartAt":"do","States":{"do":` + taskState(function) + `}}`,
	"function fails":    `{"StartAt":"fail","States":{"fail":` + taskState(function) + `}}`,
	"function is slow":  `{"StartAt":"take time","States":{"take time":` + taskState(function) + `}}`,
	"activity":          `{"StartAt":"do","States":{"do":` + taskState(activity) + `}}`,
	"activity fails":    `{"StartAt":"fail","States":{"fail":` + taskState(activity) + `}}`,
	"activity is slow":  `{"StartAt":"take time","States":{"take time":` + taskState(activity) + `}}`,
	"job":               `{"StartAt":"do","States":{"do":` + taskState(startJobRun) + `}}`,
	"job fails":         `{"StartAt":"end badly","States":{"end badly":` + taskState(startJobRun) + `}}`,
	"job is refused":    `{"StartAt":"fail","States":{"fail":` + taskState(startJobRun) + `}}`,
	"job is slow":       `{"StartAt":"take time","States":{"take time":` + taskState(startJobRun) + `}}`,
	"Parallel":          `{"StartAt":"A","States":{"A":{"Type":"Parallel","End":true,"Branches":[{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}]}}}`,
	"Parallel fails":    `{"StartAt":"A","States":{"A":{"Type":"Parallel","End":true,"Branches":[` + branchThatFails + `]}}}`,
	"Map":               `{"StartAt":"M","States":{"M":` + mapState(`{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`) + `}}`,
	"Map fails":         `{"StartAt":"M","States":{"M":` + mapState(branchThatFails) + `}}`,
	"Map Run":           `{"StartAt":"M","States":{"M":` + mapState(`{`+distributedMode+`"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`) + `}}`,
	"Map Run, redriven": `{"StartAt":"M","States":{"M":` + mapState(`{`+distributedMode+`"StartAt":"fail","States":{"fail":`+taskState(function)+`}}`) + `}}`,
	"aborted by others": `{"StartAt":"A","States":{"A":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"M","States":{"M":` + mapState(branchThatWaits("V1")) + `}},
		{"StartAt":"R","States":{"R":` + mapState(`{`+distributedMode+branchThatWaits("V2")[1:]) + `}},
		{"StartAt":"I","States":{"I":{"Type":"Parallel","End":true,"Branches":[` + branchThatWaits("V3") + `]}}},
		{"StartAt":"do","States":{"do":` + taskState(function) + `}},
		` + branchThatFails + `]}}}`,
}

const (
	distributedMode = `"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},`
	branchThatFails = `{"StartAt":"W1","States":{"W1":{"Type":"Wait","Seconds":1,"Next":"F1"},"F1":{"Type":"Fail","Error":"E"}}}`
)

func branchThatWaits(state string) string {
	return `{"StartAt":"` + state + `","States":{"` + state + `":{"Type":"Wait","Seconds":99,"End":true}}}`
}

func taskState(resource string) string {
	arguments := map[string]string{startJobRun: `"Parameters":{"JobName":"j"},`}[resource]
	return `{"Type":"Task","Resource":"` + resource + `",` + arguments + `"TimeoutSeconds":60,"End":true}`
}

func mapState(processor string) string {
	return `{"Type":"Map","End":true,"ItemsPath":"$.items","ItemProcessor":` + processor + `}`
}

// Each type of the service's model is in the history of an execution, or has a reason
// why not.
func TestEveryEventType(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	see := func(r *sim.Result) {
		for i := range r.Events {
			given[string(r.Events[i].Type)] = true
		}
	}
	for name, definition := range eventTypeCases {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart()), Models: models.Load, Handler: func(_ context.Context, call sim.Call) (sim.Reply, error) {
			does, _, _ := strings.Cut(call.State, " ")
			switch does {
			case "fail":
				return sim.Reply{}, &sim.TaskError{Name: "E"}
			case "end":
				return sim.Reply{}, &sim.TaskError{Name: "E", Submitted: map[string]any{"JobRunId": "jr_1"}}
			case "take":
				return sim.Reply{Never: true}, nil
			case "stop":
				cancel()
			}
			return sim.Reply{Latency: 5 * time.Second, Submitted: map[string]any{"JobRunId": "jr_1"}, Output: map[string]any{"Id": "jr_1"}}, nil
		}}
		m := parse(t, definition)
		r, err := sim.Run(ctx, m, []byte(`{"items":[1]}`), o)
		require.NoError(t, err, name)
		see(r)
		if strings.HasSuffix(name, "redriven") {
			r, err = sim.Redrive(ctx, m, r, o)
			require.NoError(t, err, name)
			see(r)
		}
	}

	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	types := service.Shapes["HistoryEventType"].Enum
	require.Greater(t, len(types), 60)
	for _, eventType := range types {
		_, never := neverGiven[eventType]
		require.NotEqual(t, given[eventType], never, "%s: an execution has it, or neverGiven says why not, but not both", eventType)
	}
	for eventType := range given {
		require.Contains(t, types, eventType)
	}
	for eventType := range neverGiven {
		require.Contains(t, types, eventType)
	}
}
