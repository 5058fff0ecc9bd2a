package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// demandsOf finds what the machine reads of Tasks whose answer nobody knows, or knows in part; nil if
// there are none.
func demandsOf(m *asl.StateMachine, tasks []*task, models typecheck.Models) (*typecheck.Demands, error) {
	if !slices.ContainsFunc(tasks, func(t *task) bool { return t.unknown() != "" || t.tellsExecution() }) {
		return nil, nil //nolint:nilnil // there is nothing to find
	}
	return typecheck.FindDemands(m.State(m.StartAt), m, models)
}

// Answer draws the answer to a call of the Task, counted from 0, by a seed: the envelope
// of the call, if it has one, with what the machine reads. The calls go through the
// literals with which the machine compares a value, those of a job that runs first, and then
// come to another.
func (u Unknown) Answer(seed uint64, call int) any {
	if !u.demand.IsRead() {
		return u.task.skeleton()
	}
	compared := call + 1
	if u.startsOther() {
		compared--
	}
	return u.Around(typecheck.Draw(typecheck.Unknown(), u.demand, u.draw(seed, compared)))
}

// startsOther tells whether the first answer to a poll has another value than the machine compares: all of them end the job.
func (u Unknown) startsOther() bool {
	words := u.demand.Words()
	return u.task.loops && u.means != nil && len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool {
		means := u.means(u.State, word)
		return means != pollcore.Success && means != pollcore.Failure
	})
}

// draw are the options of a draw.
func (u Unknown) draw(seed uint64, compared int) typecheck.DrawOptions {
	rank := rankBy(u.means, u.State, pollcore.Retry, "", pollcore.Success, pollcore.Failure)
	return typecheck.DrawOptions{Name: u.State, Seed: seed, Absent: u.bare, Compared: compared, Rank: rank}
}

// rankBy orders the statuses of a job by what they mean; nil if nobody says what words mean.
func rankBy(means func(state, word string) pollcore.Verdict, state string, order ...pollcore.Verdict) func(word string) int {
	if means == nil {
		return nil
	}
	return func(word string) int { return slices.Index(order, means(state, word)) }
}

// Around is what is drawn in the envelope of the call, if it has one, and with what is known of the
// answer.
func (u Unknown) Around(drawn any) any {
	envelope, _ := u.task.skeleton().(map[string]any)
	object, ok := drawn.(map[string]any)
	if !ok {
		return drawn
	}
	whole := map[string]any{}
	maps.Copy(whole, envelope)
	if u.task.runsMachine() {
		object = map[string]any{"Output": object["Output"]}
	}
	for name, value := range object {
		whole[name] = value
		if known, there := envelope[name]; there {
			whole[name] = u.fitEnvelope(name, known, value)
		}
	}
	return whole
}

// fitEnvelope is what is drawn of a member of an envelope, if it can be that, and else what is known of it.
func (u Unknown) fitEnvelope(name string, known, drawn any) any {
	switch known.(type) {
	case string:
		if text, isText := drawn.(string); !isText || known == "{}" && !json.Valid([]byte(text)) {
			return known
		}
	case int:
		return u.fitCode(name, known, drawn)
	default:
		if drawn == nil {
			return known
		}
	}
	return drawn
}

// fitCode is the code of a response that is drawn, if the machine compares it and it is none of an error.
func (u Unknown) fitCode(name string, known, drawn any) any {
	number, is := numberOf(drawn)
	code, err := number.Int64()
	if !is || err != nil || code < http.StatusOK || code >= http.StatusBadRequest {
		return known
	}
	demand := u.demand.Member(name)
	compared := u.demand == nil || demand.Compares(number.String())
	for _, n := range demand.Numbers() {
		compared = compared || math.Abs(n-float64(code)) <= 1
	}
	if !compared {
		return known
	}
	return number
}

// numberOf is a value that is always a number, whatever a machine compares it with.
func numberOf(value any) (number json.Number, ok bool) {
	number = json.Number(fmt.Sprint(value))
	_, err := number.Float64()
	return number, err == nil
}

// refusal is the error with which a call ends whose request was answered with the code of an error; nil for none.
func (t *task) refusal(answer any) *sim.TaskError {
	code, has := codeOf(answer)
	if !t.sendsRequest() || !has || code < http.StatusBadRequest {
		return nil
	}
	return &sim.TaskError{Name: t.parsed.HTTPError(code), Cause: "simulated: the response has the status code " + strconv.Itoa(code)}
}

// codeOf is the status code of the response in an answer; false if it has none.
func codeOf(answer any) (code int, has bool) {
	object, _ := answer.(map[string]any)
	code, err := strconv.Atoi(fmt.Sprint(object[statusCode]))
	return code, err == nil
}

// Skeleton is the envelope of the call, if it has one, with nothing in it.
func (u Unknown) Skeleton() any { return u.task.skeleton() }

// Apply puts the answers into the options of a run, with drawn ones of the Tasks that have
// to be told.
func (p *Plan) Apply(m *asl.StateMachine, o *sim.Options) error {
	mocks, err := p.Mocks()
	if err != nil {
		return err
	}
	if err := mocks.Apply(m, "", o); err != nil {
		return err
	}
	for _, u := range p.Unknown {
		if u.within {
			continue // its job answers
		}
		if o.StateHandlers == nil {
			o.StateHandlers = map[string]sim.Handler{}
		}
		o.StateHandlers[u.State] = u.handler(o.Seed)
	}
	return nil
}

// handler answers the calls of one run.
func (u Unknown) handler(seed uint64) sim.Handler {
	if u.job != nil {
		return u.job.handler(u, seed)
	}
	var calls atomic.Int64
	return func(context.Context, sim.Call) (sim.Reply, error) {
		return u.reply(u.Answer(seed, int(calls.Add(1))-1))
	}
}

// reply answers a call.
func (u Unknown) reply(answer any) (sim.Reply, error) {
	if failure := u.task.refusal(answer); failure != nil {
		return sim.Reply{}, failure
	}
	return sim.Reply{Output: answer, Submitted: map[string]any{}}, nil
}
