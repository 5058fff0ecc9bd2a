package cdkapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// Signal is how a poller learns that the job has ended.
type Signal string

// The signals.
const (
	// SignalPoll polls, as the prop Strategy says.
	SignalPoll Signal = "POLL"
	// SignalSync runs the job in a .sync Task, in which Step Functions waits for it.
	SignalSync Signal = "SYNC"
	// SignalEvents lets one Task wait, which the function collector answers: it polls many
	// jobs together, and is told by events where AWS sends one of the job's end.
	SignalEvents Signal = "EVENTS"
	// SignalAuto is SYNC where the catalogue has it proved and the props allow it, else
	// EVENTS where the start records are in a table, else POLL, of a driver of your own with
	// the strategy lambda-retry. The synthesis prints
	// which. Once deployed, name that: a later version may choose another, and executions
	// in flight lose permissions with it (docs/guide/upgrade.md).
	SignalAuto Signal = "AUTO"
)

var signals = []Signal{SignalPoll, SignalSync, SignalEvents, SignalAuto}

// functionWays are the ways to wait with Lambda functions.
var functionWays = fmt.Sprintf("Signal %s, or the strategy %s or %s", SignalEvents, compile.LambdaLoop, compile.LambdaRetry)

// signalOf is the signal of a strategy.
func signalOf(s compile.Strategy) Signal {
	switch {
	case s.Waits():
		return SignalSync
	case s.NeedsCollector():
		return SignalEvents
	default:
		return SignalPoll
	}
}

// polls are the strategies of SignalPoll.
func polls() []compile.Strategy {
	return slices.DeleteFunc(compile.Strategies(), func(s compile.Strategy) bool { return signalOf(s) != SignalPoll })
}

// strategy is the one that is used; empty if the compiler chooses.
func (p *polling) strategy() compile.Strategy {
	switch {
	case p.Signal != "" && !slices.Contains(signals, p.Signal):
		p.refuse("Signal", "it must be one of %s, is %q", quoteNames(signals), p.Signal)
	case p.Strategy != "" && !p.Strategy.Valid():
		p.refuse("Strategy", "it must be one of %s, is %q", quoteNames(polls()), p.Strategy)
	case signalOf(p.Strategy) != SignalPoll:
		p.refuse("Strategy", "%s does not poll: give Signal %q in its place", p.Strategy, signalOf(p.Strategy))
	case p.Strategy != "" && p.Signal != "" && p.Signal != SignalPoll:
		p.refuse("Strategy", "it says how the state machine polls, and Signal is %s: leave one of the two out", p.Signal)
	case p.Strategy != "":
		return p.Strategy
	}
	switch p.Signal {
	case SignalSync:
		return compile.SyncTask
	case SignalEvents:
		return compile.LambdaEvents
	case SignalAuto:
		if signalOf(p.tried) != SignalPoll || p.tried.UsesFunctions() {
			return p.tried
		}
	case SignalPoll:
	}
	return ""
}

// choose compiles the job for the first signal that can be used.
func (p *polling) choose(b *bound, f form) (chosen *compile.Compiled) {
	unsynced := "functions run the job " + b.name
	if sync := *p; !b.driven {
		sync.Signal = SignalSync
		refused := refusal(func() { chosen = sync.compile(b, f) })
		if refused == nil {
			p.tried, p.started = compile.SyncTask, sync.started
			return chosen
		}
		unsynced = refused.reason()
	}
	uncollected := "neither Functions has a collector nor is Store a RecordTable"
	if events := *p; p.collected {
		events.Signal = SignalEvents
		refused := refusal(func() { chosen = events.compile(b, f) })
		if refused == nil {
			p.tried, p.started = compile.LambdaEvents, events.started
			return chosen
		}
		uncollected = refused.reason()
	}
	p.whyPoll = fmt.Sprintf("%s: %s; %s: %s", SignalSync, unsynced, SignalEvents, uncollected)
	if p.tried = compile.Variables; b.driven {
		p.tried = compile.LambdaRetry
	}
	return p.compile(b, f)
}

// reason is why a job cannot be compiled: what stands against it, and the prop to blame.
func (e *Error) reason() string {
	why := e.Problem
	if not, ok := errors.AsType[*compile.NotCompiledError](e.Err); ok {
		why = strings.Join(not.Reasons, "; ")
	}
	if e.Prop == "Signal" {
		return why
	}
	return "prop " + e.Prop + ": " + why
}

// canCollect tells whether there is a collector, or the store allows one.
func canCollect(functions Functions, store RecordStore) bool {
	if functions != nil {
		return functions.Collector() != nil
	}
	return store != nil && store.Table() != nil
}

// inform tells which signal AUTO has become.
func (m *machine) inform(scope constructs.Construct) {
	if !m.auto {
		return
	}
	why := "it can be no other. " + m.whyPoll
	switch signal := signalOf(m.strategy); {
	case signal == SignalSync:
		why = "Step Functions itself waits for the job"
	case signal == SignalEvents && !m.announced && len(eventsOf(m.jobs)) == 0:
		why = "the function collector polls, because no event of the job's end is known"
	case signal == SignalEvents:
		why = "the function collector polls, and is told by events"
	}
	awscdk.Annotations_Of(scope).AddInfoV2(new("jobpoller:signal"), new(fmt.Sprintf("Signal AUTO is %s here: %s", signalOf(m.strategy), why)))
}

// eventsOf are the jobs whose ends AWS tells of.
func eventsOf(jobs []string) []*catalog.Named {
	var all []*catalog.Named
	for _, job := range jobs {
		named, err := catalog.AWS().Resolve(job)
		if err == nil && named.Starts && named.Job.Event != nil {
			all = append(all, named)
		}
	}
	return all
}

// isCallback tells whether a state is a Task that waits for a callback of the functions.
func isCallback(state map[string]any) bool {
	resource, _ := state["Resource"].(string)
	arguments, ok := state["Arguments"].(map[string]any)
	if !ok {
		arguments, _ = state["Parameters"].(map[string]any)
	}
	name, _ := arguments["FunctionName"].(string)
	return strings.HasSuffix(resource, ":lambda:invoke.waitForTaskToken") && strings.Contains(name, inBraces(runJobKey))
}
