package simulate

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// status is a status that a job or a resource can have.
type status struct {
	name    string
	verdict pollcore.Verdict
	answer  any  // what describe answers, in the model's spelling
	stated  bool // the entry names it; others are what its waiter polls on for
	raises  bool // the call ends with the error of the name instead of an answer

	acceptor int // which tells it, as Status has it
}

// behaviour is what the describe call of a job or a resource can answer.
type behaviour struct {
	entry *catalog.Entry
	// path is that of the status, nil if no single member tells, and started and ended
	// are those of the times of the job, nil if answers have none.
	path, started, ended place
	statuses             []status
	before               *status  // before the first change, where that is another than the end
	texts                []place  // of what tells, as the waiter reads it, where it is a text of no list of values
	polledOn             []string // statuses for which the machine asks again
	echoes               []echo
	settled              []place // of members that follow the status
}

// behaviourOf makes up the answers of an entry. model is the polled operation as
// the models have it, with limits, and polledOn are statuses for which the machine asks again.
func (a *answers) behaviourOf(e *catalog.Entry, model *catalog.Operation, polledOn []string, echoes []echo) *behaviour {
	a = a.with(model)
	b := &behaviour{entry: e, polledOn: polledOn, echoes: echoes}
	if e.Job != nil && a.times && !a.bare {
		b.started, b.ended = parsePlace(e.Job.StartTime), parsePlace(e.Job.EndTime)
	}
	if e.Job != nil && e.Job.Status != "" {
		a.byStatus(b, model)
	} else {
		a.byAcceptors(b)
	}
	check, err := pollcore.Compile[any, any](e.Waiter)
	for i := range b.statuses {
		s := &b.statuses[i]
		if s.raises {
			continue
		}
		bare, told := typecheck.Sample{Empty: a.Empty}.Complete(clone(s.answer), model.Output), clone(s.answer)
		s.answer = a.Complete(s.answer, model.Output)
		fits := func(answer any) bool { return err == nil && check.Check(nil, answer, nil).Verdict == s.verdict }
		for _, p := range b.texts {
			if word, ok := p.get(told).(string); ok {
				s.answer = p.tell(s.answer, word)
			} else if without := p.unlist(clone(s.answer)); fits(without) {
				s.answer = without
			} else {
				s.answer = p.untold(s.answer, model.Output)
			}
		}
		// What the machine names may be what the waiter reads, too.
		if err == nil && !fits(s.answer) {
			s.answer = bare
		}
		a.putEchoes(s.answer, b.echoes)
		for _, at := range []place{b.started, b.ended} {
			if at != nil {
				at.remove(s.answer) // the mock knows it
			}
		}
		isPolled := func(at place) bool { return b.polls(s, at) }
		b.settled = append(b.settled, s.agree(e, isPolled, func(answer any) bool { return err != nil || fits(answer) })...)
		s.acceptor = pollcore.NoAcceptor
		if err == nil {
			s.acceptor = check.Check(nil, s.answer, nil).Acceptor
		}
	}
	return b
}

// polls tells whether a place of an answer has the status that the machine asks for.
func (b *behaviour) polls(s *status, at place) bool {
	if b.path != nil {
		return slices.Equal(at, b.path)
	}
	word, _ := at.get(s.answer).(string)
	return isRead(b.entry, at) && (word == s.name || strings.HasPrefix(s.name, word+"-"))
}

// byStatus makes the answers of a job whose status says all.
func (a *answers) byStatus(b *behaviour, model *catalog.Operation) {
	j := b.entry.Job
	b.path = parsePlace(j.Status)
	for _, values := range []struct {
		verdict pollcore.Verdict
		names   []string
	}{{pollcore.Success, j.Success}, {pollcore.Failure, j.Failure}, {pollcore.Retry, j.Running}} {
		for _, name := range values.names {
			answer := b.path.put(a.Of(model.Output), name)
			if p := parsePlace(j.Message); p != nil && values.verdict == pollcore.Failure && !a.bare {
				answer = p.put(answer, p.reason(model.Output, name))
			}
			b.statuses = append(b.statuses, status{name: name, verdict: values.verdict, answer: answer, stated: true})
		}
	}
}

