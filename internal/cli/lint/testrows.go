package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// anyOther names the statuses that no rule names.
const anyOther = "any other"

// rowTest has AWS test where the statuses of a loop lead: the Task that polls with an answer
// of each status, and the Choices behind it.
type rowTest struct {
	opinion *awsOpinion
	m       *asl.StateMachine
	text    []byte
	loop    *lint.Loop
	poll    stepfunctions.Visit // in a simulated run

	routes   map[string]bool // of all rows
	problems diag.Problems
	untested []string // statuses
}

// testRows has AWS test the rows of the loops of a machine, as far as a simulated run got to
// their polls. It returns where AWS leads otherwise, and a hint at what was not tested.
func (a *awsOpinion) testRows(
	ctx context.Context, m *asl.StateMachine, text []byte, loops []lint.Loop, visits []stepfunctions.Visit,
) (diag.Problems, terminal.Lines, error) {
	answers, _, err := simulate.Responses(m, simulate.Options{Models: models.Load})
	if err != nil {
		return nil, "", err
	}
	var problems diag.Problems
	var hint strings.Builder
	for i := range loops {
		l := &loops[i]
		if l.Poll == nil || len(l.Rows) == 0 || l.Retries {
			continue
		}
		at := slices.IndexFunc(visits, func(v stepfunctions.Visit) bool { return v.State.Name == l.Poll.Name })
		response := answers[l.Poll.Name]
		var status simulate.Member
		known := false
		if response != nil {
			status, known = statusOf(l, response)
		}
		switch {
		case at < 0:
			terminal.Fprintf(&hint, "\nAWS did not test the statuses of %s, which a simulated run does not get through", l.Poll.Name)
			continue
		case response == nil || len(response.Statuses) == 0 || !known:
			terminal.Fprintf(&hint, "\nAWS did not test the statuses of %s: nobody but you knows its answers", l.Poll.Name)
			continue
		}
		t := &rowTest{opinion: a, m: m, text: text, loop: l, poll: visits[at], routes: map[string]bool{}}
		for _, r := range l.Rows {
			for _, route := range r.Routes {
				t.routes[route] = true
			}
		}
		for j := range l.Rows {
			if err := t.testRow(ctx, &l.Rows[j], answersOf(&l.Rows[j], status, response)); err != nil || a.failure != nil {
				return append(problems, t.problems...), "", err
			}
		}
		problems = append(problems, t.problems...)
		if len(t.untested) > 0 {
			terminal.Fprintf(&hint, "\nAWS did not test these statuses of %s to their end: %s", l.Poll.Name, strings.Join(t.untested, ", "))
		}
	}
	return problems, terminal.Lines(hint.String()), nil
}

// rowAnswer is an answer with a status.
type rowAnswer struct {
	status    string
	value     any
	unchecked bool // no model has the status
}

// statusOf is the member of the answers that has the status of a loop; false if none has.
func statusOf(l *lint.Loop, response *simulate.Response) (simulate.Member, bool) {
	spell := func(path string) string {
		parts := strings.Split(path, ".")
		for i, part := range parts {
			name, _, _ := strings.Cut(part, "[") // of a list it is the first item
			parts[i] = javasdk.MemberName(name)
		}
		return strings.Join(parts, ".")
	}
	at := slices.IndexFunc(response.Members, func(m simulate.Member) bool { return spell(m.String()) == spell(l.Status) })
	if at < 0 {
		return simulate.Member{}, false
	}
	return response.Members[at], true
}

// answersOf are the answers with the statuses of a row, which are in a member. One status may
// have several, which another member tells apart.
func answersOf(r *lint.Row, status simulate.Member, response *simulate.Response) []rowAnswer {
	if len(r.Values) == 0 {
		return []rowAnswer{{anyOther, status.Put(response.Statuses[response.Running].Answer, trial.UnknownValue), true}}
	}
	var all []rowAnswer
	for _, value := range r.Values {
		before := len(all)
		for _, s := range response.Statuses {
			if has, ok := status.Of(s.Answer); ok && has == value && s.Failure == nil {
				all = append(all, rowAnswer{value, s.Answer, false})
			}
		}
		if len(all) == before {
			all = append(all, rowAnswer{value, status.Put(response.Statuses[response.Running].Answer, value), true})
		}
	}
	return all
}

