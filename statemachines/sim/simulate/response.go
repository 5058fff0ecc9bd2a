package simulate

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// Response is what a Task can be answered with, in the spelling of its integration.
type Response struct {
	// Usual is the answer of a call that goes well, and of a job that has succeeded.
	Usual any
	// Bare is it with no more than the model requires.
	Bare any
	// Whole is it with the members, too, that by their names are there only after a failure, or after an end; nil for
	// the answers about a job.
	Whole any
	// Statuses are the answers of a call that describes a job or a resource, by its
	// status; nil for any other call.
	Statuses []StatusResponse
	// Running is the number of the status of a job that runs, and End that of the usual end.
	Running, End int
	// Members are those by which the answers differ: the status, and what else tells how
	// a job ended.
	Members []Member
	// Lists are those of which an answer may have several items that tell the status.
	Lists []List
	// None is the answer that lists no job; nil where the call asks for one job.
	None any

	asked  place // of the id in the arguments of a describe call; nil if it has none
	echoes map[string]string
}

// About returns the text of an answer as it is about the job that a describe call asks for.
func (r *Response) About(arguments any, answer string) string {
	if len(r.echoes) == 0 {
		return answer
	}
	decoder := json.NewDecoder(strings.NewReader(answer))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return answer
	}
	value, err := mock.Echo(value, arguments, r.echoes)
	if err != nil {
		return answer
	}
	text, err := json.Marshal(value)
	if err != nil {
		return answer
	}
	return string(text)
}

// Describe names an answer by all members that tell: "RUNNING, LastCrawl.Status FAILED".
func (r *Response) Describe(answer any) string {
	all := make([]string, len(r.Members))
	for i, m := range r.Members {
		text, there := m.Of(answer)
		if !there {
			text = "absent"
		}
		all[i] = m.String() + " " + text
	}
	return strings.Join(all, ", ")
}

// StatusResponse is the answer about a job that has a status.
type StatusResponse struct {
	Status

	Answer any
	Bare   any  // with no more than the model requires and tells the status
	Ending bool // the job is on the way to an end, as catalog.PassingEnding
	// Failure is the error that the call ends with, instead of an answer; nil for none.
	Failure *sim.TaskError
}

// Member is a text in an answer that says how a job is.
type Member struct {
	Values []string // of the model; nil where it has none

	at place
}

// Of returns what an answer has as the member.
func (m Member) Of(answer any) (text string, ok bool) {
	text, ok = m.at.get(answer).(string)
	return text, ok
}

// Put returns an answer whose member is another, or is missing if that is empty. An answer that is the member itself
// is null then.
func (m Member) Put(answer any, text string) any {
	if text == "" && len(m.at) == 0 {
		return nil
	}
	answer = clone(answer)
	if text == "" {
		m.at.remove(answer)
		return answer
	}
	return m.at.put(answer, text)
}

// PutValue returns an answer whose member is another value.
func (m Member) PutValue(answer, value any) any { return m.at.put(clone(answer), value) }

// Has tells whether an answer has the member.
func (m Member) Has(answer any) bool { return m.at.get(answer) != nil }

// MemberAt is the member at a path such as "Jobs[0].StatusReason", and whether it tells nothing of the status.
func (r *Response) MemberAt(path string) (m Member, silent bool) {
	m = Member{at: parsePlace(path)}
	return m, !slices.ContainsFunc(r.Members, func(m Member) bool { return m.String() == path }) && !r.decides(m)
}