// reason is what a simulated job gives as the reason of its failure at the place: one
// that the model lists, if it does.
func (p place) reason(s *catalog.Shape, status string) string {
	for _, part := range p {
		if name, ok := part.(string); ok {
			if m := s.Member(name); m != nil {
				s = m.Shape
			} else {
				s = nil
			}
		} else if s != nil && s.Element != nil {
			s = s.Element.Shape
		}
	}
	if s != nil && len(s.Enum) > 0 {
		return s.Enum[0]
	}
	return "simulated: the job ended " + status
}

// isLike tells whether a status has the answer of another but for its name.
func (b *behaviour) isLike(s, other *status) bool {
	return reflect.DeepEqual(b.path.put(clone(other.answer), s.name), s.answer)
}

var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("'([^']*)'|`\"([^\"]*)\"`") })

// byAcceptors makes up answers from what the acceptors of a waiter read, and keeps
// those of which the waiter has a verdict, by the values that they are named after.
func (a *answers) byAcceptors(b *behaviour) {
	e := b.entry
	check, err := pollcore.Compile[any, any](e.Waiter)
	if err != nil {
		return // the catalogue's are valid
	}
	n := &naming{behaviour: b, named: map[string]bool{}, beside: map[string]any{}}
	readings := readingsOf(e)
	others := b.findTexts(readings)
	for _, taken := range []bool{true, false} { // what no acceptor takes goes by the names that are left
		for _, r := range readings {
			acceptor := e.Waiter.Acceptors[r.Acceptor]
			if acceptor.Matcher.Output == nil {
				continue // it reads what the caller gave
			}
			leaves := leavesOf(r, acceptor.Matcher.Output)
			if !taken && len(leaves) == 1 {
				leaves[0].candidates = append(leaves[0].candidates, others[leaves[0].path.spell()]...)
			}
			each(leaves, func(answer any, values []any) {
				verdict := check.Check(nil, answer, nil)
				if taken && acceptor.State == pollcore.Success && verdict.Verdict == pollcore.Failure {
					n.keepBeside(nameOf(acceptor.Matcher.Output, pollcore.Result{Acceptor: r.Acceptor}, values), answer)
				}
				if taken && verdict.Acceptor != r.Acceptor || !taken && verdict.Acceptor != pollcore.NoAcceptor {
					return
				}
				name := nameOf(acceptor.Matcher.Output, verdict, values)
				if p := parsePlace(acceptor.Message); p != nil && verdict.Verdict == pollcore.Failure && p.get(answer) == nil && !a.bare {
					answer = p.put(answer, p.reason(e.Operation.Output, name))
				}
				n.add(status{name: name, verdict: verdict.Verdict, answer: answer, stated: taken})
			})
		}
	}
	n.addUnread(a)
	n.addRunning(a.Of(e.Operation.Output), check.Check)
}

// addRunning adds an answer that the waiter polls on with, if there is none yet: one that says
// nothing, or the error of what is not there yet.
func (n *naming) addRunning(empty any, check func(input, output any, err error) pollcore.Result) {
	if len(n.statuses) > 0 && n.running() == nil && check(nil, empty, nil).Verdict == pollcore.Retry {
		if isDeletion(n.entry) {
			deletedSoon(empty, n.entry.Operation.Output)
		}
		n.add(status{name: n.meanwhile(), verdict: pollcore.Retry, answer: empty})
	}
	if n.running() == nil {
		n.addErrors(pollcore.Retry)
	}
}

// meanwhile is the status before an entry's end where the waiter names none: one that AWS documents, or none at all.
func (b *behaviour) meanwhile() string {
	for _, told := range b.entry.Telling() {
		at := parsePlace(told.Member)
		if word, isText := told.Before.(string); isText && slices.ContainsFunc(b.texts, func(p place) bool { return slices.Equal(p, at) }) {
			return word
		}
	}
	if isDeletion(b.entry) {
		return cmp.Or(deletingIn(b.entry.Operation.Output, 0), string(pollcore.Retry))
	}
	return string(pollcore.Retry)
}

// addUnread adds what an acceptor takes without a look at the answer: the success of any, and the
// error of what is deleted.
func (n *naming) addUnread(a *answers) {
	for _, acceptor := range n.entry.Waiter.Acceptors {
		if m := acceptor.Matcher; m.Success != nil && *m.Success && acceptor.State == pollcore.Success {
			n.add(status{name: string(pollcore.Success), verdict: pollcore.Success, stated: true, answer: a.Of(n.entry.Operation.Output)})
		}
	}
	n.addErrors(pollcore.Success)
}

