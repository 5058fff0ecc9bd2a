package trial

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// answer is what a call gets.
type answer struct {
	kind    Kind   // of no sort if it is the one of a call that goes well
	text    string // JSON
	failure *sim.TaskError
	silent  bool
	runs    bool // the job goes on, as far as the catalogue knows
	ended   bool // the job has ended, as far as the catalogue knows
}

// silence is the answer of a worker that never sends its token back.
func silence(task string) answer { return answer{kind: Kind{Task: task, Sort: Silent}, silent: true} }

// callee is a Task with the answers that it can get.
type callee struct {
	state   *asl.State
	api     typecheck.API
	known   *simulate.Response
	about   func(arguments any, answer string) string
	usual   answer
	running *answer // of a poll: the job goes on
	waiting answer  // the same with no more than the model requires
	answers []answer
	errors  []answer
	bare    []answer // of each status, or the usual one
	ending  *answer  // the job is on the way to an end
	caught  []string // errors that either machine names
	several []several
	beside  []answer // of each status, with another value of a member that does not tell it
}

// several is the answer about no job, or about two items.
type several struct {
	answer

	kinds []Kind // the kind Items, and the status of each item
}

// UnknownValue is a status that no machine knows.
const UnknownValue = simulate.OtherStatus

// newCallee makes the answers of a Task that does not vary.
func newCallee(s *asl.State, r *simulate.Response, models typecheck.Models) *callee {
	api, _ := typecheck.FindAPI(s.Task.Resource, models) // what the models have was found with the responses
	c := &callee{state: s, api: api, known: r, about: r.About, usual: answer{kind: Kind{Task: s.Name}, text: textOf(r.Usual)}}
	if r.Statuses != nil {
		status := r.Statuses[r.Running]
		c.running = &answer{kind: Kind{Task: s.Name, Sort: Status, Value: status.Name}, text: textOf(status.Answer), runs: true}
		c.waiting = answer{kind: Kind{Task: s.Name, Sort: Bare}, text: textOf(status.Bare), runs: true}
	}
	if r.Statuses != nil && r.Statuses[r.End].Failure != nil {
		c.usual = failing(s, r.Statuses[r.End].Failure)
		c.usual.ended = true
		return c
	}
	for _, status := range r.Statuses {
		if status.Failure == nil && textOf(status.Answer) == c.usual.text {
			c.usual.kind = Kind{Task: s.Name, Sort: Status, Value: status.Name}
			break
		}
	}
	return c
}

// failing is the answer of a call that ends with an error.
func failing(s *asl.State, failure *sim.TaskError) answer {
	return answer{kind: Kind{Task: s.Name, Sort: Fails, Value: failure.Name}, failure: failure}
}

// vary makes the other answers of a Task. named are the errors that both machines name.
func (c *callee) vary(w *words, compared []typecheck.Compared, named []string, models typecheck.Models) error {
	c.caught = named
	c.addStatuses(c.known, w)
	c.addBeside(c.known, w, compared)
	c.addBare(c.known)
	c.addSeveral(c.known)
	op, err := typecheck.FindOperation(c.state.Task.Resource, models)
	if err != nil {
		return err
	}
	c.addErrors(op, named)
	return nil
}

// addStatuses adds an answer for each status, for each value of the members that tell, and
// for those that the machine compares with.
func (c *callee) addStatuses(r *simulate.Response, w *words) {
	seen := map[string]bool{}
	add := func(value string, body any, runs, ended bool) {
		text := textOf(body)
		if !seen[text] {
			seen[text] = true
			kind := Kind{Task: c.state.Name, Sort: Status, Value: value, Pattern: w.patternOf(value)}
			c.answers = append(c.answers, answer{kind: kind, text: text, runs: runs, ended: ended})
		}
	}
	for _, s := range r.Statuses {
		if s.Failure != nil {
			continue // addErrors has it
		}
		add(s.Name, s.Answer, s.Verdict == pollcore.Retry, s.Verdict != pollcore.Retry)
		if s.Ending {
			c.ending = &answer{kind: Kind{Task: c.state.Name, Sort: Status, Value: s.Name}, text: textOf(s.Answer), runs: true}
		}
	}
	if len(r.Statuses) == 0 {
		return
	}
	bases := []any{r.Statuses[r.Running].Answer}
	if len(r.Members) > 1 && r.Usual != nil {
		bases = append(bases, r.Usual)
	}
	for _, m := range r.Members {
		values := slices.Concat(m.Values, []string{UnknownValue, ""})
		if len(r.Members) == 1 || m.Values == nil {
			values = append(values, w.texts...)
		}
		for _, base := range bases {
			for _, value := range values {
				body := m.Put(base, value)
				switch {
				case len(r.Members) > 1:
					add(r.Describe(body), body, false, false)
				case !hasAnswer(r, value): // its own has what is there only then
					add(value, body, false, false)
				}
			}
		}
	}
}

