package mock

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// describe is what the service says of the jobs that a call asks for.
func (j *Job) describe(call sim.Call) (any, error) {
	ids, list := j.severalIDs(call)
	if len(ids) < 2 { //nolint:mnd // one job
		id, run, err := j.find(call, j.idArgument())
		if err != nil {
			return nil, err
		}
		return j.say(id, run, call)
	}
	var output any
	var items []any
	var missing error
	for _, id := range ids {
		run, err := j.findID(call, &id)
		if err != nil {
			missing = err // services leave it out of the list
			continue
		}
		if output, err = j.say(id, run, call); err != nil {
			return nil, err
		}
		some, _ := list.get(output).([]any)
		items = append(items, some...)
	}
	if output == nil {
		return nil, missing
	}
	return list.set(output, items)
}

// severalIDs are the ids of a call that asks by a list, and the list that the answer has of
// them.
func (j *Job) severalIDs(call sim.Call) (ids []string, list path) {
	if !j.hasIDs() || j.ID == "" {
		return nil, nil
	}
	asked, err := parsePath(j.idArgument())
	told, toldErr := parsePath(j.ID)
	if err != nil || toldErr != nil {
		return nil, nil
	}
	isIndex := func(part any) bool { _, is := part.(int); return is }
	at, in := slices.IndexFunc(asked, isIndex), slices.IndexFunc(told, isIndex)
	if at < 0 || at < len(asked)-1 || in < 0 {
		return nil, nil
	}
	all, _ := asked[:at].get(call.Arguments).([]any)
	for _, id := range all {
		if text, isText := id.(string); isText {
			ids = append(ids, text)
		}
	}
	return ids, told[:in]
}

// say is what the service says of one job: an answer, or the error that it has for a status.
func (j *Job) say(id string, run *jobRun, call sim.Call) (any, error) {
	if raised, raises := j.Raises[j.statusAt(run, call.Time)]; raises {
		return nil, &sim.TaskError{Name: raised.Error, Cause: raised.Cause}
	}
	return j.answerAt(id, run, call.Time)
}