// addErrors adds the errors that tell a verdict.
func (n *naming) addErrors(verdict pollcore.Verdict) {
	for i, acceptor := range n.entry.Waiter.Acceptors {
		if code := acceptor.Matcher.ErrorType; code != nil && acceptor.State == verdict && !n.named[*code] {
			n.named[*code] = true
			n.statuses = append(n.statuses, status{name: *code, verdict: verdict, stated: true, raises: true, acceptor: i})
		}
	}
}

// isNamed tells whether Step Functions names an error of the call by a code.
func (b *behaviour) isNamed(code string) bool {
	return slices.ContainsFunc(b.entry.Operation.Errors, func(e catalog.Error) bool { return e.Shape == code || e.Code == code })
}

// naming adds statuses, each name once.
type naming struct {
	*behaviour

	named  map[string]bool
	beside map[string]any // failures that are like a success but for a member of it, by its name
}

// keepBeside keeps the first failure that is like a success of the name.
func (n *naming) keepBeside(name string, answer any) {
	if n.beside[name] == nil {
		n.beside[name] = answer
	}
}

// add adds a status whose name is new, or whose verdict is new to the name.
func (n *naming) add(s status) {
	if n.named[s.name] && !slices.ContainsFunc(n.statuses, func(o status) bool { return o.name == s.name && o.verdict == s.verdict }) {
		if like := n.beside[s.name]; like != nil && s.verdict == pollcore.Failure {
			s.answer = like
		}
		s.name += "-" + string(s.verdict) // STOPPED is the end of tasks that succeeded, and of others
	}
	if !n.named[s.name] {
		n.named[s.name] = true
		n.statuses = append(n.statuses, s)
	}
}

// readingsOf are what the acceptors of an entry's waiter read.
func readingsOf(e *catalog.Entry) []pollcore.Reading {
	return pollcore.Readings(e.Waiter, e.Operation.Input.Describe(), e.Operation.Output.Describe())
}

// findTexts finds the texts that tell of a success or of a job that runs, else of a failure,
// where the model lists no values, and what is known beside the words of the waiter that they
// can be: those for which the machine asks again, and those of the other entries that poll the
// operation.
func (b *behaviour) findTexts(readings []pollcore.Reading) (others map[string][]any) {
	others = map[string][]any{}
	for _, ofFailure := range []bool{false, true} {
		for _, r := range readings {
			acceptor := b.entry.Waiter.Acceptors[r.Acceptor]
			m := acceptor.Matcher.Output
			if m == nil || m.Comparator == pollcore.BooleanEquals || (acceptor.State == pollcore.Failure) != ofFailure {
				continue
			}
			for _, l := range leavesOf(r, m) {
				if others[l.path.spell()] == nil && b.isFree(l.path) {
					b.texts = append(b.texts, l.path)
					others[l.path.spell()] = wordsAt(b.entry, l.path, b.polledOn)
				}
			}
		}
		if b.texts != nil {
			break
		}
	}
	return others
}

// isFree tells whether the model has a text without listed values at a place.
func (b *behaviour) isFree(at place) bool {
	_, isMember := at[len(at)-1].(string)
	s := shapeAt(b.entry.Operation.Output, at)
	return isMember && s != nil && s.Type == catalog.String && len(s.Enum) == 0
}

// wordsAt are the words that entries of an operation compare with at a place, behind the
// given ones.
func wordsAt(e *catalog.Entry, at place, words []string) []any {
	words = slices.Clone(words)
	for _, listed := range e.Service.Listing().Entries {
		other, err := catalog.Lookup(e.Service.Key, listed.Name)
		if listed.Operation != e.Operation.Name || err != nil {
			continue
		}
		if j := other.Job; j != nil && j.Status != "" && parsePlace(j.Status).spell() == at.spell() {
			words = slices.Concat(words, j.Running, j.Success, j.Failure)
			continue
		}
		for _, r := range readingsOf(other) {
			m := other.Waiter.Acceptors[r.Acceptor].Matcher.Output
			if m == nil || m.Comparator == pollcore.BooleanEquals {
				continue
			}
			if leaves := leavesOf(r, m); len(leaves) == 1 && leaves[0].path.spell() == at.spell() {
				words = append(words, m.Expected)
			}
		}
	}
	if isDeletion(e) && !slices.ContainsFunc(words, isDeleting) {
		words = append(words, strings.ToLower(deleting)) // what AWS calls a thing that is being deleted
	}
	all := make([]any, len(words))
	for i, word := range words {
		all[i] = word
	}
	return all
}

