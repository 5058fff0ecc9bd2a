package trial

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// script is what the Tasks of one run are answered.
type script struct {
	lead    *script  // what another Task is answered, so that the run gets to this one; nil if it does so by itself
	task    string   // that varies; empty if none does
	answers []answer // of its calls, in order; usual ones follow
	forever bool     // the last one is that of all later calls instead
	kinds   []Kind
	title   string
	never   bool  // its job does not end
	whole   bool  // it shows the bound of a loop
	took    int   // events, if it leads to others
	events  int   // after which a run is one that polls on; 0 for what a history has room for
	ends    []int // of each answer: the next one that is not like it
}

// behind is the script where another one leads to its Task.
func (s *script) behind(lead *script) *script {
	if lead.task == "" {
		return s
	}
	composed := *s
	composed.lead, composed.kinds = lead, slices.Concat(lead.kinds, s.kinds)
	composed.title = fmt.Sprintf("%s, behind %s", s.title, lead.title)
	return &composed
}

// of is the part of the script that answers a Task; nil if that one goes well.
func (s *script) of(task string) *script {
	for s != nil && s.task != task {
		s = s.lead
	}
	return s
}

// answer is the n-th of the Task that varies; not ok for a usual one.
func (s *script) answer(n int) (a answer, ok bool) {
	switch {
	case n < len(s.answers):
		return s.answers[n], true
	case s.forever:
		return s.answers[len(s.answers)-1], true
	default:
		return answer{}, false
	}
}

// runEnd is the next answer that is not like the n-th; more than len(s.answers) if there is none.
func (s *script) runEnd(n int) int {
	last := len(s.answers) - 1
	if n > last {
		return n + 1
	}
	if s.ends == nil {
		s.ends = make([]int, len(s.answers))
		for i := range slices.Backward(s.answers) {
			a, _ := s.answer(i)
			next, _ := s.answer(i + 1)
			switch {
			case a != next:
				s.ends[i] = i + 1
			case i < last:
				s.ends[i] = s.ends[i+1]
			default:
				s.ends[i] = len(s.answers) + 1
			}
		}
	}
	return s.ends[n]
}

// scriptsOf are the scripts of one Task.
type scriptsOf struct {
	role string
	all  []*script
}

// add adds a script. extra are kinds beside those of its answers.
func (s *scriptsOf) add(title string, forever bool, answers []answer, extra ...Kind) *script {
	added := &script{task: s.role, answers: answers, forever: forever, title: title, kinds: extra}
	for _, a := range answers {
		if a.kind != (Kind{}) && !slices.Contains(added.kinds, a.kind) {
			added.kinds = append(added.kinds, a.kind)
		}
	}
	s.all = append(s.all, added)
	return added
}

// scripts are all that are worth a run for a Task.
func (c *callee) scripts(role string, loops bool) []*script {
	s := &scriptsOf{role: role}
	c.addEnds(s)
	for i, a := range c.errors {
		title := fmt.Sprintf("%s at %q", a.kind.Value, role)
		s.add(title, false, []answer{a})
		if c.running == nil {
			// The first shows the bound of a Retry of all errors, and others that of a Retry of theirs.
			s.add(title+" for ever", true, []answer{a}).whole = i == 0 || slices.Contains(c.caught, a.kind.Value)
			continue
		}
		s.add(title+" after 1 poll", false, []answer{*c.running, a})
		s.add(title+" twice", false, []answer{*c.running, a, a})
		s.add(title+" for ever", true, []answer{*c.running, a}).whole = i == 0 || slices.Contains(c.caught, a.kind.Value)
	}
	if asl.ParseResource(c.state.Task.Resource).WaitsForToken() || asl.ParseResource(c.state.Task.Resource).Service == "activity" {
		s.add(fmt.Sprintf("no answer of %q", role), true, []answer{silence(role)})
	}
	c.addLengths(s, loops)
	return s.all
}

