package cdkapp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// JobPollerFragment are states that wait for a job, for a state machine of your
// own.
//
// As an IChainable it goes on from Succeeded, so fragment.Next chains what
// follows a success. Failed and TimedOut must be chained too, or OrFail called:
// an execution that ended in them would have succeeded, and the synthesis refuses
// that. All three have the result of the wait as their output (docs/guide/compile.md).
//
// The role of the state machine gets what the calls need.
type JobPollerFragment interface {
	sfn.StateMachineFragment
	// Succeeded, Failed and TimedOut are the exits: states that do nothing.
	Succeeded() sfn.Pass
	Failed() sfn.Pass
	TimedOut() sfn.Pass
	// OrFail lets the execution fail at the exits that have not been chained, in
	// the errors JobPoller.Failed and JobPoller.TimedOut. It returns the fragment.
	OrFail() JobPollerFragment
	// InParallel wraps the fragment, OrFail, in a single state, so that a Catch of
	// it takes all errors. Its output is that of the fragment. It costs a transition
	// and 4 events more, which Report has from then on. Called again, it returns the
	// same state.
	InParallel() sfn.Parallel
	// Functions are the Lambda functions; nil if the strategy has none.
	Functions() Functions
	// Report says what the fragment costs.
	Report() *compile.Report
}

// JobPollerFragmentProps say what a [JobPollerFragment] waits for, and how. Job,
// which cannot be a definition, and MaxWait are required. The props mean what
// they mean in [JobPollerProps].
type JobPollerFragmentProps struct {
	Job Job
	// Signal is as in [JobPollerProps]. With SignalEvents, let the collector use the key of a
	// state machine that is encrypted with one: it answers Tasks of the state machine.
	Signal             Signal
	Strategy           compile.Strategy
	MaxWait            awscdk.Duration
	MinDelay, MaxDelay awscdk.Duration
	InitialDelay       awscdk.Duration
	Schedule           *pollcore.Planned
	// Arguments are those of the first call. Default: the input of the fragment.
	Arguments     *map[string]any
	Start         *bool
	OnTimeout     OnTimeout
	CausePatterns *map[string]*string
	// Events is the fragment's share of the 25,000 events of an execution. Default:
	// compile.DefaultEvents; give less if the state machine has more to do.
	Events    *float64
	Fit       *bool
	Output    *string
	Resources *map[string]*[]*string
	// Grants are statements that the same roles get besides. Default: none.
	Grants    *[]awsiam.PolicyStatement
	Functions Functions
	// FunctionProps are those of functions that are made here, as in [FunctionsProps].
	FunctionProps *awslambda.FunctionProps
	Store         RecordStore

	// Prefix is what the names of its states and variables begin with, a letter
	// first, then letters, digits and _. Default: the id, without
	// other characters.
	Prefix *string
	// Scope is for the strategies with Lambda functions inside a Map: an expression
	// that differs for each item. Default: none.
	Scope *string
}

func (p *JobPollerFragmentProps) polling(in where) *polling {
	return &polling{
		where: in,
		Job:   p.Job, Signal: p.Signal, Strategy: p.Strategy, collected: canCollect(p.Functions, p.Store),
		MaxWait: p.MaxWait, MinDelay: p.MinDelay, MaxDelay: p.MaxDelay, InitialDelay: p.InitialDelay, Schedule: p.Schedule,
		Arguments: p.Arguments, Start: p.Start, OnTimeout: p.OnTimeout, CausePatterns: p.CausePatterns, Events: p.Events, Fit: p.Fit,
		Output: p.Output, Scope: p.Scope,
	}
}

type fragment struct {
	sfn.StateMachineFragment
	prefix    string
	states    []*compiledState
	exits     map[pollcore.Status]sfn.Pass
	functions Functions
	report    compile.Report
	scoped    bool         // its records have a scope
	parallel  sfn.Parallel // nil before InParallel
}

