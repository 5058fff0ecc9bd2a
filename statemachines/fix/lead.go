package fix

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// lead is what an execution does besides the loop: how long it may take to get there by its
// Wait states and by other loops, and how many loops share the time that is left.
type lead struct {
	lasts time.Duration
	loops int
}

func (l lead) String() string {
	begins := fmt.Sprintf("the Wait states before the loop take %s", spell(l.lasts))
	switch {
	case l.loops > 1 && l.lasts > 0:
		return fmt.Sprintf(" (%s, and %d loops share the rest)", begins, l.loops)
	case l.loops > 1:
		return fmt.Sprintf(" (%d loops share that time)", l.loops)
	case l.lasts > 0:
		return " (" + begins + ")"
	default:
		return ""
	}
}

// findLead follows the flows of an execution down to the loop.
func (l *loop) findLead(o Options) lead {
	found := lead{loops: 1}
	flows := l.findFlows()
	takes := maps.Clone(l.steady)
	all := lint.Loops(l.machine, o.lint())
	for i := range all {
		other := &all[i]
		if slices.Contains(other.States, l.poll) {
			continue
		}
		for _, s := range other.States {
			takes[s] = 0
		}
		if lasts := l.boundOf(other); lasts > 0 {
			takes[other.TurnsAt()] = lasts
		} else if at := other.Flow.Holder(l.poll); slices.Contains(flows, other.Flow) &&
			(other.Flow.Leads(other.TurnsAt(), at) || other.Flow.Leads(at, other.TurnsAt())) {
			found.loops++
		}
	}
	for _, s := range l.states {
		takes[s] = 0
	}
	for _, f := range flows {
		to := f.Holder(l.poll)
		if f == l.flow {
			to = l.begins()
		}
		found.lasts += longestWay(f, to, takes)
	}
	return found
}

// findFlows are the flows that the loop is in, from that of the execution: the machine's, or that
// of a child execution of an Express workflow.
func (l *loop) findFlows() []*asl.Flow {
	flows := []*asl.Flow{&l.machine.Flow}
	for f := flows[0]; f != l.flow; {
		outer := f.Holder(l.poll)
		if outer.Map != nil && outer.Map.Distributed && outer.Map.ExecutionType == asl.Express {
			flows = nil
		}
		f = outer.Flows()[slices.IndexFunc(outer.Flows(), func(inner *asl.Flow) bool { return inner.Holder(l.poll) != nil })]
		flows = append(flows, f)
	}
	return flows
}

// compiledDeadline finds where a compiled loop sets its deadline, so many milliseconds later.
var compiledDeadline = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(\w+Deadline)": ?"\{% \$toMillis\(\$states\.context\.State\.EnteredTime\) \+ (\d+) %\}"`)
})

// boundOf is how long another loop may last; 0 if the definition does not say.
func (l *loop) boundOf(other *lint.Loop) time.Duration {
	if other.Bound.Kind == lint.ByCount && other.Bound.After > 0 {
		return other.Bound.After - other.Bound.Ahead
	}
	for _, found := range compiledDeadline().FindAllSubmatch(l.root.Raw(), -1) {
		if slices.ContainsFunc(other.States, func(s *asl.State) bool { return bytes.Contains(l.node(s).Raw(), slices.Concat([]byte("$"), found[1])) }) {
			milliseconds, _ := strconv.ParseInt(string(found[2]), 10, 64)
			return time.Duration(milliseconds) * time.Millisecond
		}
	}
	return 0
}
