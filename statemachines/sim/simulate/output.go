package simulate

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// tellsExecution tells whether the answer of a Task is about an execution of another state machine, whose input and output
// it has as JSON.
func (t *task) tellsExecution() bool {
	if t.operation == nil || t.operation.Service.Key != "stepfunctions" || t.reader {
		return false
	}
	switch t.operation.Name {
	case "DescribeExecution", "StartSyncExecution":
		return t.parsed.Pattern == ""
	case "StartExecution":
		return strings.HasPrefix(t.parsed.Pattern, ".sync")
	default:
		return false
	}
}

// findLooks finds the Tasks that poll by the output of an execution, which they start and wait for.
func findLooks(tasks []*task, demands *typecheck.Demands) {
	for _, t := range tasks {
		t.looks = t.loops && t.tellsExecution() && t.parsed.Pattern != "" && demands.Result(t.state).Member("Output").IsRead()
	}
}

// writeOutputs gives answers about an execution an input and an output that are JSON, with what the machine reads of them.
// It returns the Tasks that read what nobody knows.
func (j *job) writeOutputs(demands *typecheck.Demands, o *Options, bare bool) (reading []*task) {
	if demands == nil || j.entry.Service.Key != "stepfunctions" || j.entry.Operation.Name != "DescribeExecution" {
		return nil
	}
	tasks := slices.Concat(j.starts, j.describes, []*task{j.sync})
	tasks = slices.DeleteFunc(tasks, func(t *task) bool { return t == nil || !t.tellsExecution() })
	for _, name := range []string{"input", "output"} {
		text := "{}"
		for _, t := range tasks {
			if drawn, isRead := t.drawJSON(demands, javasdk.MemberName(name), o, bare); isRead {
				if text = drawn; !slices.Contains(reading, t) {
					reading = append(reading, t)
				}
				break
			}
		}
		for i := range j.behaviour.statuses {
			if answer, is := j.behaviour.statuses[i].answer.(map[string]any); is && answer[name] != nil {
				answer[name] = text
			}
		}
	}
	return reading
}

// drawJSON draws a member of the answer that is JSON, as a text: of a job that has succeeded, where the machine compares
// a status in it.
func (t *task) drawJSON(demands *typecheck.Demands, member string, o *Options, bare bool) (text string, isRead bool) {
	demand := demands.Result(t.state).Member(member)
	if t.parsed.Pattern != ".sync:2" {
		demand = demand.Parsed()
	}
	if !demand.IsRead() {
		return "", false
	}
	drawn, err := json.Marshal(typecheck.Draw(typecheck.Unknown(), demand, typecheck.DrawOptions{
		Name: member, Absent: bare, Compared: 1, Rank: rankBy(o.Means, t.name(), pollcore.Success, "", pollcore.Retry, pollcore.Failure),
	}))
	return string(drawn), err == nil
}