// NewJobPollerFragment makes the states. It panics with an [*Error] if a prop
// cannot be used.
func NewJobPollerFragment(scope constructs.Construct, id *string, props *JobPollerFragmentProps) JobPollerFragment {
	f := &fragment{exits: map[pollcore.Status]sfn.Pass{}}
	sfn.NewStateMachineFragment_Override(f, scope, id)
	if props == nil {
		props = &JobPollerFragmentProps{}
	}
	f.build(place(scope, id), text(id), props)
	f.Node().AddValidation(f)
	addToSurvey(f)
	return f
}

// exitNames are the names of the exits, behind the prefix and On.
var exitNames = map[pollcore.Status]string{pollcore.Succeeded: "Succeeded", pollcore.Failed: "Failed", pollcore.TimedOut: "TimedOut"}

// namePart is what a name of a state or a variable can have of an id.
func namePart(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, id)
}

// StartState implements IChainable.
func (f *fragment) StartState() sfn.State { return f.states[0] }

// EndStates implements IChainable.
func (f *fragment) EndStates() *[]sfn.INextable { return &[]sfn.INextable{f.Succeeded()} }

func (f *fragment) Succeeded() sfn.Pass { return f.exits[pollcore.Succeeded] }
func (f *fragment) Failed() sfn.Pass    { return f.exits[pollcore.Failed] }
func (f *fragment) TimedOut() sfn.Pass  { return f.exits[pollcore.TimedOut] }

func (f *fragment) Functions() Functions { return f.functions }

func (f *fragment) Report() *compile.Report {
	r := f.report
	return &r
}

func (f *fragment) OrFail() JobPollerFragment {
	for _, status := range []pollcore.Status{pollcore.Failed, pollcore.TimedOut} {
		if hasNext(f.exits[status]) {
			continue
		}
		props := &sfn.FailProps{
			Error: new("JobPoller." + exitNames[status]), QueryLanguage: sfn.QueryLanguage_JSONATA, // JSONPath cannot cut a text
			Cause: new(fmt.Sprintf("{%% $substring($states.input.reason, 0, %d) %%}", asl.MaxCauseLength)),
		}
		f.exits[status].Next(sfn.NewFail(f, new(f.prefix+"Job"+exitNames[status]), props))
	}
	return f
}

func (f *fragment) InParallel() sfn.Parallel {
	if f.parallel != nil {
		return f.parallel
	}
	f.OrFail()
	props := &sfn.ParallelProps{QueryLanguage: f.language()}
	if f.language() == sfn.QueryLanguage_JSONATA {
		props.Outputs = "{% $states.result[0] %}"
	} else {
		props.OutputPath = new("$[0]")
	}
	for _, cost := range []*compile.Cost{&f.report.Worst, &f.report.Expected} {
		cost.Transitions++
		cost.Events += 4 // entered, started, succeeded, exited
		cost.USD += asl.TransitionCost(1)
	}
	f.parallel = sfn.NewParallel(f, new(f.prefix+"Job"), props).Branch(f)
	return f.parallel
}

// Validate implements constructs.IValidation: once all states are chained, the
// CDK asks what is wrong.
func (f *fragment) Validate() *[]*string {
	problems := []*string{}
	for _, status := range []pollcore.Status{pollcore.Failed, pollcore.TimedOut} {
		if f.states[0].bound && !hasNext(f.exits[status]) {
			problems = append(problems, new(fmt.Sprintf(
				"the exit %s of %s has no next state, so an execution would succeed although the job did not: chain a state to it, or call OrFail",
				exitNames[status], *f.Node().Path(),
			)))
		}
	}
	return &problems
}