// addBeside adds an answer for each status and each value that the machine compares another member with. While
// a job runs, the service may give it as well.
func (c *callee) addBeside(r *simulate.Response, w *words, compared []typecheck.Compared) {
	for _, part := range compared {
		m, silent := r.MemberAt(part.Path)
		if !silent || !slices.ContainsFunc(r.Statuses, func(s simulate.StatusResponse) bool { return m.Has(s.Answer) }) {
			continue
		}
		for _, s := range r.Statuses {
			runs := s.Verdict == pollcore.Retry
			if s.Failure != nil || !runs && !m.Has(s.Answer) {
				continue
			}
			for _, v := range w.valuesOf(part) {
				kind := Kind{Task: c.state.Name, Sort: Status, Value: s.Name, Beside: part.Path + " " + v.name}
				c.beside = append(c.beside, answer{kind: kind, text: textOf(m.PutValue(s.Answer, v.value)), runs: runs, ended: !runs})
			}
		}
	}
}

// addBare adds the answers that lack what the model does not require.
func (c *callee) addBare(r *simulate.Response) {
	add := func(usual, bare any, kinds Kind, runs bool) {
		if textOf(usual) != textOf(bare) {
			c.bare = append(c.bare, answer{kind: kinds, text: textOf(bare), runs: runs, ended: !runs})
		}
	}
	for _, s := range r.Statuses {
		if s.Failure != nil {
			continue
		}
		add(s.Answer, s.Bare, Kind{Task: c.state.Name, Sort: Status, Value: s.Name}, s.Verdict == pollcore.Retry)
	}
	if r.Statuses == nil {
		add(r.Usual, r.Bare, Kind{}, false)
	}
}

// addSeveral adds the answers that list no job, and those that list two, or two parts of one,
// of a running, a successful and a failed one.
func (c *callee) addSeveral(r *simulate.Response) {
	kind := func(sort Sort, value string) Kind { return Kind{Task: c.state.Name, Sort: sort, Value: value} }
	if r.None != nil {
		c.several = append(c.several, several{answer{text: textOf(r.None)}, []Kind{kind(Status, "")}})
	}
	for _, list := range r.Lists {
		for _, items := range itemsOf(r, list) {
			one, two := items[0], items[1]
			around := one
			if two.Verdict == pollcore.Retry {
				around = two // the whole runs while a part of it does
			}
			text := textOf(list.Join(around.Answer, one.Answer, two.Answer))
			kinds := []Kind{kind(Items, list.Name(one.Name, two.Name)), kind(Status, one.Name), kind(Status, two.Name)}
			c.several = append(c.several, several{answer{text: text, ended: around.Verdict != pollcore.Retry && one.Verdict != pollcore.Retry}, kinds})
		}
	}
}

