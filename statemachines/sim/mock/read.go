package mock

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// reader collects the problems of a file.
type reader struct {
	config   *Config
	problems diag.Problems
}

func (r *reader) add(p diag.Problem) { r.problems = append(r.problems, p) }

func (r *reader) object(n *jsontree.Node, what string) *jsontree.Node {
	if n.Kind != jsontree.Object {
		r.add(n.Problem("expected %s, which are an object, found %s", what, n.Describe()))
		return nil
	}
	return n
}

// members refuses the members that are not among names.
func (r *reader) members(n *jsontree.Node, names ...string) {
	for _, m := range n.Members {
		if !slices.Contains(names, m.Name) {
			r.add(n.MemberProblem(m, "unknown member %q, expected one of %s", m.Name, strings.Join(names, ", ")).Suggest(m.Name, names...))
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
		r.add(m.Problem("%q has to be a string, found %s", name, m.Describe()))
	default:
		return m.Text
	}
	return ""
}

// number reads a number of at least 0.
func (r *reader) number(n *jsontree.Node, name string, required bool) float64 {
	m := n.Get(name)
	if m == nil {
		if required {
			r.add(n.Problem("the member %q is missing", name))
		}
		return 0
	}
	value, err := strconv.ParseFloat(m.Text, 64)
	const most = float64(100 * 365 * 24 * 60 * 60)
	if m.Kind != jsontree.Number || err != nil || value < 0 || value > most {
		r.add(m.Problem("%q has to be a number from 0 to %g, found %s", name, most, m.Describe()))
		return 0
	}
	return value
}

// own reads a file of our own form.
func (r *reader) own(root *jsontree.Node) {
	for _, m := range root.Members {
		if m.Value.Kind == jsontree.Object && m.Value.Get("job") != nil {
			r.members(m.Value, "job")
			r.job(m.Name, m.Value.Get("job"))
			continue
		}
		nodes := []*jsontree.Node{m.Value}
		if m.Value.Kind == jsontree.Array {
			nodes = m.Value.Items
		}
		var steps []step
		for _, n := range nodes {
			steps = append(steps, r.step(n))
		}
		r.config.handlers[m.Name] = scripted(steps)
	}
}

// scripted makes a fresh script of the steps each time.
func scripted(steps []step) func() sim.Handler {
	return func() sim.Handler { return (&Script{steps: slices.Clone(steps)}).Handle }
}

func (r *reader) step(n *jsontree.Node) step {
	if r.object(n, "a step") == nil {
		return step{}
	}
	r.members(n, "return", "fail", "throttle", "never", "times", "after", "submitted")
	var found []string
	for _, name := range []string{"return", "fail", "throttle", "never"} {
		if n.Get(name) != nil {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		r.add(n.Problem("a step needs exactly one of return, fail, throttle and never, found %d", len(found)))
		return step{}
	}
	s := step{reply: sim.Reply{Latency: seconds(r.number(n, "after", false))}}
	if submitted := n.Get("submitted"); submitted != nil {
		s.reply.Submitted = submitted.Value()
	}
	if times := n.Get("times"); times != nil {
		count, err := strconv.Atoi(times.Text)
		if times.Kind != jsontree.Number || err != nil || count < 1 {
			r.add(times.Problem("\"times\" has to be a whole number of at least 1, found %s", times.Describe()))
		}
		s.times = count
	}
	switch value := n.Get(found[0]); found[0] {
	case "return":
		s.reply.Output = value.Value()
	case "fail":
		s.fail = r.failure(value, "error", "cause")
		s.fail.Latency, s.fail.Submitted = s.reply.Latency, s.reply.Submitted
	default:
		if value.Text != "true" || value.Kind != jsontree.Bool {
			r.add(value.Problem("%q has to be true, found %s", found[0], value.Describe()))
		}
		s.throttle, s.reply.Never = found[0] == "throttle", found[0] == "never"
	}
	return s
}

func (r *reader) failure(n *jsontree.Node, name, cause string) *sim.TaskError {
	if r.object(n, "an error and its cause") == nil {
		return &sim.TaskError{}
	}
	r.members(n, name, cause)
	return &sim.TaskError{Name: r.text(n, name, true), Cause: r.text(n, cause, false)}
}

// job reads a job whose describe call has the name.
func (r *reader) job(name string, n *jsontree.Node) {
	if r.object(n, "the members of a job") == nil {
		return
	}
	r.members(n, "runs", "status", "running", "ends", "stopped", "answer", "id", "idArgument", "start", "stop")
	j := Job{
		Runs: seconds(r.number(n, "runs", true)), Status: r.text(n, "status", true), Running: r.text(n, "running", true),
		Ends: r.text(n, "ends", true), Stopped: r.text(n, "stopped", false), ID: r.text(n, "id", false), IDArgument: r.text(n, "idArgument", false),
	}
	if answer := n.Get("answer"); answer != nil && r.object(answer, "the members of an answer") != nil {
		j.Answer, _ = answer.Value().(map[string]any)
	}
	if err := j.Check(); err != nil && len(r.problems) == 0 {
		r.add(n.Problem("%v", err))
	}
	r.config.jobs = append(r.config.jobs, &jobConfig{
		start: r.text(n, "start", false), describe: name, stop: r.text(n, "stop", false),
		job: func() *Job {
			return &Job{
				Runs: j.Runs, Answer: j.Answer, Status: j.Status, Running: j.Running, Ends: j.Ends, Stopped: j.Stopped, ID: j.ID, IDArgument: j.IDArgument,
			}
		},
	})
}

// aws reads a file of AWS's form.
func (r *reader) aws(root *jsontree.Node) {
	r.members(root, "StateMachines", "MockedResponses")
	responses := map[string]func() sim.Handler{}
	if all := root.Get("MockedResponses"); all != nil && r.object(all, "mocked responses") != nil {
		for _, m := range all.Members {
			responses[m.Name] = scripted(r.responses(m.Value))
		}
	}
	machines := root.Get("StateMachines")
	if machines == nil || r.object(machines, "state machines") == nil {
		r.add(root.Problem("the member \"StateMachines\" is missing"))
		return
	}
	for _, m := range machines.Members {
		r.config.cases[m.Name] = map[string]testCase{}
		if r.object(m.Value, "the members of a state machine") == nil {
			continue
		}
		r.members(m.Value, "TestCases")
		cases := m.Value.Get("TestCases")
		if cases == nil || r.object(cases, "test cases") == nil {
			r.add(m.Value.Problem("the member \"TestCases\" is missing"))
			continue
		}
		for _, c := range cases.Members {
			r.config.cases[m.Name][c.Name] = r.testCase(c.Value, responses)
		}
	}
}

func (r *reader) testCase(n *jsontree.Node, responses map[string]func() sim.Handler) testCase {
	out := testCase{}
	if r.object(n, "the states of a test case") == nil {
		return out
	}
	for _, m := range n.Members {
		response := responses[m.Value.Text]
		if m.Value.Kind != jsontree.String || response == nil {
			r.add(m.Value.Problem("there is no mocked response %s", m.Value.Describe()).
				Suggest(m.Value.Text, slices.Sorted(maps.Keys(responses))...))
			continue
		}
		out[m.Name] = response
	}
	return out
}

// responses reads a mocked response: numbers of calls, from 0, and what they
// give.
func (r *reader) responses(n *jsontree.Node) []step {
	if r.object(n, "the calls of a mocked response") == nil {
		return nil
	}
	var steps []step
	for _, m := range n.Members {
		first, last, ok := callRange(m.Name)
		if !ok {
			r.add(n.MemberProblem(m, "expected the number of a call such as \"0\", or a range such as \"1-2\", found %q", m.Name))
			continue
		}
		if expected := count(steps); first != expected {
			r.add(n.MemberProblem(m, "expected call %d next, found %q: calls are numbered from 0 without gaps", expected, m.Name))
		}
		s := r.response(m.Value)
		s.times = last - first + 1
		steps = append(steps, s)
	}
	return steps
}

func count(steps []step) int {
	n := 0
	for _, s := range steps {
		n += s.times
	}
	return n
}

func callRange(text string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	last = first
	if err == nil && isRange {
		last, err = strconv.Atoi(to)
	}
	const most = 1_000_000
	return first, last, err == nil && first >= 0 && last >= first && last < most
}

func (r *reader) response(n *jsontree.Node) step {
	if r.object(n, "Return or Throw") == nil {
		return step{}
	}
	r.members(n, "Return", "Throw")
	value, thrown := n.Get("Return"), n.Get("Throw")
	if (value == nil) == (thrown == nil) {
		r.add(n.Problem("expected one of \"Return\" and \"Throw\""))
		return step{}
	}
	if thrown != nil {
		return step{fail: r.failure(thrown, "Error", "Cause")}
	}
	return step{reply: sim.Reply{Output: value.Value()}}
}