// Modelled are the texts of the usual answer whose values a model of the answers lists.
func (r *Response) Modelled(output *catalog.Shape) []Member {
	var all []Member
	var walk func(at place, value any)
	walk = func(at place, value any) {
		switch value := value.(type) {
		case string:
			if s := spelledShape(output, at); s != nil && len(s.Enum) > 0 {
				all = append(all, Member{Values: s.Enum, at: at})
			}
		case []any:
			for i, item := range value {
				walk(append(slices.Clip(at), i), item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				walk(append(slices.Clip(at), name), value[name])
			}
		}
	}
	walk(nil, r.Usual)
	return all
}

func (m Member) String() string { return m.at.String() }

// findMembers finds the texts by which the answers differ, but for those that follow the status.
func (r *Response) findMembers(output *catalog.Shape, following []place) {
	var walk func(at place, answers []any)
	walk = func(at place, answers []any) {
		texts, names, items := partsOf(answers)
		if len(texts) > 1 {
			m := Member{at: at}
			if s := spelledShape(output, at); s != nil {
				m.Values = s.Enum
			}
			named := slices.ContainsFunc(r.Statuses, func(s StatusResponse) bool { return texts[s.Name] })
			follows := slices.ContainsFunc(following, func(p place) bool { return p.spell() == at.spell() })
			if (m.Values != nil || named) && !follows {
				r.Members = append(r.Members, m)
			}
			return
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			p := append(slices.Clip(at), name)
			inner := make([]any, len(answers))
			for i, a := range answers {
				inner[i] = place{name}.get(a)
			}
			walk(p, inner)
		}
		for item := range min(items, 1) {
			inner := make([]any, len(answers))
			for i, a := range answers {
				inner[i] = place{item}.get(a)
			}
			walk(append(slices.Clip(at), item), inner)
		}
	}
	var answers []any
	for _, s := range r.Statuses {
		if s.Failure == nil {
			answers = append(answers, s.Answer)
		}
	}
	walk(nil, answers)
}

// partsOf are the texts among values, the members of the objects, and the items of the longest
// list.
func partsOf(values []any) (texts, names map[string]bool, items int) {
	texts, names = map[string]bool{}, map[string]bool{}
	for _, v := range values {
		switch v := v.(type) {
		case string:
			texts[v] = true
		case map[string]any:
			for name := range v {
				names[name] = true
			}
		case []any:
			items = max(items, len(v))
		}
	}
	return texts, names, items
}

// findItems finds the lists of which an answer to a Task may have several items, and the answer
// that has none.
func (r *Response) findItems(t *task, input *catalog.Shape) {
	var answers []any
	for _, s := range r.Statuses {
		if s.Failure == nil {
			answers = append(answers, s.Answer)
		}
	}
	found := findLists(nil, answers)
	asksByList := r.asked.lists() > 0
	r.Lists = severalOf(found, r.asked != nil && !asksByList, cmp.Or(t.state.Arguments, t.state.Parameters), input)
	if !asksByList || len(found) == 0 {
		return
	}
	r.None = clone(r.Usual)
	for _, at := range found {
		if at.lists() == 0 {
			r.None = at.put(r.None, []any{})
		}
	}
}

// spelledShape is the shape at a place in the spelling of an integration; nil if there is
// none.
func spelledShape(s *catalog.Shape, at place) *catalog.Shape {
	for _, part := range at {
		if s == nil {
			return nil
		}
		name, isName := part.(string)
		switch {
		case !isName && s.Element != nil:
			s = s.Element.Shape
		case isName && s.Type == catalog.Map && s.Element != nil:
			s = s.Element.Shape
		case isName:
			i := slices.IndexFunc(s.Members, func(m catalog.Member) bool { return javasdk.MemberName(m.Name) == name })
			if i < 0 {
				return nil
			}
			s = s.Members[i].Shape
		default:
			return nil
		}
	}
	return s
}

// Responses returns what the Tasks of a machine can be answered with, by state, and those
// that nobody knows an answer of, which get the envelope of their call. The answers have the
// members that the machine reads, or one of the others does.
func Responses(m *asl.StateMachine, o Options, others ...*asl.StateMachine) (map[string]*Response, []Unknown, error) {
	tasks, err := tasksOf(m, o.Models)
	if err != nil {
		return nil, nil, err
	}
	demands, err := demandsOf(m, tasks, o.Models)
	if err != nil {
		return nil, nil, err
	}
	findLooks(tasks, demands)
	own := o.reading(m)
	jobs, err := findJobs(m, tasks, &o, own.has)
	if err != nil {
		return nil, nil, err
	}
	reads := []*Reading{own}
	for _, other := range others {
		reads = append(reads, o.reading(other))
	}
	a := newAnswers(reads...)
	all, bare := map[string]*Response{}, &answers{bare: true}
	for _, j := range jobs {
		if err := j.prepare(bare, o.Models); err != nil {
			return nil, nil, err
		}
		j.writeOutputs(demands, &o, true)
		least := j.behaviour
		if err := j.prepare(a, o.Models); err != nil {
			return nil, nil, err
		}
		j.writeOutputs(demands, &o, false)
		if j.simulatable() {
			j.respond(a, least, all)
		}
	}
	var unknown []Unknown
	for _, t := range tasks {
		switch what := t.unknown(); {
		case all[t.name()] != nil:
		case what != "":
			all[t.name()] = &Response{Usual: t.skeleton(), Bare: t.skeleton()}
			unknown = append(unknown, t.untold(what))
		default:
			all[t.name()] = a.response(bare, t, func(answer any) any { return answer })
		}
	}
	return all, unknown, nil
}

// response is the answer of a call of a Task that is about no status. finish completes it.
func (a *answers) response(bare *answers, t *task, finish func(answer any) any) *Response {
	spell := func(a *answers) any { return spellAnswer(finish(a.ofCall(t.operation, t.result())), t.result()) }
	every := *a.with(t.operation)
	every.Empty = nil
	return &Response{Usual: spell(a), Bare: spell(bare), Whole: spellAnswer(finish(every.Of(t.result())), t.result())}
}

// respond adds the answers of the Tasks of a job. least is its behaviour with no more than
// the model requires.
func (j *job) respond(a *answers, least *behaviour, all map[string]*Response) {
	output, id := j.entry.Operation.Output, strings.ReplaceAll(j.identity.form, "{n}", strconv.Itoa(1))
	success := j.behaviour.end("")
	withID := func(at place) func(any) any {
		return func(answer any) any {
			if at == nil || id == "" {
				return answer
			}
			return at.put(answer, id)
		}
	}
	told := withID(j.identity.told)
	ended := func(t *task) {
		all[t.name()] = &Response{
			Usual: resultOf(t.parsed, told(clone(success.answer)), output), Bare: resultOf(t.parsed, told(clone(least.end("").answer)), output),
		}
	}
	if j.sync != nil {
		ended(j.sync)
	}
	described := map[string]*Response{} // by the resource: all else of the Tasks is alike
	for _, t := range j.describes {
		shared := described[t.resource]
		if shared == nil {
			shared = j.described(t.resource, least, told)
			described[t.resource] = shared
		}
		r := *shared
		r.findItems(t, j.entry.Operation.Input)
		all[t.name()] = &r
	}
	for _, t := range j.starts {
		if j.waits {
			ended(t)
			continue
		}
		started := withID(t.resultAt(j.identity.started))
		all[t.name()] = a.response(&answers{}, t, func(answer any) any {
			return j.behaviour.tellStatus(started(answer), t.result(), j.behaviour.running())
		})
	}
}

// described are the answers of the Tasks that describe the job by a resource, but for the items of lists. told puts
// the id into an answer.
func (j *job) described(resource string, least *behaviour, told func(any) any) *Response {
	output := j.entry.Operation.Output
	r := &Response{echoes: map[string]string{}}
	for _, e := range j.echoes {
		r.echoes[e.asked.spell()] = e.told.spell()
	}
	if asked := j.identity.asked; asked != nil {
		r.asked = parsePlace(asked.spell())
	}
	for _, s := range j.behaviour.statuses {
		if s.raises {
			r.Statuses = append(r.Statuses, StatusResponse{Status: Status{s.name, s.verdict, s.acceptor}, Failure: raise(resource, j.entry.Operation, s.name)})
			continue
		}
		bare := s.answer
		if b := least.end(s.name); b != nil {
			bare = b.answer
		}
		passing, _ := j.entry.Passing(s.name)
		r.Statuses = append(r.Statuses, StatusResponse{
			Status: Status{s.name, s.verdict, s.acceptor}, Ending: passing == catalog.PassingEnding,
			Answer: spellAnswer(told(clone(s.answer)), output), Bare: spellAnswer(told(clone(bare)), output),
		})
	}
	number := func(of *status) int {
		return slices.IndexFunc(j.behaviour.statuses, func(s status) bool { return s.name == of.name })
	}
	r.Running = number(j.behaviour.running())
	r.End = number(j.behaviour.end(""))
	r.Usual, r.Bare = r.Statuses[r.End].Answer, r.Statuses[r.End].Bare
	r.findMembers(output, j.behaviour.settled)
	return r
}

// decides tells whether a member is what tells a success from a failure where all else that tells the status is
// the same: such as an exit code.
func (r *Response) decides(m Member) bool {
	for i, one := range r.Statuses {
		for _, other := range r.Statuses[:i] {
			if one.Failure == nil && other.Failure == nil && one.Verdict != other.Verdict &&
				r.Describe(one.Answer) == r.Describe(other.Answer) && !reflect.DeepEqual(m.at.get(one.Answer), m.at.get(other.Answer)) {
				return true
			}
		}
	}
	return false
}