// itemsOf are the pairs of jobs that have an item in a list: of a running, a successful and a failed one, and of each other
// failure that an item tells beside one that runs and one that succeeds. A machine may tell one failure from the others.
func itemsOf(r *simulate.Response, list simulate.List) [][2]simulate.StatusResponse {
	var pairs [][2]simulate.StatusResponse
	chosen := chooseItems(r, list)
	for _, one := range chosen {
		for _, two := range chosen {
			if one.Name != two.Name || one.Verdict == pollcore.Success {
				pairs = append(pairs, [2]simulate.StatusResponse{one, two})
			}
		}
	}
	isChosen := func(s simulate.StatusResponse) bool {
		return slices.ContainsFunc(chosen, func(other simulate.StatusResponse) bool { return other.Name == s.Name })
	}
	for _, s := range r.Statuses {
		if s.Verdict != pollcore.Failure || s.Failure != nil || isChosen(s) || !r.Tells(list, s.Answer) {
			continue
		}
		for _, other := range chosen {
			if other.Verdict != pollcore.Failure {
				pairs = append(pairs, [2]simulate.StatusResponse{other, s}, [2]simulate.StatusResponse{s, other})
			}
		}
	}
	return pairs
}

// chooseItems are a running job, a successful and a failed one that have an item in a list.
func chooseItems(r *simulate.Response, list simulate.List) []simulate.StatusResponse {
	var chosen []simulate.StatusResponse
	has := func(s simulate.StatusResponse) bool {
		return !slices.ContainsFunc(r.Lists, func(inner simulate.List) bool { return !inner.Has(s.Answer) })
	}
	for _, verdict := range []pollcore.Verdict{pollcore.Retry, pollcore.Success, pollcore.Failure} {
		all := slices.DeleteFunc(slices.Clone(r.Statuses), func(s simulate.StatusResponse) bool { return s.Verdict != verdict || !list.Has(s.Answer) })
		if verdict == pollcore.Retry && list.Has(r.Statuses[r.Running].Answer) {
			all = []simulate.StatusResponse{r.Statuses[r.Running]}
		}
		if i := slices.IndexFunc(all, has); i > 0 { // one that tells all parts
			all = all[i:]
		}
		if len(all) > 0 {
			chosen = append(chosen, all[0])
		}
	}
	return chosen
}

// hasAnswer tells whether a status has an answer of its own.
func hasAnswer(r *simulate.Response, value string) bool {
	return slices.ContainsFunc(r.Statuses, func(s simulate.StatusResponse) bool { return s.Name == value })
}

// addErrors adds the errors that a call can end with: those of the model, a throttled and a
// refused call, a fault, one that reaches nothing, and those that the state names.
func (c *callee) addErrors(op *catalog.Operation, named []string) {
	seen := map[string]bool{}
	add := func(failure *sim.TaskError) {
		if failure != nil && !seen[failure.Name] {
			seen[failure.Name] = true
			c.errors = append(c.errors, failing(c.state, failure))
		}
	}
	resource := c.state.Task.Resource
	if op != nil {
		for _, e := range op.Errors {
			if e.Shape != "" {
				code := e.Shape
				if e.Code != "" {
					code = e.Code
				}
				add(mock.ServiceFailure(resource, op, mock.Answer{Code: code, Message: "tried", Status: e.Status}))
			}
		}
		throttled, _ := mock.ThrottleFailure(resource)
		add(throttled)
		add(mock.ServiceFailure(resource, op, mock.Answer{Code: "InternalFailure", Message: "tried", Status: http.StatusInternalServerError}))
		add(mock.ClientFailure(resource, op, "tried"))
	}
	r := asl.ParseResource(resource)
	for _, name := range r.PassingErrors(false) {
		add(&sim.TaskError{Name: name, Cause: "tried"})
	}
	if r.Service == "lambda" {
		add(&sim.TaskError{Name: "FunctionFailed", Cause: "tried"})
	}
	add(&sim.TaskError{Name: asl.ErrorTimeout, Cause: ""})
	for _, name := range named {
		if !strings.HasPrefix(name, "States.") || asl.IsOfRequest(name) {
			add(&sim.TaskError{Name: name, Cause: "tried"})
		}
	}
}

// named are the errors that the state catches or retries.
func (c *callee) named() []string {
	var names []string
	for _, r := range c.state.Retry {
		names = append(names, r.ErrorEquals...)
	}
	for _, k := range c.state.Catch {
		names = append(names, k.ErrorEquals...)
	}
	return names
}

func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
