package mock

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// reader collects the problems of a file.
type reader struct {
	config   *Config
	answered map[string]bool // states and resources that have an answer
	problems diag.Problems
}

func (r *reader) add(p diag.Problem) { r.problems = append(r.problems, p) }

// object tells whether the value is an object, and reports it if not.
func (r *reader) object(n *jsontree.Node, what string) bool {
	if n.Kind != jsontree.Object {
		r.add(n.Problem("expected an object with %s, found %s", what, n.Describe()))
	}
	return n.Kind == jsontree.Object
}

// members refuses the members that are not among names.
func (r *reader) members(n *jsontree.Node, names ...string) {
	for _, m := range n.Members {
		if !slices.Contains(names, m.Name) {
			r.add(n.MemberProblem(m, "unknown member %q; expected one of %s", m.Name, strings.Join(names, ", ")).Suggest(m.Name, names...))
		}
	}
}

func (r *reader) text(n *jsontree.Node, name string, required bool) string {
	m := n.Get(name)
	switch {
	case m == nil && required:
		r.add(n.Problem("the member %q is missing", name))
	case m == nil:
	case m.Kind != jsontree.String:
		r.add(m.Problem("%q must be a string, found %s", name, m.Describe()))
	default:
		return m.Text
	}
	return ""
}

func (r *reader) flag(n *jsontree.Node, name string) bool {
	m := n.Get(name)
	if m != nil && m.Kind != jsontree.Bool {
		r.add(m.Problem("%q must be true or false, found %s", name, m.Describe()))
		return false
	}
	return m != nil && m.Text == "true"
}

// seconds reads a number of seconds of at least 0; 0 if there is none.
func (r *reader) seconds(n *jsontree.Node, name string) time.Duration {
	m := n.Get(name)
	if m == nil {
		return 0
	}
	value, err := strconv.ParseFloat(m.Text, 64)
	const most = float64(100 * 365 * 24 * 60 * 60)
	if m.Kind != jsontree.Number || err != nil || value < 0 || value > most {
		r.add(m.Problem("%q must be a number from 0 to %.0f, found %s", name, most, m.Describe()))
		return 0
	}
	return time.Duration(value * float64(time.Second))
}

// own reads a file of our own form.
func (r *reader) own(root *jsontree.Node) {
	for _, m := range root.Members {
		r.answered[m.Name] = true
	}
	for _, m := range root.Members {
		if m.Value.Get("job") != nil {
			r.members(m.Value, namesOf(jobEntryForm{})...)
			r.job(m.Name, m.Value.Get("job"))
			continue
		}
		nodes := []*jsontree.Node{m.Value}
		if m.Value.Kind == jsontree.Array {
			if nodes = m.Value.Items; len(nodes) == 0 {
				r.add(m.Value.Problem("expected at least one step"))
			}
		}
		for _, n := range nodes {
			r.config.scripts[m.Name] = append(r.config.scripts[m.Name], r.step(n))
		}
	}
}

func (r *reader) step(n *jsontree.Node) step {
	if !r.object(n, "return, fail, throttle or never") {
		return step{}
	}
	r.members(n, append(namesOf(stepForm{}), "todo")...)
	if todo := n.Get("todo"); todo != nil {
		r.add(todo.Problem("this mock is not filled in: write what the Task returns, and remove \"todo\""))
	}
	var found []string
	for _, name := range []string{"return", "fail", "throttle", "never"} {
		if n.Get(name) != nil {
			found = append(found, name)
		}
	}
	submitted := n.Get("submitted")
	if len(found) == 0 && submitted != nil {
		found = []string{"submitted"}
	}
	if len(found) != 1 {
		r.add(n.Problem("a step needs exactly one of return, fail, throttle and never, or submitted alone, found %d", len(found)))
		return step{}
	}
	s := step{reply: sim.Reply{Latency: r.seconds(n, "after"), HeartbeatEvery: r.seconds(n, "heartbeats")}, echoes: r.echoes(n, "echoes")}
	if submitted != nil {
		s.reply.Submitted = submitted.Value()
	}
	if times := n.Get("times"); times != nil {
		digits, whole := jsontree.WholeNumber(times.Text)
		count, err := strconv.Atoi(digits)
		if times.Kind != jsontree.Number || !whole || err != nil || count < 1 {
			r.add(times.Problem("\"times\" must be a whole number of at least 1, found %s", times.Describe()))
		}
		s.times = count
	}
	switch value := n.Get(found[0]); found[0] {
	case "return":
		s.reply.Output = value.Value()
	case "fail":
		s.fail = r.failure(value, namesOf(failForm{})...)
	case "submitted":
		s.reply.Never = true // the handler's part: a token may come back
		if after := n.Get("after"); after != nil {
			r.add(after.Problem("\"after\" is about the end of the Task: add \"return\" or \"fail\", or remove it"))
		}
	default:
		if value.Text != "true" || value.Kind != jsontree.Bool {
			r.add(value.Problem("%q must be true, found %s", found[0], value.Describe()))
		}
		s.throttle, s.reply.Never = found[0] == "throttle", found[0] == "never"
		if after := n.Get("after"); s.reply.Never && after != nil {
			r.add(after.Problem("one step cannot have both \"after\" and \"never\""))
		}
	}
	return s
}

func (r *reader) failure(n *jsontree.Node, names ...string) *sim.TaskError {
	name, cause := names[0], names[1]
	if !r.object(n, name+" and "+cause) {
		return nil
	}
	r.members(n, names...)
	return &sim.TaskError{Name: r.text(n, name, true), Cause: r.text(n, cause, false)}
}
