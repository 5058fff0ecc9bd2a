package lint

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// awsOpinion asks AWS about definitions until it cannot be asked: it would say
// the same of every definition.
type awsOpinion struct {
	client *stepfunctions.Client
	// testStates also tests states of a run with the input.
	testStates bool
	input      []byte
	failure    error
}

// openOpinion makes ready to ask AWS, if the flags say so. It calls nothing.
func (o *options) openOpinion(c *cobra.Command, names []string) (err error) {
	if !o.askAWS {
		return nil
	}
	flags := o.aws
	for _, name := range names {
		if of, err := stepfunctions.ParseOrigin(name); err == nil && flags.Region == "" {
			flags.Region = of.Region
		}
	}
	if o.opinion, err = newAWSOpinion(c.Context(), flags); err != nil {
		return err
	}
	o.opinion.testStates = o.testStates
	if o.inputFile != "" {
		o.opinion.input, err = kit.ReadInput(o.inputFile, c.InOrStdin())
	}
	return err
}

// newAWSOpinion reads the configuration. It calls nothing.
func newAWSOpinion(ctx context.Context, flags kit.AwsFlags) (*awsOpinion, error) {
	service, err := models.Load("stepfunctions")
	if err != nil {
		return nil, err
	}
	cfg, err := flags.Configuration(ctx, false)
	if err != nil {
		return nil, kit.WithCode(kit.ExitUnknown, err)
	}
	return &awsOpinion{client: stepfunctions.New(service, awsjob.New(cfg).Call)}, nil
}

// of returns what AWS finds in a definition, and a hint at what it was not asked.
func (a *awsOpinion) of(
	ctx context.Context, name string, m *asl.StateMachine, text []byte, as asl.ExecutionType, loops []lint.Loop,
) (diag.Problems, terminal.Lines, error) {
	if len(m.Placeholders) > 0 {
		return nil, "\nAWS was not asked: pass values for the placeholders: --substitute NAME=VALUE", nil
	}
	problems := a.validate(ctx, text, as)
	if !a.testStates || a.failure != nil {
		return problems, "", nil
	}
	input := a.input
	if input == nil {
		input = drawInput(m)
	}
	visits, err := simulateVisits(ctx, m, input, as)
	if err != nil {
		return problems, "", kit.Usage("%s: lint --test-states runs the machine, which ends: %w\nPass the input of a run: --input FILE", name, err)
	}
	differ, untested, err := a.compareStates(ctx, m, text, visits)
	problems = append(problems, differ...)
	if err != nil || a.failure != nil {
		return problems, "", err
	}
	differ, hint, err := a.testRows(ctx, m, text, loops, visits)
	problems = append(problems, differ...)
	if err != nil || a.failure != nil {
		return problems, "", err
	}
	return problems, tellUntested(untested) + hint, nil
}

// tellUntested is a hint at the states that AWS did not test: lines, or nothing.
func tellUntested(why map[string]string) terminal.Lines {
	var unvisited []string
	var b strings.Builder
	for _, state := range slices.Sorted(maps.Keys(why)) {
		if why[state] == "" {
			unvisited = append(unvisited, state)
		} else {
			terminal.Fprintf(&b, "\nAWS does not test the state %s: %s", state, why[state])
		}
	}
	if len(unvisited) > 0 {
		terminal.Fprintf(&b, "\nAWS did not test %s, which a simulated run does not get through: %s",
			kit.Plural(len(unvisited), "state"), strings.Join(unvisited, ", "))
	}
	return terminal.Lines(b.String())
}

// validate returns what AWS finds in a definition; nothing once it cannot be asked.
func (a *awsOpinion) validate(ctx context.Context, text []byte, as asl.ExecutionType) diag.Problems {
	if a.failure != nil {
		return nil //nolint:nilerr // the command ends with it
	}
	problems, err := a.client.Validate(ctx, text, as)
	a.fail(err)
	return problems
}

func (a *awsOpinion) fail(err error) {
	a.failure = err
	if refused, ok := errors.AsType[*stepfunctions.CallError](err); ok {
		a.failure = errors.New(kit.EndReason([]string{refused.Action}, refused.Err))
	}
}

