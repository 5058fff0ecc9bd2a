package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// loopRouteSuites run each loop of AWS's samples on a known operation once for each
// value of its table. A case is a value: it passes if the run goes where the table says.
var loopRouteSuites = []suite{{name: "loop-routes", folder: "aws-samples", cases: 334, run: runLoopRoutes, differences: map[string]string{
	transcription + "COMPLETED":           variableBefore,
	transcription + "FAILED":              variableBefore,
	transcription + "IN_PROGRESS":         variableBefore,
	transcription + "QUEUED":              variableBefore,
	transcription + "a value of tomorrow": variableBefore,
	examples + "app-order-management/template.yaml#StateMachineShipOrder Reserve Product temporarily-unavailable":                        inputBefore,
	"step-functions-workflows-collection/human-task-reminder/template.yaml#ReminderStateMachine DDB Get Task Status a value of tomorrow": inputBefore,
}}}

const (
	transcription  = examples + "app-meeting-summarization/template.yaml#StateMachineUtilTranscribeMediaFile Get Transcription Job "
	variableBefore = "the poll reads a variable that a state before the loop assigns"
	inputBefore    = "the way back reads what a state before the loop puts into its input"
)

func runLoopRoutes(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	open := 0
	for name, m := range machinesIn(t, folder) {
		for _, l := range lint.Loops(m, lint.Options{}) {
			for _, row := range l.Rows {
				values := row.Values
				if len(values) == 0 {
					values = []string{"a value of tomorrow"}
				}
				for _, value := range values {
					if row.Ends == lint.EndsUnknown || len(row.Routes) > 1 {
						open++ // it depends on more than the status
						continue
					}
					r.total++
					if problem := runRow(t, m, &l, &row, value); problem != "" {
						r.failures[fmt.Sprintf("%s %s %s", name, l.Poll.Name, value)] = problem
					}
				}
			}
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("%d values may go several ways", open))
	return r
}

// keepLiterals are arguments without those that are computed: an optimized integration needs some.
func keepLiterals(arguments any) map[string]any {
	kept := map[string]any{}
	given, _ := arguments.(map[string]any)
	for name, value := range given {
		text, isText := value.(string)
		object, isObject := value.(map[string]any)
		switch {
		case strings.HasSuffix(name, ".$") || isText && strings.HasPrefix(text, "{%"):
		case isObject:
			kept[name] = keepLiterals(object)
		default:
			kept[name] = value
		}
	}
	return kept
}

// runRow runs a loop from its poll on, which answers with the value, until it polls
// again or ends. It says what is not as the row has it.
func runRow(t *testing.T, m *asl.StateMachine, l *lint.Loop, row *lint.Row, value string) string {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal(asl.Print(m), &root))
	flow := root
	if prefix := strings.TrimSuffix(l.Poll.Position.Pointer, "/States/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(l.Poll.Name)); prefix != "" {
		flow = at(root, prefix)
	}
	states := flow["States"].(map[string]any)
	poll := states[l.Poll.Name].(map[string]any)
	poll["Parameters"], poll["Arguments"] = keepLiterals(poll["Parameters"]), keepLiterals(poll["Arguments"])
	delete(poll, map[asl.QueryLanguage]string{asl.JSONata: "Parameters", asl.JSONPath: "Arguments"}[l.Poll.QueryLanguage])
	const start = "Start here"
	var others []any // no state may be out of reach
	for name := range states {
		others = append(others, map[string]any{"Condition": false, "Next": name})
	}
	states[start] = map[string]any{"Type": "Choice", "QueryLanguage": "JSONata", "Choices": others, "Default": l.Poll.Name}
	text, err := json.Marshal(map[string]any{"StartAt": start, "States": states, "QueryLanguage": string(m.QueryLanguage)})
	require.NoError(t, err)
	lone, err := asl.Parse(text)
	if err == nil {
		lone, err = asl.Parse(fillPlaceholders(text, lone))
	}
	if err != nil {
		return "not run: " + err.Error()
	}
	full := map[string]any{"Payload": map[string]any{}}
	if api, err := typecheck.FindAPI(l.Poll.Task.Resource, models.Load); err == nil && api.Output != nil && l.Operation != "jobpoller-checkstatus" {
		full = fullAnswer(api.Output, 0).(map[string]any)
	}
	polls := 0
	answer := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if call.State != l.Poll.Name {
			return sim.Reply{Output: map[string]any{}}, nil
		}
		if polls++; polls > 1 {
			return sim.Reply{}, &sim.TaskError{Name: "PolledAgain"}
		}
		return sim.Reply{Output: setStatus(full, l, value)}, nil
	}
	o := sim.Options{Handlers: map[string]sim.Handler{}, MaxEvents: 500}
	for s := range lone.All {
		if s.Task != nil {
			o.Handlers[s.Task.Resource] = answer
		}
		if s.Map != nil && s.Map.ItemReader != nil {
			o.Handlers[s.Map.ItemReader.Resource] = answer
		}
		if s.Map != nil && s.Map.ResultWriter != nil {
			o.Handlers[s.Map.ResultWriter.Resource] = answer
		}
	}
	input, err := json.Marshal(map[string]any{})
	require.NoError(t, err)
	ran, err := sim.Run(t.Context(), lone, input, o)
	require.NoError(t, err)
	var visited []string
	for _, e := range ran.Events {
		if strings.HasSuffix(string(e.Type), "StateEntered") {
			visited = append(visited, e.Details().Name)
		}
	}
	end := fmt.Sprintf("the run went %s and ended %s %s", strings.Join(visited, " > "), ran.Error, ran.Cause)
	switch again := polls > 1; {
	case again != (row.Ends == lint.PollsOn || row.Ends == lint.StartsAgain):
		return fmt.Sprintf("the table says %s by %v, but %s", row.Ends, row.Routes, end)
	case len(row.Routes) == 1 && !slices.Contains(visited, row.Routes[0]):
		return fmt.Sprintf("the table says by %v, but %s", row.Routes, end)
	case len(row.Routes) == 0 && ran.Error != "States.NoChoiceMatched" && ran.Error != "States.Runtime":
		return "the table says that no rule takes it, but " + end
	}
	return ""
}

