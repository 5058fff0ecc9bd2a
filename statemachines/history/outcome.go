package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// course is how a visit went, as far as its outcome needs it.
type course struct {
	// parent is the visit of the Map or Parallel around it, and try that of the tries of
	// this one which it is part of.
	parent *Visit
	try    int
	// place is the index of the item in that Map, or of the branch in that Parallel; -1 if
	// it is not known. branches counts those of the try under way.
	place    int
	branches int
	// tries is how often a Map or Parallel has begun, and restarted when it last did.
	tries     int
	restarted time.Time
	next      *Visit // that it led to
	left      bool   // by an event of its own
	failing   bool   // the last that is known of it is a failure
	// culprit is, of a Map or Parallel that fails, what failed in it; nil if no event tells. What else failed there waits for
	// its next retry.
	culprit *Visit
	// evaluated tells that the failure is that of an expression after a call that
	// succeeded, and failedAt is its event.
	evaluated bool
	failedAt  int
	redriven  bool // a redrive entered its state anew
	redrive   int  // the last that went on with it, counted from 1
	resolved  bool
}

// around is the visit itself or the first around it that a condition holds for; nil if
// there is none.
func (v *Visit) around(holds func(*Visit) bool) *Visit {
	for ; v != nil; v = v.parent {
		if holds(v) {
			return v
		}
	}
	return nil
}

// isBeside tells whether the visit is in another branch or item of a state around another
// visit, however deep.
func (v *Visit) isBeside(other *Visit) bool {
	isAround := func(outer *Visit) bool { return v.around(func(own *Visit) bool { return own == outer }) != nil }
	shared := other.around(isAround)
	return shared != nil && shared != v
}

// begin begins a try of a Map or Parallel.
func (v *Visit) begin(at time.Time) {
	v.tries++
	v.branches = 0
	v.restarted, v.failing, v.culprit, v.Error, v.Cause = at, false, nil, "", ""
}

// fail takes in a failure.
func (v *Visit) fail(event *Event) {
	v.failing, v.evaluated = true, false
	if event.Error != "" || event.Cause != "" {
		v.Error, v.Cause = event.Error, event.Cause
	}
}

// blame takes in the failure of the execution, which came of the visit.
func (v *Visit) blame(event *Event) {
	if v.Error == "" {
		v.Error, v.Cause = event.Error, event.Cause
	}
	v.left = false
	for outer := v; outer != nil; outer = outer.parent {
		outer.failing = true
	}
}

// failThrough notes that a visit failed a Map or Parallel around it, and those between them.
func (v *Visit) failThrough(outer *Visit) {
	for ; v != nil && v != outer; v = v.parent {
		if v.parent != nil {
			v.parent.culprit = v
		}
	}
}

// isBesideCulprit tells whether something else failed the Map or Parallel around the visit.
func (v *Visit) isBesideCulprit() bool {
	of := v.parent.culprit
	return of != nil && of != v && of.Execution == v.Execution
}

// pollsOn tells whether a Task has polled and leads to the wait for the next poll, by
// the failure of its expression: strategy retry-task does so where a schedule has several
// delays.
func (v *Visit) pollsOn() bool {
	return v.left && v.failing && v.evaluated && v.next != nil && v.next.Type == asl.TypeWait
}

// resolve finds what came of the visit.
func (v *Visit) resolve() {
	if v.resolved {
		return
	}
	v.resolved = true
	if v.parent != nil {
		v.parent.resolve()
	}
	v.Outcome, v.Catcher = v.findOutcome()
}

func (v *Visit) findOutcome() (o graph.Outcome, catcher string) {
	p := v.parent
	switch {
	case v.pollsOn():
		return "", ""
	case v.left && v.failing:
		return graph.Caught, v.State
	case v.left && (v.Failures() > 0 || v.tries > 1):
		return graph.Retried, ""
	case v.left:
		return "", ""
	case v.redriven || p != nil && v.try < p.tries:
		return graph.Retried, ""
	case p == nil:
		return v.outcomeWith(v.Execution), ""
	case p.failing && (!v.failing || v.isBesideCulprit()):
		return outcomeBeside(p.Outcome), ""
	case p.left && !p.failing, p.Outcome == "" && v.Execution != p.Execution && v.Execution.HasEnded():
		if v.failing {
			return graph.Caught, "" // the Map tolerates it
		}
		return v.outcomeWith(v.Execution), ""
	case v.failing && isEnd(p.Outcome):
		return v.outcomeOfFailure(), ""
	default:
		return p.Outcome, p.Catcher
	}
}

// isEnd tells whether an execution ends with the outcome of one of its states.
func isEnd(o graph.Outcome) bool { return o == graph.Failed || o == graph.TimedOut }

// outcomeBeside is the outcome of a visit beside which another failed.
func outcomeBeside(of graph.Outcome) graph.Outcome {
	if of == graph.Retried || of == "" {
		return of
	}
	return graph.Aborted
}

// outcomeWith is the outcome of a visit that was not left before its execution ended.
func (v *Visit) outcomeWith(e *Execution) graph.Outcome {
	switch e.Status {
	case StatusFailed:
		return v.outcomeOfFailure()
	case StatusTimedOut:
		return graph.TimedOut
	case StatusAborted:
		return graph.Aborted
	default:
		return ""
	}
}

// outcomeOfFailure is the outcome of a failure that nothing takes.
func (v *Visit) outcomeOfFailure() graph.Outcome {
	if v.Type != asl.TypeFail && v.Error == asl.ErrorTimeout {
		return graph.TimedOut
	}
	return graph.Failed
}