// nameOf names an answer after the value that decides: the last one that the path
// of the acceptor compares with, or else the one that no acceptor takes.
func nameOf(m *pollcore.PathMatcher, r pollcore.Result, values []any) string {
	if m.Comparator != pollcore.BooleanEquals && r.Acceptor != pollcore.NoAcceptor {
		return m.Expected
	}
	name, at := "", -1
	for _, v := range values {
		word, ok := v.(string)
		if i := strings.LastIndex(m.Path, "'"+word+"'"); ok && word != "" && (name == "" || i > at) {
			name, at = word, i
		}
	}
	if name == "" {
		return string(r.Verdict)
	}
	return name
}

// underway are words of a status that people expect of a job that runs, the best
// first.
var underway = []string{"RUNNING", "IN_PROGRESS", "INPROGRESS", "IN PROGRESS", "PROGRESS", active, "ING", ""}

// active is a status by itself: INACTIVE is another.
const active = "ACTIVE"

// saysUnderway tells whether a status has such a word at its end. A job that makes something is active; what is to be closed
// is so before.
func (b *behaviour) saysUnderway(status, word string) bool {
	if word == active {
		verb := catalog.VerbOf(b.entry.Name)
		return status == active && verb != nil && verb.Makes
	}
	return strings.HasSuffix(status, word)
}

// underway are the words of statuses while what the entry waits for has not happened.
func (b *behaviour) underway() []string {
	if isDeletion(b.entry) {
		return append([]string{deleting}, underway...)
	}
	return underway
}

// running is the status of a job that has not ended; nil if no answer is known. Those that
// the entry names come first, and of them those for which the machine asks again.
func (b *behaviour) running() *status {
	for _, isMeant := range []func(s *status) bool{
		func(s *status) bool { return s.stated && slices.Contains(b.polledOn, s.name) },
		func(s *status) bool { return s.stated },
		func(s *status) bool { return slices.Contains(b.polledOn, s.name) },
		func(*status) bool { return true },
	} {
		for _, word := range b.underway() {
			for i := range b.statuses {
				s, upper := &b.statuses[i], strings.ToUpper(b.statuses[i].name)
				if s.verdict == pollcore.Retry && isMeant(s) && b.saysUnderway(upper, word) && (word == deleting || !unwinding().MatchString(upper)) {
					return s
				}
			}
		}
	}
	for i, s := range b.statuses {
		if s.verdict == pollcore.Retry {
			return &b.statuses[i]
		}
	}
	return nil
}

// unwinding is a status on the way to a failure, or to another end.
var unwinding = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`CANCEL|STOP|ABORT|FAIL|DELET|ROLL|TERMINAT|ERROR|INTERRUPT|PAUSING|COMPLETING|FINISHING|FINALI[SZ]ING`)
})

// stopName is the status of a job that was stopped: a failure.
func (b *behaviour) stopName() string {
	first := ""
	for _, s := range b.statuses {
		if s.verdict != pollcore.Failure {
			continue
		}
		if first == "" {
			first = s.name
		}
		if unwinding().MatchString(strings.ToUpper(s.name)) && !strings.Contains(strings.ToUpper(s.name), "FAIL") {
			return s.name
		}
	}
	return first
}

// end returns the status of the name. "success" and "failure" are the first of the
// kind that says so by the status, not by its absence, and the empty name is a success.
func (b *behaviour) end(name string) *status {
	for i, s := range b.statuses {
		if s.name == name {
			return &b.statuses[i]
		}
	}
	if name == "" {
		name = string(pollcore.Success)
	}
	if name == string(pollcore.Success) && len(b.echoes) > 0 {
		if i := slices.IndexFunc(b.statuses, func(s status) bool { return s.raises && s.verdict == pollcore.Success && b.isNamed(s.name) }); i >= 0 {
			return &b.statuses[i] // a call that asks for one thing does not find it
		}
	}
	var first *status
	for i, s := range b.statuses {
		if string(s.verdict) != name {
			continue
		}
		if first == nil {
			first = &b.statuses[i]
		}
		if slices.ContainsFunc(b.texts, func(p place) bool { return p.get(s.answer) != nil }) {
			return &b.statuses[i]
		}
	}
	return first
}

// names are the statuses of a verdict, or all.
func (b *behaviour) names() []string {
	names := make([]string, len(b.statuses))
	for i, s := range b.statuses {
		names[i] = s.name
	}
	return names
}
