package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Values of a status that are no text of the service's or the function's own.
const (
	absentValue  = "absent"
	presentValue = "present"
)

// wholePath is the path of a status that is the answer itself.
const wholePath = "$"

// comparedBy is askedBy, if that is asked for.
func (c *checker) comparedBy(l *loop, s *asl.State, asked bool) *polled {
	if !asked {
		return nil
	}
	return c.askedBy(l, s)
}

// askedBy is what a Task asks that no entry of the catalogue polls: its statuses are the members of its answer that the
// machine compares, those first that look most like a status. It is nil if the machine compares none.
func (c *checker) askedBy(l *loop, s *asl.State) *polled {
	if c.operations.of(s) != nil || !mayAsk(s) {
		return nil
	}
	demand := c.demandOf(s)
	if demand == nil {
		return nil
	}
	p := &polled{byName: true}
	p.name, p.target = nameAsked(s)
	compared := demand.Compared()
	if whole, ok := demand.ComparedWhole(); ok {
		compared = append(compared, whole)
	}
	slices.SortStableFunc(compared, func(a, b typecheck.Compared) int {
		return cmp.Or(cmp.Compare(likenessOf(&b), likenessOf(&a)), cmp.Compare(len(b.Texts), len(a.Texts)))
	})
	for i := range compared {
		if status := c.readAsked(l, s, &compared[i]); status != nil {
			p.statuses = append(p.statuses, status)
		}
	}
	if len(p.statuses) == 0 {
		return nil
	}
	return p
}

// likenessOf says how much a member that a machine compares looks like a status.
func likenessOf(part *typecheck.Compared) int {
	switch texts := len(part.Texts)+len(part.Patterns) > 0; {
	case texts && statusName().MatchString(lastName(part.Path)):
		return 4
	case texts:
		return 3
	case part.Flag:
		return 2
	case len(part.Numbers) > 0:
		return 1
	default:
		return 0
	}
}

// readAsked reads a member of an answer that the machine compares, or asks for, as a status; nil if it tells nothing of a
// job, as a count does.
func (c *checker) readAsked(l *loop, poll *asl.State, part *typecheck.Compared) *status {
	s := &status{path: cmp.Or(part.Path, wholePath), steps: part.Steps, literals: map[string]any{}}
	switch {
	case len(part.Texts)+len(part.Patterns) > 0:
		s.values = slices.Clone(valueAt(c.types.Result(poll), part.Steps).Enum())
		s.listed = len(s.values) > 0
		if !s.listed && slices.ContainsFunc(l.states, groupsByValue) {
			return nil // the machine may ask for more values than those that it compares
		}
		if !s.listed {
			s.addValues(part.Texts...)
			s.addValues(slices.DeleteFunc(textsFitting(part.Patterns), func(text string) bool { // a part of a status says nothing
				return c.fitting == nil && meaningOfName(text) == MeansUnknown
			})...)
			if len(part.Patterns) > 0 {
				s.addValues(c.fitting...)
			}
			s.addValues(c.saidOf(poll)...)
		}
	case part.Flag:
		s.putTruths()
	case len(part.Numbers) > 0 && !c.boundsOf(l).counters[lastName(part.Path)]:
		switch known := valueAt(c.types.Result(poll), part.Steps).Numbers(); len(known) {
		case 0:
			s.putNumbers(part.Numbers, limitsOf(poll, part.Steps))
		case 1:
			return nil // each answer has it
		default:
			s.putKnown(known)
		}
	case part.Asked:
		s.putPresence()
	default:
		return nil
	}
	if part.Asked && !s.complete {
		s.addLiteral(absentValue, nil)
	}
	s.judges = []*judge{c.judgeAsked(poll, s.values)}
	return s
}

// putTruths makes the status true or false.
func (s *status) putTruths() {
	s.complete = true
	s.addLiteral("true", true)
	s.addLiteral("false", false)
}

// putPresence makes the status whether the member is there, as any text is.
func (s *status) putPresence() {
	s.complete = true
	s.addLiteral(presentValue, presentValue)
	s.addLiteral(absentValue, nil)
}

// put is an answer with a value of the status. Where there are no others, the last value stands for the other one.
func (s *status) put(answer typecheck.Value, value string) typecheck.Value {
	if value == otherValue && s.complete {
		value = s.values[len(s.values)-1]
	}
	literal, known := s.literals[value]
	switch literal := literal.(type) {
	case bool:
		return typecheck.NarrowTruth(answer, s.steps, literal)
	case float64:
		return typecheck.NarrowNumber(answer, s.steps, literal)
	case string:
		return typecheck.NarrowPresent(answer, s.steps)
	default:
		if known {
			return typecheck.NarrowAbsent(answer, s.steps)
		}
		return typecheck.Narrow(answer, s.steps, value)
	}
}

// valueAt is the value at steps of an answer.
func valueAt(v typecheck.Value, steps []string) typecheck.Value {
	for _, step := range steps {
		if i, err := strconv.Atoi(step); err == nil && v.IsArray() {
			v = v.Item(i)
		} else {
			v = v.Member(step)
		}
	}
	return v
}

// saidOf are the statuses whose meaning the user gives, for a Task or for all.
func (c *checker) saidOf(poll *asl.State) []string {
	var all []string
	for key := range c.said {
		state, value, scoped := strings.Cut(key, ":")
		switch {
		case scoped && state == poll.Name:
			all = append(all, value)
		case !scoped:
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}
