package simulate

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// grouping groups the Tasks of a machine by the jobs and resources that they are
// about.
type grouping struct {
	tasks []*task
	jobs  []*job
	// groups are the jobs that several Tasks may be about, by the full names of their entries.
	groups map[string]*job
	taken  map[*task]bool
}

// findJobs finds the jobs and resources that the Tasks of a machine are about.
func findJobs(m *asl.StateMachine, tasks []*task, o *Options, words func(word string) bool) ([]*job, error) {
	g := &grouping{tasks: tasks, groups: map[string]*job{}, taken: map[*task]bool{}}
	if err := g.findOwn(m, o); err != nil {
		return nil, err
	}
	if err := g.findStarts(); err != nil {
		return nil, err
	}
	if err := g.findDescribes(o, words); err != nil {
		return nil, err
	}
	g.findStops()
	g.releaseStarts()
	findBegins(g.jobs, tasks, g.taken)
	// A job that nothing describes runs unseen: its calls are calls like any other.
	return slices.DeleteFunc(g.jobs, (*job).isUnseen), nil
}

// of is the job of an entry.
func (g *grouping) of(e *catalog.Entry) *job {
	j := g.groups[e.FullName()]
	if j == nil {
		j = &job{entry: e}
		g.groups[e.FullName()] = j
		g.jobs = append(g.jobs, j)
	}
	return j
}

// findOwn finds the jobs of the caller's own entries.
func (g *grouping) findOwn(m *asl.StateMachine, o *Options) error {
	for _, t := range g.tasks {
		e := o.Polls[t.name()]
		if e == nil || !isOwn(e) {
			continue
		}
		if err := g.describe(e, t, o).drawOwn(m, t, o); err != nil {
			return err
		}
	}
	return nil
}

// describe gives a Task to the job that it describes.
func (g *grouping) describe(e *catalog.Entry, t *task, o *Options) *job {
	g.taken[t] = true
	j := g.of(e)
	j.describes, j.polledOn = append(j.describes, t), append(j.polledOn, o.Running[t.name()]...)
	return j
}

// findStarts finds the jobs that Tasks start.
func (g *grouping) findStarts() error {
	for _, t := range g.tasks {
		e, err := jobOfStart(t)
		if err != nil {
			return err
		}
		if e != nil && !g.taken[t] && !t.looks {
			g.start(e, t)
		}
	}
	return nil
}

// start gives a Task to the job that it starts, unless it describes that.
func (g *grouping) start(e *catalog.Entry, t *task) {
	switch isSync := strings.HasPrefix(t.parsed.Pattern, ".sync"); {
	case isSync && !isDescribed(e, t, g.tasks):
		g.jobs = append(g.jobs, &job{entry: e, sync: t})
	case isSync, t.parsed.Pattern == "" && (e.Job.Describe != e.Name || !t.loops): // one call may start and describe
		j := g.of(e)
		j.starts, j.waits = append(j.starts, t), j.waits || isSync
	default:
		return
	}
	g.taken[t] = true
}

// findDescribes finds the jobs and resources that Tasks describe.
func (g *grouping) findDescribes(o *Options, words func(word string) bool) error {
	for _, t := range g.tasks {
		if g.taken[t] || t.operation == nil || t.parsed.Pattern != "" || t.reader {
			continue
		}
		e, err := entryOfDescribe(t, g.groups, o.Polls[t.name()], words)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if j := g.describe(e, t, o); o.Polls[t.name()] == nil {
			j.words = words
		}
	}
	return nil
}

// findStops gives the Tasks that stop a job to it.
func (g *grouping) findStops() {
	for _, t := range g.tasks {
		for _, name := range slices.Sorted(maps.Keys(g.groups)) {
			j := g.groups[name]
			if g.taken[t] || t.operation == nil || j.entry.Job == nil || j.entry.Job.Stop == nil || t.parsed.Pattern != "" {
				continue
			}
			if t.operation.Service.Key == j.entry.Service.Key && t.operation.Name == j.entry.Job.Stop.Operation {
				g.taken[t] = true
				j.stops = append(j.stops, t)
			}
		}
	}
}

// releaseStarts takes the Tasks back that start what nothing describes: they may begin what another entry
// describes.
func (g *grouping) releaseStarts() {
	for _, j := range g.jobs {
		if j.isUnseen() {
			for _, t := range j.starts {
				delete(g.taken, t)
			}
		}
	}
}

// isUnseen tells whether no Task describes the job, or ends with it.
func (j *job) isUnseen() bool { return j.sync == nil && len(j.describes) == 0 }

// isDescribed tells whether a Task describes the job that a ".sync" Task runs, whose
// result is the answer of that call or a part of it.
func isDescribed(e *catalog.Entry, run *task, tasks []*task) bool {
	return syncResults[run.parsed.Service+":"+run.parsed.Action].name == "" && slices.ContainsFunc(tasks, func(t *task) bool {
		return t.operation != nil && t.parsed.Pattern == "" && !t.reader &&
			t.operation.Service.Key == e.Service.Key && t.operation.Name == e.Job.Describe
	})
}
