package fix

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// awaitStart is the edit by which a poll retries the errors that it may get just after the
// start. Its retrier comes first: another one may take the same errors for less long.
func (*checked) awaitStart(l *lint.Loop) []candidate {
	names := l.StartErrors()
	if len(names) == 0 {
		return nil
	}
	one := candidate{class: Sure, about: strings.Join(names, ", ") + " just after the start", mended: isRetried(names)}
	for _, name := range names {
		one.frame = append(one.frame, trial.Kind{Task: l.Poll.Name, Sort: trial.Fails, Value: name})
	}
	retrier := value("ErrorEquals", listOf(names), "IntervalSeconds", 2, "MaxAttempts", 6, "BackoffRate", 1.5) //nolint:mnd // 42 s in all
	one.edits = []edit.Edit{firstRetrier(l.Poll, retrier)}
	if len(l.Poll.Retry) > 0 {
		one.edits = []edit.Edit{{Op: edit.Before, At: l.Poll.Position.Pointer + "/Retry/0", Value: retrier}}
	}
	return []candidate{one}
}

// isRetried tells of a run whether a Task calls again after an error of these names, or fails
// with the same error, later.
func isRetried(names []string) func(r *trial.Run) bool {
	return func(r *trial.Run) bool {
		return r.After.Status != string(sim.StatusFailed) || !slices.Contains(names, r.After.Error) || r.Before.Error == r.After.Error
	}
}

// firstRetrier gives a state without Retry one.
func firstRetrier(s *asl.State, retrier []byte) edit.Edit {
	e := edit.Edit{Op: edit.Behind, At: s.Position.Pointer + "/Resource", Name: "Retry", Value: json.RawMessage("[" + string(retrier) + "]")}
	if len(s.Catch) > 0 {
		e.Op, e.At = edit.Before, s.Position.Pointer+"/Catch"
	}
	return e
}

// listOf is a list of texts on one line.
func listOf(texts []string) json.RawMessage {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = string(jsonOf(text))
	}
	return json.RawMessage("[" + strings.Join(quoted, ", ") + "]")
}