// testRow has AWS test the answers of a row.
func (t *rowTest) testRow(ctx context.Context, r *lint.Row, answers []rowAnswer) error {
	for _, answer := range answers {
		result, err := json.Marshal(answer.value)
		if err != nil {
			return err
		}
		visit := t.poll
		visit.Result, visit.Unchecked = result, answer.unchecked
		tested, err := t.follow(ctx, r, answer.status, visit)
		if err != nil || t.opinion.failure != nil {
			return err
		}
		if !tested && !slices.Contains(t.untested, answer.status) {
			t.untested = append(t.untested, answer.status)
		}
	}
	return nil
}

// mostSteps bounds the states between a poll and where its row leads.
const mostSteps = 50

// follow has AWS test the states from the poll on, until one leads where a row does. It tells
// whether it got there.
func (t *rowTest) follow(ctx context.Context, r *lint.Row, status string, visit stepfunctions.Visit) (tested bool, err error) {
	for range mostSteps {
		here, err := testHere(ctx, t.text, visit)
		if _, refused := errors.AsType[*sim.TestStateError](err); refused {
			return false, nil
		} else if err != nil {
			return false, err
		}
		answer, err := t.opinion.client.TestState(ctx, t.text, visit)
		if err != nil && slices.Contains(refusals, kit.NewCallError(err).Code) {
			return false, nil
		} else if err != nil {
			t.opinion.fail(err)
			return false, nil
		}
		switch next := answer.NextState; {
		case next != "" && slices.Contains(r.Routes, next):
			return true, nil
		case next != "" && t.routes[next]:
			t.report(r, status, visit.State, fmt.Sprintf("leads to %q", next))
			return true, nil
		case next == "" && answer.Status == string(sim.TestFailed):
			if here.Status != sim.TestFailed && len(r.Routes) > 0 && r.FailsAt != visit.State.Name {
				t.report(r, status, visit.State, tell(answer.Status, answer.Error, answer.Cause, ""))
			}
			return here.Status != sim.TestFailed || len(r.Routes) == 0 || r.FailsAt == visit.State.Name, nil
		case next != here.Next:
			t.report(r, status, visit.State, fmt.Sprintf("leads to %q", next))
			return true, nil
		case next == "":
			return false, nil
		}
		if visit = t.next(visit, here); visit.State == nil {
			return false, nil
		}
	}
	return false, nil
}

// next is the visit of the state behind another: of one that only passes data on.
func (t *rowTest) next(from stepfunctions.Visit, left *sim.TestResult) stepfunctions.Visit {
	s := t.loop.Flow.State(left.Next)
	if s == nil || s.Type != asl.TypeChoice && s.Type != asl.TypePass {
		return stepfunctions.Visit{}
	}
	variables := maps.Clone(from.Variables)
	var assigned map[string]json.RawMessage
	if text := left.Inspection["variables"]; len(text) > 0 && json.Unmarshal(text, &assigned) == nil {
		if variables == nil {
			variables = map[string]json.RawMessage{}
		}
		maps.Copy(variables, assigned)
	}
	return stepfunctions.Visit{State: s, Input: left.Output, Variables: variables}
}

// report reports where AWS leads a status otherwise than its row.
func (t *rowTest) report(r *lint.Row, status string, at *asl.State, does string) {
	expected := "fails"
	if len(r.Routes) > 0 {
		expected = "leads to " + kit.OrList(quoteNames(r.Routes))
	}
	what := "status " + status
	if status == anyOther {
		what = anyOther + " status"
	}
	p := t.m.Problem(at.Position.Pointer, "AWS tests %s otherwise: here it %s; by the table of the loop it %s", what, does, expected)
	p.Severity = diag.Danger
	t.problems = append(t.problems, p)
}

// quoteNames writes names of states.
func quoteNames(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", name)
	}
	return all
}
