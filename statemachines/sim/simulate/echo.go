package simulate

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// echo is a member of an answer that repeats what the call asks for.
type echo struct{ asked, told place }

// findEchoes finds the members of an answer that have the name of an argument which one of the
// Tasks passes: RDS answers with the DBInstanceIdentifier that it was asked for. A status is none.
func (j *job) findEchoes(model *catalog.Operation) []echo {
	var all []echo
	if model.Input == nil {
		return nil
	}
	askers := j.describes
	if j.askers != nil {
		askers = j.askers
	}
	for _, m := range model.Input.Members {
		if paging().MatchString(m.Name) || !slices.ContainsFunc(askers, func(t *task) bool { return t.passes(m.Name) }) {
			continue
		}
		var told place
		switch element := m.Shape.Element; {
		case len(j.identity.asked) > 0 && j.identity.asked[0] == m.Name && j.identity.told != nil:
			told = j.identity.told
		case m.Shape.Type == catalog.String && m.Shape.Enum == nil:
			told = tell(model.Output, m.Name)
		case m.Shape.Type == catalog.List && element.Shape.Type == catalog.String && element.Shape.Enum == nil:
			told = tellItem(model.Output, strings.TrimSuffix(m.Name, "s"))
		}
		if told != nil && (m.Shape.Type == catalog.String || told.lists() > 0) && !isRead(j.entry, told) {
			all = append(all, echo{place{m.Name}, told})
		}
	}
	return all
}

// requestEchoes are the members of a call's answer that repeat its arguments: those of a name and a type
// that both have. Left out are places that the answer does not have, and those that others say, such as
// the id of a job and its status.
func requestEchoes(input, output *catalog.Shape, leftOut func(at place) bool) map[string]string {
	all := map[string]string{}
	if input == nil || output == nil {
		return all
	}
	for i := range input.Members {
		m := &input.Members[i]
		if paging().MatchString(m.Name) || m.Token {
			continue
		}
		if told := tellSame(output, m); told != nil && !leftOut(told) {
			all[place{m.Name}.spell()] = told.spell()
		}
	}
	return all
}

// tellSame finds where an answer has a member of the name and the type of an argument, in the lists of
// things that it is about, too, and in nothing deeper.
func tellSame(s *catalog.Shape, argument *catalog.Member) place {
	if !isPlain(argument.Shape) && (argument.Shape.Type != catalog.List || !isPlain(argument.Shape.Element.Shape)) {
		return nil
	}
	isSame := func(m *catalog.Member) bool {
		return strings.EqualFold(m.Name, argument.Name) && isSameType(m.Shape, argument.Shape)
	}
	for i := range s.Members {
		if isSame(&s.Members[i]) {
			return place{s.Members[i].Name}
		}
	}
	for i := range s.Members {
		outer, at := s.Members[i].Shape, place{s.Members[i].Name}
		if outer.Type == catalog.List {
			outer, at = outer.Element.Shape, append(at, 0)
		}
		if outer.Type != catalog.Structure {
			continue
		}
		for k := range outer.Members {
			if isSame(&outer.Members[k]) {
				return append(at, outer.Members[k].Name)
			}
		}
	}
	return nil
}

// isPlain tells whether values of a shape are texts, numbers or booleans.
func isPlain(s *catalog.Shape) bool {
	switch s.Type {
	case catalog.String, catalog.Boolean, catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return true
	default:
		return false
	}
}

// isSameType tells whether two shapes of plain values, or of lists of them, have the same values.
func isSameType(a, b *catalog.Shape) bool {
	return a.Type == b.Type && slices.Equal(a.Enum, b.Enum) && (a.Type != catalog.List || isSameType(a.Element.Shape, b.Element.Shape))
}

// keptMembers are the members of a simulated job about what its answers repeat.
func (j *job) keptMembers(a *answers) object {
	var members object
	started, described := j.startEchoes(a)
	if len(started) > 0 {
		members = append(members, namedValue{"startEchoes", started})
	}
	if len(described) > 0 {
		members = append(members, namedValue{"describeEchoes", described})
	}
	return members
}