// compareStates has AWS test each state that a run here left, with its input and result. It
// returns where AWS differs, and which states were not tested: with what AWS says of those
// that it refuses.
func (a *awsOpinion) compareStates(
	ctx context.Context, m *asl.StateMachine, text []byte, visits []stepfunctions.Visit,
) (diag.Problems, map[string]string, error) {
	untested := map[string]string{}
	for s := range m.All {
		untested[s.Name] = ""
	}
	var problems diag.Problems
	for _, v := range visits {
		expected, err := testHere(ctx, text, v)
		if _, refused := errors.AsType[*sim.TestStateError](err); refused {
			continue // AWS tests no such state
		} else if err != nil {
			return nil, nil, err
		}
		if a.failure != nil {
			break
		}
		answer, err := a.client.TestState(ctx, text, v)
		if err != nil && slices.Contains(refusals, kit.NewCallError(err).Code) {
			untested[v.State.Name] = kit.ErrorText(err)
			continue
		} else if err != nil {
			a.fail(err)
			break
		}
		delete(untested, v.State.Name)
		if answer.Status != string(expected.Status) || answer.Error != expected.Error || answer.NextState != expected.Next {
			p := m.Problem(v.State.Position.Pointer, "AWS tests this state otherwise: %s; expected %s",
				tell(answer.Status, answer.Error, answer.Cause, answer.NextState), tell(string(expected.Status), expected.Error, "", expected.Next))
			p.Severity = diag.Danger
			problems = append(problems, p)
		}
	}
	return problems, untested, nil
}

// refusals are the errors of TestState that are about one state.
var refusals = []string{"ValidationException", "InvalidDefinition", "InvalidExecutionInput"}

// drawInput is an input with what the machine reads of it.
func drawInput(m *asl.StateMachine) []byte {
	demands, err := typecheck.FindDemands(m.State(m.StartAt), m, models.Load)
	if err != nil {
		return nil
	}
	text, err := json.Marshal(trial.DrawInput(demands, typecheck.DrawOptions{Compared: 1, SkipWaits: true}))
	if err != nil {
		return nil
	}
	return text
}

// clockOfAWS begins now: deadlines that a run sets must be ahead of the time at which AWS
// tests its states.
func clockOfAWS() *sim.Clock { return sim.NewVirtualClock(time.Now()) }

// simulateVisits runs a machine in virtual time.
func simulateVisits(ctx context.Context, m *asl.StateMachine, input []byte, as asl.ExecutionType) ([]stepfunctions.Visit, error) {
	spec, err := simulate.ParseSpec("10m")
	if err != nil {
		return nil, err
	}
	plan, err := simulate.New(m, simulate.Options{Specs: []simulate.Spec{spec}, Models: models.Load})
	if err != nil {
		return nil, err
	}
	options := sim.Options{Express: as == asl.Express, Models: models.Load, Clock: clockOfAWS()}
	if err := plan.Apply(m, &options); err != nil {
		return nil, err
	}
	result, err := sim.Run(ctx, m, input, options)
	if err != nil {
		return nil, err
	}
	return stepfunctions.Visits(m, result), nil
}

// testHere is the test of a state as this program expects it to end.
func testHere(ctx context.Context, text []byte, v stepfunctions.Visit) (*sim.TestResult, error) {
	o := sim.TestOptions{State: v.State.Name, Variables: map[string]any{}, Options: sim.Options{Models: models.Load, Clock: clockOfAWS()}}
	for name, value := range v.Variables {
		o.Variables[name] = value
	}
	if v.Result != nil {
		o.Mock = &sim.Mock{Result: v.Result}
		if v.Unchecked {
			o.Mock.Validation = sim.ValidateNone
		}
	}
	return sim.TestState(ctx, text, v.Input, o)
}

// tell says how the test of a state ended.
func tell(status, name, cause, next string) string {
	text := status
	if name != "" {
		text += " with " + name
	}
	if cause != "" {
		text += " (" + cause + ")"
	}
	if next != "" {
		text += ", then " + next
	}
	return text
}