// addEnds adds what a job can say, at once and later.
func (c *callee) addEnds(s *scriptsOf) {
	for _, a := range c.answers {
		title := fmt.Sprintf("%s at %q", nameOf(a.kind), s.role)
		s.add(title, a.ended, []answer{a}) // a job that has ended stays so
		s.add(title+" after 1 poll", a.ended, []answer{*c.running, a})
		s.add(title+" after 2 polls", a.ended, []answer{*c.running, *c.running, a})
		if a.ended && c.ending != nil {
			s.add(fmt.Sprintf("%s after %s", title, c.ending.kind.Value), true, []answer{*c.running, *c.ending, a})
		}
	}
	for _, a := range c.beside {
		s.add(fmt.Sprintf("%s at %q", nameOf(a.kind), s.role), a.ended, []answer{a})
	}
	for _, a := range c.several {
		title := fmt.Sprintf("no job listed at %q", s.role)
		if len(a.kinds) > 1 {
			title = fmt.Sprintf("%s at %q", a.kinds[0].Value, s.role)
		}
		s.add(title, a.ended, []answer{a.answer}, a.kinds...)
	}
	for _, a := range c.bare {
		s.add(fmt.Sprintf("%s without optional members at %q", nameOf(a.kind), s.role), a.ended, []answer{a}, Kind{Task: s.role, Sort: Bare})
	}
}

// endsLater are jobs that go on where an outer loop asks for a second job: what one more poll hides
// of the first shows of the last.
func (c *callee) endsLater(role string) []*script {
	s, first := &scriptsOf{role: role}, c.usual
	first.kind = Kind{} // it goes well in any run
	for _, a := range c.answers {
		if !a.ended {
			s.add(fmt.Sprintf("%s at %q of the second job", nameOf(a.kind), role), false, []answer{first, a})
		}
	}
	return s.all
}

// lasting is a job that goes on for some polls.
func (c *callee) lasting(role string) *script {
	s := &scriptsOf{role: role}
	return s.add(fmt.Sprintf("a job at %q that ends after 3 polls", role), false, []answer{*c.running, *c.running, *c.running})
}

// endsBeside are the ends of a job while another one lasts.
func (c *callee) endsBeside(role string, other *script) []*script {
	var all []*script
	s := &scriptsOf{role: role}
	for _, a := range c.answers {
		if a.ended {
			all = append(all, s.add(fmt.Sprintf("%s at %q", nameOf(a.kind), role), true, []answer{a}).behind(other))
		}
	}
	return all
}

// fewEvents is how far a run goes in which nothing shows the bound of a loop, beyond what the
// run takes that leads there.
const fewEvents = 2000

// addLengths adds jobs that end late, and those that do not end.
func (c *callee) addLengths(s *scriptsOf, loops bool) {
	if c.running == nil {
		return
	}
	s.add(fmt.Sprintf("a job at %q that ends after 1 poll", s.role), false, []answer{*c.running})
	s.add(fmt.Sprintf("a job at %q that ends after 2 polls", s.role), false, []answer{*c.running, *c.running})
	if !loops {
		return
	}
	for i, a := range append([]answer{*c.running}, c.answers...) {
		if a.runs && a.kind.Value != c.running.kind.Value || a.kind.Value == UnknownValue || a.kind.Pattern != "" || i == 0 {
			stays := s.add(fmt.Sprintf("a job that stays %s at %q", a.kind.Value, s.role), true, []answer{a}, a.kind.staying(s.role))
			stays.never, stays.whole = true, i == 0 // the first shows the bound
		}
	}
	if c.waiting.text != "" && c.waiting.text != c.running.text {
		s.add(fmt.Sprintf("a job that stays %s at %q, without optional members", c.running.kind.Value, s.role), true, []answer{c.waiting},
			Kind{Task: s.role, Sort: Never, Value: c.running.kind.Value}).never = true
	}
}

func nameOf(k Kind) string {
	switch {
	case k.Sort == "":
		return "an answer"
	case k.Value == "":
		return "no status"
	case k.Beside != "":
		return fmt.Sprintf("status %s and %s", k.Value, k.Beside)
	default:
		return "status " + k.Value
	}
}
