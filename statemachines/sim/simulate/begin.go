package simulate

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// begin is a call that changes the resource that a waiter describes: what one waits for begins there.
type begin struct {
	task    *task
	verb    *catalog.Verb
	change  *catalog.Change // what is known of it but its name; nil if nothing is
	running *status         // while it goes on; nil for the one of the waiter
}

// findBegins finds the Tasks whose calls begin what a job without a start waits for, where the
// machine polls it. Such a Task answers for the job, so it is of one alone.
func findBegins(jobs []*job, tasks []*task, taken map[*task]bool) {
	for _, j := range jobs {
		if j.sync != nil || len(j.starts) > 0 || !slices.ContainsFunc(j.describes, j.isPolledBy) {
			continue
		}
		for _, t := range tasks {
			if taken[t] || t.operation == nil || t.parsed.Pattern != "" || t.reader || t.operation.Service.Key != j.entry.Service.Key {
				continue
			}
			if b, ok := j.beginOf(t); ok {
				taken[t] = true
				j.begins = append(j.begins, b)
			}
		}
	}
}

// beginOf tells whether a Task begins what the job waits for.
func (j *job) beginOf(t *task) (begin, bool) {
	if change := j.entry.Service.ChangedBy(t.operation.Name, j.entry.Operation.Name); change != nil {
		verb := catalog.VerbOf("Update")
		if change.Makes {
			verb = catalog.VerbOf("Create")
		}
		return begin{task: t, verb: verb, change: change}, j.entry.Aim() == catalog.AimReady
	}
	verb := catalog.VerbOf(t.operation.Name)
	if verb == nil || verb.Aim != j.entry.Aim() || !isOf(strings.TrimPrefix(t.operation.Name, verb.Name), nounOf(j.entry.Operation.Name)) {
		return begin{}, false
	}
	return begin{task: t, verb: verb}, true
}

// nounOf is what an operation that reads describes, in the singular: "DBInstance".
func nounOf(describe string) string {
	for _, verb := range []string{"BatchGet", "Describe", "Get", "List"} {
		if rest, ok := strings.CutPrefix(describe, verb); ok {
			return strings.TrimSuffix(rest, "s")
		}
	}
	return describe
}

// isOf tells whether what follows the verb of a call names the noun, and at most how it is changed:
// "DBInstanceFromS3" is a DBInstance, and "DBInstanceSnapshot" is none.
func isOf(text, noun string) bool {
	rest, ok := strings.CutPrefix(text, noun)
	rest = strings.TrimPrefix(rest, "s")
	same := slices.Contains([]string{"", "ReadReplica", "Config", "Configuration", "Version"}, rest)
	return ok && (same || strings.HasPrefix(rest, "From") || strings.HasPrefix(rest, "To"))
}

// prepareBegins finds the status while each call goes on.
func (j *job) prepareBegins() {
	for i := range j.begins {
		b := &j.begins[i]
		j.behaviour.tellChange(b.change)
		b.running = j.behaviour.runningAfter(b)
	}
	for _, t := range slices.Concat(j.starts, tasksOfBegins(j.begins)) {
		if change := j.entry.Service.ChangedBy(t.operation.Name, j.entry.Operation.Name); change != nil {
			j.behaviour.keep(change)
		}
	}
}

// runningAfter is the status while a call goes on: one that is called after it, such as
// UPDATE_IN_PROGRESS; else that of the waiter.
func (b *behaviour) runningAfter(by *begin) *status {
	if by.change != nil {
		for i := range b.statuses {
			if s := &b.statuses[i]; s.verdict == pollcore.Retry && s.name == by.change.Running {
				return s
			}
		}
	}
	stem := strings.ToUpper(strings.TrimRight(by.verb.Name, "ey"))
	for _, word := range underway {
		for i := range b.statuses {
			s, upper := &b.statuses[i], strings.ToUpper(b.statuses[i].name)
			if s.verdict == pollcore.Retry && strings.HasPrefix(upper, stem) && strings.HasSuffix(upper, word) {
				return s
			}
		}
	}
	return b.running()
}

// tellChange gives a behaviour the statuses of a change that no waiter reads: what it describes is there before,
// meanwhile and after, and a member tells them apart.
func (b *behaviour) tellChange(change *catalog.Change) {
	end := b.end("")
	if change == nil || change.Done == "" || end == nil || end.raises {
		return
	}
	at := parsePlace(change.Status)
	before := status{name: "before", verdict: pollcore.Success, answer: clone(end.answer), acceptor: end.acceptor}
	at.remove(before.answer)
	running, done := before, before
	running.name, running.verdict, running.stated, running.acceptor = change.Running, pollcore.Retry, true, pollcore.NoAcceptor
	running.answer, done.answer = at.put(clone(before.answer), change.Running), at.put(clone(before.answer), change.Done)
	done.name = end.name
	b.before, b.statuses = &before, []status{running, done}
}

// keep gives answers the members that a change leaves as they are, where they have them.
func (b *behaviour) keep(change *catalog.Change) {
	for path, value := range change.Stays {
		at := parsePlace(path)
		for i := range b.statuses {
			if s := &b.statuses[i]; at.get(s.answer) != nil {
				s.answer = at.put(s.answer, value)
			}
		}
	}
}

func tasksOfBegins(begins []begin) []*task {
	all := make([]*task, len(begins))
	for i, b := range begins {
		all[i] = b.task
	}
	return all
}

// coursesOf are the calls that begin what a job waits for, each with its status meanwhile and its
// own answer.
func (j *job) coursesOf(a *answers, spec Spec, end *status) object {
	var courses object
	for _, b := range j.begins {
		shape := b.task.result()
		answer := j.behaviour.tellStatus(a.ofCall(b.task.operation, shape), shape, b.running)
		courses = append(courses, namedValue{b.task.name(), object{
			{"runs", spec.Spread.String()}, {"running", b.running.name}, {"ends", end.name}, {"answer", spellAnswer(answer, shape)},
		}})
	}
	return courses
}

// tellStatus lets the answer of a call that starts a job, or begins a change, tell what a poll tells then: its status.
func (b *behaviour) tellStatus(answer any, shape *catalog.Shape, of *status) any {
	for _, at := range b.texts {
		if word, ok := at.get(of.answer).(string); ok {
			answer = at.tell(answer, word)
		}
	}
	polled := shapeAt(b.entry.Operation.Output, b.path)
	if b.path == nil || polled == nil || shape == nil {
		return answer
	}
	for _, at := range statesIn(answer, shape) {
		told := at.get(answer)
		runs := slices.ContainsFunc(b.statuses, func(s status) bool { return s.name == told && s.verdict == pollcore.Retry })
		if s := shapeAt(shape, at); !runs && s.Name == polled.Name && slices.Contains(s.Enum, of.name) {
			answer = at.put(answer, of.name)
		}
	}
	return answer
}

// isThereBefore tells whether the resource of the job is there before the first call that changes it.
func (j *job) isThereBefore() bool {
	return len(j.begins) > 0 && !isDeletion(j.entry) &&
		!slices.ContainsFunc(j.begins, func(b begin) bool { return b.verb.Makes })
}
