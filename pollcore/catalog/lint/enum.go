package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// enum are the values that a path can give.
type enum struct {
	name   string
	values []string
	jobs   []*catalog.Job // whose status it is
	// documented tells that the values are no enum of the model.
	documented bool
}

// enumOf are the values that an acceptor compares; of no enum it is empty.
func (c *checker) enumOf(acceptor int) enum {
	r, ok := c.readings[acceptor]
	if !ok {
		return enum{}
	}
	t := r.Type
	if t.Kind == jsontype.Array && t.Elem != nil {
		t = t.Elem
	}
	if values := t.Enum(); values != nil {
		return enum{name: t.String(), values: values}
	}
	if n := len(r.Members); n > 0 && t.Kind == jsontype.String {
		if path := joinPath(r.Members[n-1].Path, c.waiter.Acceptors[acceptor]); path[0] == "output" {
			return c.valuesOfTable(path[1:])
		}
	}
	return enum{}
}

// valuesOf are the values of a leaf, or of the items of one that is a list.
func (c *checker) valuesOf(l *leaf) enum {
	t := l.typ
	if t != nil && t.Kind == jsontype.Array {
		t = t.Elem
	}
	if t == nil || t.Kind != jsontype.String {
		return enum{}
	}
	var e enum
	if len(t.Values) > 0 {
		e = enum{name: t.Name, values: slices.Sorted(slices.Values(t.Values))}
	} else if l.path[0] == "output" {
		e = c.valuesOfTable(l.path[1:])
	}
	if l.path[0] != "output" {
		return e
	}
	for _, j := range c.jobs(l.path[1:]) {
		if c.means(j, l) {
			e.jobs = append(e.jobs, j)
		}
	}
	return e
}

// valuesOfTable are the values of a string that the catalogue's table of jobs
// gives it, since the model has no enum there.
func (c *checker) valuesOfTable(path []string) enum {
	var e enum
	for _, j := range c.jobs(path) {
		if j.Documented {
			e.name, e.documented = writePath(path), true
			e.values = append(e.values, slices.Concat(j.Success, j.Failure, j.Running)...)
		}
	}
	slices.Sort(e.values)
	e.values = slices.Compact(e.values)
	return e
}

// writePath is a path as people write it: "Stacks[].StackStatus".
func writePath(path []string) string { return strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]") }

// jobs are those of the table that have their status at this path of the
// operation's output, in the order of their names.
func (c *checker) jobs(path []string) []*catalog.Job {
	if c.operation == nil || c.operation.Service == nil {
		return nil
	}
	var found []*catalog.Job
	all := c.operation.Service.Jobs
	for _, name := range sortNames(all) {
		j := all[name]
		if j.Describe == c.operation.Name && j.Status != "" && slices.Equal(steps(path), statusSteps(j.Status, c.options.Spelling)) {
			found = append(found, j)
		}
	}
	return found
}

// steps are the names on a path, without what stands for items of a list.
func steps(path []string) []string {
	return slices.DeleteFunc(slices.Clone(path), func(step string) bool { return step == "[]" || step == "*" })
}

// statusSteps are the names on the path of a job's status, such as
// "jobs[0].status".
func statusSteps(status string, spelling func(string) string) []string {
	var steps []string
	for step := range strings.SplitSeq(status, ".") {
		step, _, _ = strings.Cut(step, "[")
		if step == "" {
			continue
		}
		if spelling != nil {
			step = spelling(step)
		}
		steps = append(steps, step)
	}
	return steps
}

// means tells whether a job's status is the one that the waiter waits for: what the
// waiter takes for success is success of the job, and nothing that it takes for
// failure is. A waiter for the same status to be DELETED has another end.
func (c *checker) means(j *catalog.Job, l *leaf) bool {
	same := false
	for i, a := range c.waiter.Acceptors {
		m, _ := pathOf(a)
		if m == nil || m.Comparator == pollcore.BooleanEquals || !slices.Contains(keysOf(c.readings[i], a), l.key) {
			continue
		}
		succeeds := slices.Contains(j.Success, m.Expected)
		switch {
		case a.State == pollcore.Success && !succeeds, a.State == pollcore.Failure && succeeds:
			return false
		case a.State == pollcore.Success:
			same = true
		}
	}
	return same
}

// says is what a value of the enum says of the job.
func (e enum) says(value string) Value {
	for _, j := range e.jobs {
		for _, set := range []struct {
			verdict pollcore.Verdict
			values  []string
		}{{pollcore.Success, j.Success}, {pollcore.Failure, j.Failure}, {pollcore.Retry, j.Running}} {
			if slices.Contains(set.values, value) {
				return Value{Value: value, Verdict: set.verdict, Known: true}
			}
		}
	}
	return Value{Value: value, Verdict: looks(value)}
}
