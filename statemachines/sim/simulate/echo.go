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
