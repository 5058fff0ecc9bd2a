package simulate

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Status is a status that a job or a resource of the catalogue can have.
type Status struct {
	Name    string // as Spec.Ends names it
	Verdict pollcore.Verdict
	// Acceptor is the one of the entry's waiter that tells it; pollcore.NoAcceptor if none does.
	Acceptor int
}

// Statuses returns the statuses that a job or resource can be simulated with; none
// if it cannot be.
func Statuses(e *catalog.Entry, models typecheck.Models) ([]Status, error) {
	j := &job{entry: e}
	if err := j.prepare(&answers{}, models); err != nil {
		return nil, err
	}
	if !j.simulatable() {
		return nil, nil
	}
	all := make([]Status, len(j.behaviour.statuses))
	for i, s := range j.behaviour.statuses {
		all[i] = Status{s.name, s.verdict, s.acceptor}
	}
	return all, nil
}

// StatesOf returns the names of the Tasks that start, describe and stop the jobs that
// the Specs name a Task of, and of those that ask for a job of Told.
func StatesOf(m *asl.StateMachine, o Options) ([]string, error) {
	tasks, err := tasksOf(m, o.Models)
	if err != nil {
		return nil, err
	}
	jobs, err := findJobs(m, tasks, &o, o.reading(m).has)
	if err != nil {
		return nil, err
	}
	isNamed := func(t *task) bool {
		return slices.ContainsFunc(o.Specs, func(s Spec) bool { return s.State == t.name() })
	}
	var names []string
	for _, t := range tasks {
		if o.Told[t.name()] != nil && isNamed(t) {
			names = append(names, t.name())
		}
	}
	for _, j := range jobs {
		if !slices.ContainsFunc(j.specTasks(), isNamed) {
			continue
		}
		for _, t := range slices.Concat(j.starts, j.describes, j.stops, []*task{j.sync}) {
			if t != nil {
				names = append(names, t.name())
			}
		}
	}
	return names, nil
}