// startEchoes are the members of the answers of a job's start calls that repeat their arguments, and
// those of the answers of its describe call that do.
func (j *job) startEchoes(a *answers) (started, described map[string]string) {
	started, described = map[string]string{}, map[string]string{}
	running := j.behaviour.running().answer
	for _, t := range slices.Concat(j.starts, tasksOfBegins(j.begins)) {
		answer := a.ofCall(t.operation, t.result())
		addAll(started, requestEchoes(t.operation.Input, t.result(), func(at place) bool {
			return at.get(answer) == nil || slices.Equal(at, t.resultAt(j.identity.started))
		}))
		addAll(described, requestEchoes(t.operation.Input, j.entry.Operation.Output, func(at place) bool {
			return at.get(running) == nil || slices.Equal(at, j.identity.told) || slices.Equal(at, j.identity.called) || isRead(j.entry, at)
		}))
	}
	return started, described
}

// addAll adds what is not there yet.
func addAll(to, from map[string]string) {
	for name, value := range from {
		if to[name] == "" {
			to[name] = value
		}
	}
}

// findAskers finds the Tasks of the reader that describe the jobs: answers have the members that these
// ask by, whatever another machine does.
func findAskers(jobs []*job, o *Options) error {
	if o.Reader == nil {
		return nil
	}
	tasks, err := tasksOf(o.Reader, o.Models)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		for _, t := range tasks {
			if t.operation != nil && t.operation.Name == j.entry.Operation.Name && t.operation.Service.Key == j.entry.Service.Key {
				j.askers = append(j.askers, t)
			}
		}
	}
	return nil
}

// isRead tells whether the waiter of an entry reads what stands at a place.
func isRead(e *catalog.Entry, at place) bool {
	if e.Job != nil && slices.Equal(parsePlace(e.Job.Status), at) {
		return true
	}
	return slices.ContainsFunc(readingsOf(e), func(r pollcore.Reading) bool {
		m := e.Waiter.Acceptors[r.Acceptor].Matcher.Output
		return m != nil && slices.ContainsFunc(leavesOf(r, m), func(l leaf) bool { return slices.Equal(l.path, at) })
	})
}

// tellItem finds where an answer has the id of an item that is asked for by a list of its name.
func tellItem(s *catalog.Shape, name string) place {
	for _, suffix := range []string{"", "Id", "Arn", "Name"} {
		if at := tell(s, name+suffix); at.lists() > 0 {
			return at
		}
	}
	return nil
}

// passes tells whether a Task gives an argument, as far as that is known.
func (t *task) passes(member string) bool {
	arguments := t.state.Arguments
	if arguments == nil {
		arguments = t.state.Parameters
	}
	return arguments != nil && (arguments.Expression != nil || hasMember(arguments, member))
}

func hasMember(arguments *asl.Template, member string) bool {
	for name := range membersOf(arguments) {
		if strings.EqualFold(strings.TrimSuffix(name, ".$"), member) {
			return true
		}
	}
	return false
}

// putEchoes gives answers the members that repeat what a call asks for, where they have what
// these are members of.
func (a *answers) putEchoes(answer any, echoes []echo) {
	for _, e := range echoes {
		around, last := e.told[:len(e.told)-1], lastName(e.told)
		if in, is := around.get(answer).(map[string]any); is && in[last] == nil && !a.bare {
			in[last] = last
		}
	}
}

// spellEchoes are the echoes in the spelling of integrations, the id of a job that is started
// apart: the job has it.
func (j *job) spellEchoes() map[string]string {
	all := map[string]string{}
	for _, e := range j.echoes {
		if len(j.starts) == 0 || !slices.Equal(e.told, j.identity.told) {
			all[e.asked.spell()] = e.told.spell()
		}
	}
	return all
}