// Describe says what came of the visit: "failed: States.NoChoiceMatched".
func (v *Visit) Describe() string {
	text := v.Outcome.Word()
	name := v.errorName()
	switch {
	case v.Outcome == "":
		return ""
	case v.Outcome == graph.Caught && v.Catcher == "":
		text = "failed, and the Map tolerates it"
	case v.Outcome == graph.Caught && v.Catcher != v.State:
		text += " by the Catch of " + v.Catcher
		if catcher := v.around(func(outer *Visit) bool { return outer.State == v.Catcher }); catcher != nil && catcher.next != nil {
			text += " to " + catcher.next.State
		}
	case v.Outcome == graph.Caught && v.next != nil:
		text += " by the Catch to " + v.next.State
	case v.Outcome == graph.TimedOut && !v.failing:
		return text + " with the execution"
	case v.Outcome == graph.Aborted && v.Execution.Status == StatusAborted:
		text += " with the execution"
	case v.Outcome == graph.Aborted:
		return text + ", because a state beside it failed"
	case v.Outcome == graph.Retried && len(v.Attempts) > 0 && v.left:
		n := v.Failures()
		name = v.lastFailure()
		text = "retried after " + count(n, "failed call")
	}
	if n := len(v.Attempts); v.failing && v.Failures() > 1 && (isEnd(v.Outcome) || v.Outcome == graph.Caught) {
		text += " after " + count(n, "call")
	}
	if name != "" {
		text += ": " + name
	}
	return text
}

// Place says in which item of a Map or branch of a Parallel the visit was: "index 2 of
// Each, branch 1 of Both"; empty outside of them. Both count from 0, as AWS and the picture do.
func (v *Visit) Place() string {
	var all []string
	for ; v.parent != nil; v = v.parent {
		switch {
		case v.place < 0 && v.Execution != v.parent.Execution:
			all = append(all, "execution "+v.Execution.Title+" of "+v.parent.State)
		case v.place < 0:
			all = append(all, "in "+v.parent.State)
		case v.parent.Type == asl.TypeParallel:
			all = append(all, fmt.Sprintf("branch %d of %s", v.place, v.parent.State))
		default:
			all = append(all, fmt.Sprintf("index %d of %s", v.place, v.parent.State))
		}
	}
	return strings.Join(all, ", ")
}

// errorName is the error of the visit: where its failure has no event of its own, that of
// what failed through it.
func (v *Visit) errorName() string {
	for outer := v; outer != nil && v.failing; outer = outer.parent {
		if outer.Error != "" {
			return outer.Error
		}
	}
	if isEnd(v.Outcome) || v.Outcome == graph.Aborted && v.Execution.Status == StatusAborted {
		return v.Execution.Error
	}
	return v.Error
}

// lastFailure is the error of the last call that failed.
func (v *Visit) lastFailure() string {
	name := ""
	for i := range v.Attempts {
		if a := &v.Attempts[i]; a.Failed && !a.Polled {
			name = a.Error
		}
	}
	return name
}

// FindEndings is the worst that came of each state, for a picture. A Map or Parallel has
// the worst of the states inside, but for those that were stopped beside a failure.
func (v *Visits) FindEndings() map[string]graph.Ending {
	worst := map[string]*Visit{}  // by state
	inside := map[*Visit]*Visit{} // of a visit around: the worst in it
	worse := func(a, b *Visit) bool { return b == nil || a.Outcome.Compare(b.Outcome) > 0 }
	for _, visit := range slices.Backward(v.All) { // what is inside comes later
		for _, of := range []*Visit{visit, inside[visit]} {
			if of == nil || of.Outcome == "" {
				continue
			}
			before := worst[visit.State]
			if worse(of, before) || of == visit && of.Outcome == before.Outcome {
				worst[visit.State] = of
			}
			if p := visit.parent; p != nil && of.Outcome != graph.Aborted && worse(of, inside[p]) {
				inside[p] = of
			}
		}
	}
	all := make(map[string]graph.Ending, len(worst))
	for state, visit := range worst {
		text := visit.Describe()
		if visit.State != state {
			text = cmp.Or(visit.State, "a state") + " inside " + text
		}
		all[state] = graph.Ending{Outcome: visit.Outcome, Text: text}
	}
	return all
}

// FindCulprits are the visits at which an execution ended that did not succeed, without
// those of the states around them.
func (v *Visits) FindCulprits(e *Execution) []*Visit {
	around := map[*Visit]bool{}
	var all, found []*Visit
	for _, visit := range v.All {
		if o := visit.Outcome; o != "" && o == visit.outcomeWith(e) || e.Status == StatusFailed && isEnd(o) {
			found = append(found, visit)
			for outer := visit.parent; outer != nil && !around[outer]; outer = outer.parent {
				around[outer] = true
			}
		}
	}
	for _, visit := range found {
		if !around[visit] {
			all = append(all, visit)
		}
	}
	return all
}

// FindCaught are the visits that failed and whose failure a Catch took, the last first,
// without those of the states around them.
func (v *Visits) FindCaught() []*Visit {
	around := map[*Visit]bool{}
	var all []*Visit
	for _, visit := range slices.Backward(v.All) { // what is inside comes later
		if visit.Outcome != graph.Caught || visit.Catcher == "" {
			continue
		}
		if !around[visit] {
			all = append(all, visit)
		}
		for outer := visit; outer.State != visit.Catcher && outer.parent != nil; outer = outer.parent {
			around[outer.parent] = true
		}
	}
	return all
}

// FailureOf is the place of the event with which a visit failed; its last event if none
// of its own tells.
func (v *Visits) FailureOf(visit *Visit) int {
	for i := visit.Last; i > visit.First && visit.First >= 0; i-- {
		if event := &visit.Execution.Events[i]; i < len(v.Of) && v.Of[i] == visit && event.IsFailure() && !event.isOfContainer() {
			return i
		}
	}
	return visit.Last
}

// count writes a number of things.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