// fullAnswer is an answer of Step Functions with all members of a shape.
func fullAnswer(s *catalog.Shape, depth int) any {
	const deepest = 6
	switch s.Type {
	case catalog.Structure:
		object := map[string]any{}
		for i := range s.Members {
			if depth < deepest {
				object[javasdk.MemberName(s.Members[i].Name)] = fullAnswer(s.Members[i].Shape, depth+1)
			}
		}
		return object
	case catalog.List:
		return []any{fullAnswer(s.Element.Shape, depth+1)}
	case catalog.Map, catalog.Union:
		return map[string]any{}
	case catalog.Boolean:
		return true
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return 1
	case catalog.Timestamp:
		return "2026-01-01T00:00:00Z"
	default:
		return "text"
	}
}

// setStatus puts a status of a loop into an answer.
func setStatus(answer map[string]any, l *lint.Loop, value string) any {
	if !l.ByName {
		return setAt(answer, l.Status, value)
	}
	steps := strings.Split(l.Status, ".") // as Step Functions spells them
	object := answer
	for _, name := range steps[:len(steps)-1] {
		inner, _ := object[name].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
		}
		object[name], object = inner, inner
	}
	literal, known := l.Literals[value]
	switch last := steps[len(steps)-1]; {
	case known && literal == nil:
		delete(object, last)
	case known:
		object[last] = literal
	default:
		object[last] = value
	}
	return answer
}

// setAt puts a value at a path of the model into an answer.
func setAt(answer any, path string, value any) any {
	name, rest, more := strings.Cut(path, ".")
	name, list := strings.CutSuffix(name, "[]")
	object := answer.(map[string]any)
	member := javasdk.MemberName(name)
	switch {
	case list && more:
		object[member] = []any{setAt(object[member].([]any)[0], rest, value)}
	case list:
		object[member] = []any{value}
	case more:
		object[member] = setAt(object[member], rest, value)
	default:
		object[member] = value
	}
	return object
}