func (f *fragment) build(in where, id string, props *JobPollerFragmentProps) {
	f.prefix = text(props.Prefix)
	if props.Prefix == nil {
		f.prefix = namePart(id)
	}
	if first, _ := utf8.DecodeRuneInString(f.prefix); namePart(f.prefix) != f.prefix || !unicode.IsLetter(first) {
		in.refuse("Prefix", "it must be a letter, then letters, digits and _, because names of variables begin with it, is %q", f.prefix)
	}
	p := props.polling(in)
	to := form{prefix: f.prefix, exits: map[pollcore.Status]string{}, runJob: inBraces(runJobKey), checkStatus: inBraces(checkStatusKey)}
	for status, name := range exitNames {
		to.exits[status] = f.prefix + "On" + name
	}
	compiled := p.compile(p.bind(), to)
	f.report, f.scoped = compiled.Report(), p.Scope != nil
	warn(f, &f.report)
	m := &machine{definition: string(asl.Print(compiled.Machine))}
	m.useCompiled(compiled)
	m.use(p, compiled)
	m.check(in)
	m.settle(in, &JobPollerProps{
		Functions: props.Functions, FunctionProps: props.FunctionProps, Store: props.Store, Resources: props.Resources, Grants: props.Grants,
	})
	m.warnUnnamed(f)
	m.inform(f)
	f.makeStates(compiled, to.exits, f.values(m, props))
	f.states[0].statements = append(statements(f, m.needed, m.narrowed), m.granted...)
	if f.functions != nil {
		f.states[0].statements = append(f.states[0].statements, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions:   pointers([]string{invokeAction}),
			Resources: pointers(withVersions([]string{*f.functions.RunJob().FunctionArn(), *f.functions.CheckStatus().FunctionArn()})),
		}))
	}
}

// values are what stands for the placeholders of the definition. It makes the
// functions, if they are needed and not given.
func (f *fragment) values(m *machine, props *JobPollerFragmentProps) *strings.Replacer {
	values := []string{"arn:aws:states:::", "arn:" + *awscdk.Stack_Of(f).Partition() + ":states:::"}
	if !m.throughFunctions() {
		return strings.NewReplacer(values...)
	}
	if f.functions = props.Functions; f.functions == nil {
		f.functions = newFunctions(f, new("Functions"), &FunctionsProps{
			Jobs: pointers(m.jobs), Resources: props.Resources, Grants: props.Grants, MaxWait: props.MaxWait, Store: props.Store,
			FunctionProps: props.FunctionProps, Collector: new(m.waitsForCallback),
		}, m.arguments)
	}
	if m.waitsForCallback {
		f.functions.announce(f, m.jobs, m.arguments)
		// The state machine is not known yet.
		f.functions.answer(f, resourceIn(awscdk.Stack_Of(f), "arn:*:states:*:*:stateMachine:*"), nil)
	}
	runJob, checkStatus := f.functions.releases()
	return strings.NewReplacer(append(values, inBraces(runJobKey), *runJob.arnFor(f), inBraces(checkStatusKey), *checkStatus.arnFor(f))...)
}

// makeStates makes the states, the first one in front, and the exits.
func (f *fragment) makeStates(compiled *compile.Compiled, exits map[pollcore.Status]string, values *strings.Replacer) {
	known := map[string]sfn.State{}
	for status, name := range exits {
		f.exits[status] = sfn.NewPass(f, &name, &sfn.PassProps{QueryLanguage: f.language()})
		known[name] = f.exits[status]
	}
	var machine struct {
		States map[string]map[string]any `json:"States"`
	}
	if err := json.Unmarshal([]byte(values.Replace(string(asl.Print(compiled.Machine)))), &machine); err != nil {
		panic(err) // it was printed from a value
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(machine.States)), func(name string) bool { return known[name] != nil || name == compiled.StartAt })
	for _, name := range append([]string{compiled.StartAt}, names...) {
		s := newCompiledState(f, name, machine.States[name])
		f.states, known[name] = append(f.states, s), s
	}
	for _, s := range f.states { // once all are known
		s.connect(known)
	}
}

// language is that of the states.
func (f *fragment) language() sfn.QueryLanguage {
	if f.report.Strategy.Language() == asl.JSONPath {
		return sfn.QueryLanguage_JSON_PATH
	}
	return sfn.QueryLanguage_JSONATA
}

// hasNext tells whether a state follows.
func hasNext(exit sfn.Pass) bool {
	_, next := (*exit.ToStateJson(""))["Next"]
	return next
}
