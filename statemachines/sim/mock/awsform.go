package mock

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// aws reads a file of AWS's form. The source of its rules is the page
// "Configuration file for mocked service integrations" of the developer guide.
func (r *reader) aws(root *jsontree.Node) {
	r.members(root, namesOf(awsForm{})...)
	responses := script{}
	if all := root.Get("MockedResponses"); all != nil && r.object(all, "mocked responses") {
		for _, m := range all.Members {
			responses[m.Name] = r.responses(m.Value)
		}
	}
	machines := r.mustHave(root, "StateMachines", "state machines")
	if machines == nil {
		return
	}
	for _, m := range machines.Members {
		if strings.Contains(m.Name, "#") {
			r.add(machines.MemberProblem(m, "the name of a state machine cannot have a \"#\", found %q", m.Name))
		}
		if !r.object(m.Value, "TestCases") {
			continue
		}
		r.members(m.Value, namesOf(awsMachineForm{})...)
		cases := r.mustHave(m.Value, "TestCases", "test cases")
		if cases == nil {
			continue
		}
		for _, c := range cases.Members {
			r.config.cases[m.Name+"#"+c.Name] = r.testCase(c.Value, responses)
		}
	}
	if len(r.config.cases) == 0 {
		r.add(machines.Problem("expected at least one test case"))
	}
}

// mustHave returns the member, which must be an object.
func (r *reader) mustHave(n *jsontree.Node, name, what string) *jsontree.Node {
	m := n.Get(name)
	if m == nil {
		r.add(n.Problem("the member %q is missing", name))
		return nil
	}
	if !r.object(m, what) {
		return nil
	}
	return m
}

func (r *reader) testCase(n *jsontree.Node, responses script) script {
	out := script{}
	if !r.object(n, "states and the names of their mocked responses") {
		return out
	}
	for _, m := range n.Members {
		if m.Value.Kind != jsontree.String {
			r.add(m.Value.Problem("expected the name of a mocked response, found %s", m.Value.Describe()))
			continue
		}
		steps, ok := responses[m.Value.Text]
		if !ok {
			r.add(m.Value.Problem("there is no mocked response %q", m.Value.Text).
				Suggest(m.Value.Text, slices.Sorted(maps.Keys(responses))...))
			continue
		}
		out[m.Name] = steps
	}
	return out
}

// callRange is the numbers of the calls, from 0, that a response is for.
type callRange struct {
	first, last int
	member      jsontree.Member
}

// responses reads a mocked response: the numbers of calls and what they get.
// They may stand in any order and have gaps, but not overlap.
func (r *reader) responses(n *jsontree.Node) []step {
	if !r.object(n, "the calls of a mocked response") {
		return nil
	}
	var ranges []callRange
	for _, m := range n.Members {
		first, last, ok := readRange(m.Name)
		if !ok {
			r.add(n.MemberProblem(m, "expected the number of a call such as \"0\", or a range such as \"1-2\", found %q", m.Name))
			continue
		}
		ranges = append(ranges, callRange{first, last, m})
	}
	slices.SortStableFunc(ranges, func(a, b callRange) int { return a.first - b.first })
	var steps []step
	next := 0
	for i, at := range ranges {
		if at.first < next {
			r.add(n.MemberProblem(at.member, "the calls %q and %q overlap", ranges[i-1].member.Name, at.member.Name))
			continue
		}
		if at.first > next {
			steps = append(steps, step{missing: true, times: at.first - next})
		}
		s := r.response(at.member.Value)
		s.times = at.last - at.first + 1
		steps = append(steps, s)
		next = at.last + 1
	}
	if steps == nil {
		return []step{{missing: true, times: 1}}
	}
	return steps
}

func readRange(text string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	a, errFirst := strconv.ParseUint(from, 10, 31)
	b, errLast := strconv.ParseUint(to, 10, 31)
	return int(a), int(b), errFirst == nil && errLast == nil && a <= b && b < math.MaxInt32
}

func (r *reader) response(n *jsontree.Node) step {
	if !r.object(n, "Return or Throw") {
		return step{}
	}
	r.members(n, namesOf(awsResponseForm{})...)
	value, thrown := n.Get("Return"), n.Get("Throw")
	if (value == nil) == (thrown == nil) {
		r.add(n.Problem("expected one of \"Return\" and \"Throw\""))
		return step{}
	}
	if thrown != nil {
		return step{fail: r.failure(thrown, namesOf(awsFailForm{})...)}
	}
	return step{reply: sim.Reply{Output: value.Value()}}
}
