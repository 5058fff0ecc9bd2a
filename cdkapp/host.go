package cdkapp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// survey looks at the state machines that the fragments of an app, or a stage of it,
// have ended up in, once these are complete.
type survey struct {
	constructs.Construct

	fragments []*fragment
}

// surveyID is that of the survey in its stage.
const surveyID = "JobPollerFragments"

// addToSurvey adds the fragment to the survey of its stage.
func addToSurvey(f *fragment) {
	stage := awscdk.Stage_Of(f)
	if stage == nil { // a stack without an app
		return
	}
	s, ok := stage.Node().TryFindChild(new(surveyID)).(*survey)
	if !ok {
		s = &survey{}
		constructs.NewConstruct_Override(s, stage, new(surveyID))
		s.Node().AddValidation(s)
	}
	s.fragments = append(s.fragments, f)
}

// Validate implements constructs.IValidation: the CDK asks at synth what is wrong.
func (s *survey) Validate() *[]*string {
	problems := []*string{}
	var machines []sfn.CfnStateMachine
	for _, child := range *s.Node().Scope().Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if machine, ok := child.(sfn.CfnStateMachine); ok {
			machines = append(machines, machine)
		}
	}
	fragments := map[int]map[string]*fragment{} // by machine and first state
	flows := make([]flow, len(machines))
	for i, machine := range machines {
		flows[i] = flowOf(machine)
		fragments[i] = map[string]*fragment{}
	}
	for _, f := range s.fragments {
		if host := f.host(machines, flows); host >= 0 {
			fragments[host][*f.states[0].StateId()] = f
		}
	}
	for i, machine := range machines {
		if len(fragments[i]) == 0 {
			continue
		}
		h := &host{path: *machine.Node().Path(), machine: machine, fragments: fragments[i], theirs: map[string]bool{}}
		for _, f := range fragments[i] {
			for _, state := range f.states {
				h.theirs[*state.StateId()] = true
			}
		}
		h.execution(flows[i], text(machine.StateMachineType()) == string(sfn.StateMachineType_EXPRESS))
		problems = append(problems, *pointers(h.problems)...)
	}
	return &problems
}

// host is the machine that a fragment is in: of those with its states the one that is
// closest to it in the tree of constructs. It is -1 if there is none.
func (f *fragment) host(machines []sfn.CfnStateMachine, flows []flow) int {
	found, closest := -1, -1
	first, own := *f.states[0].StateId(), strings.Split(*f.Node().Path(), "/")
	for i, machine := range machines {
		if !f.states[0].bound || !flows[i].has(first) {
			continue
		}
		shared := 0
		for j, part := range strings.Split(*machine.Node().Path(), "/") {
			if j >= len(own) || own[j] != part {
				break
			}
			shared++
		}
		if shared > closest {
			found, closest = i, shared
		}
	}
	return found
}

// flow are the states of a machine, a branch or an item, as far as they are looked at.
type flow struct {
	StartAt         string               `json:"StartAt"`
	States          map[string]flowState `json:"States"`
	ProcessorConfig struct {
		Mode          string `json:"Mode"`
		ExecutionType string `json:"ExecutionType"`
	} `json:"ProcessorConfig"`
}

type flowState struct {
	Type          string      `json:"Type"`
	Next          string      `json:"Next"`
	Default       string      `json:"Default"`
	Choices       []flowState `json:"Choices"`
	Catch         []flowState `json:"Catch"`
	Branches      []flow      `json:"Branches"`
	ItemProcessor *flow       `json:"ItemProcessor"`
	Iterator      *flow       `json:"Iterator"`
}

// flowOf reads the definition of a machine, with a text in the place of each token. It
// is empty for a definition that is a file, or that is not known.
func flowOf(machine sfn.CfnStateMachine) flow {
	var all flow
	if machine.DefinitionString() == nil {
		return all
	}
	var definition string
	switch resolved := machine.Stack().Resolve(machine.DefinitionString()).(type) {
	case string:
		definition = resolved
	case map[string]any:
		join, _ := resolved["Fn::Join"].([]any)
		if len(join) < 2 {
			return all
		}
		parts, _ := join[1].([]any)
		for _, part := range parts {
			if literal, ok := part.(string); ok {
				definition += literal
			} else {
				definition += "token"
			}
		}
	}
	if err := json.Unmarshal([]byte(definition), &all); err != nil {
		return flow{} // Step Functions would say what is wrong
	}
	return all
}

// items is the flow of an item of a Map.
func (s flowState) items() *flow {
	if s.ItemProcessor != nil {
		return s.ItemProcessor
	}
	return s.Iterator
}

// inner are the flows inside a state.
func (s flowState) inner() []flow {
	if items := s.items(); items != nil {
		return append(s.Branches, *items)
	}
	return s.Branches
}

// has tells whether a state of this name is in the flow or inside it.
func (f flow) has(state string) bool {
	if _, ok := f.States[state]; ok {
		return true
	}
	for _, s := range f.States {
		for _, inner := range s.inner() {
			if inner.has(state) {
				return true
			}
		}
	}
	return false
}

// next are the names of the states that can follow.
func (s flowState) next() []string {
	names := []string{s.Next, s.Default}
	for _, rule := range append(append([]flowState{}, s.Choices...), s.Catch...) {
		names = append(names, rule.Next)
	}
	return names
}

// host checks the executions of a state machine with fragments.
type host struct {
	path      string
	machine   sfn.CfnStateMachine
	fragments map[string]*fragment // by their first state
	theirs    map[string]bool      // the names of all states of the fragments
	problems  []string
}

func (h *host) refuse(f *fragment, format string, args ...any) {
	h.problems = append(h.problems, fmt.Sprintf("%s in %s: %s", *f.Node().Path(), h.path, fmt.Sprintf(format, args...)))
}

// execution checks the flow of an execution, or of a child execution.
func (h *host) execution(f flow, express bool) {
	if !h.anyIn(f) {
		return
	}
	if express {
		for _, one := range h.fragments {
			if f.has(*one.states[0].StateId()) {
				h.refuse(one, "it cannot wait in an Express execution, which ends after 5 minutes, may run twice and start the job again, "+
					"and cannot be redriven: make the state machine, or the child executions of the Map, STANDARD")
			}
		}
	}
	if events := h.events(f, false); events > asl.MaxEvents {
		h.problems = append(h.problems, fmt.Sprintf("%s: an execution can need %d events with its fragments, and the history has %d: "+
			"give each fragment a share with Events and Fit, or a longer MinDelay, or run one in a state machine of its own", h.path, events, asl.MaxEvents))
	}
}

func (h *host) anyIn(f flow) bool {
	for first := range h.fragments {
		if f.has(first) {
			return true
		}
	}
	return false
}

// The events of a state, of a Task beside them, and of a child execution's start.
const (
	stateEvents = 2
	taskEvents  = 3
	// manyItems is how many items an inline Map should have room for: as many as it
	// runs at once. It is not known how many there are.
	manyItems = 40
)

// events is the most that a flow adds to the history, if it goes through no state
// twice. inMap tells that there are several items of it in one execution.
func (h *host) events(f flow, inMap bool) int {
	of := map[string]int{} // from a state to the end
	var from func(name string, above map[string]bool) int
	from = func(name string, above map[string]bool) int {
		state, ok := f.States[name]
		if events, known := of[name]; known || !ok || above[name] {
			return events
		}
		above[name] = true
		rest := 0
		for _, next := range state.next() {
			rest = max(rest, from(next, above))
		}
		above[name] = false
		of[name] = h.own(f, name, state, inMap) + rest
		return of[name]
	}
	return from(f.StartAt, map[string]bool{})
}

// own are the events of a state itself.
func (h *host) own(in flow, name string, s flowState, inMap bool) int {
	if f := h.fragments[name]; f != nil {
		h.checkRecords(f, in, name, inMap)
		return int(f.report.Worst.Events)
	}
	if h.theirs[name] {
		return 0
	}
	events := stateEvents
	switch s.Type {
	case "Task":
		events += taskEvents
	case "Parallel":
		for _, branch := range s.Branches {
			events += h.events(branch, inMap)
		}
	case "Map":
		events += h.itemEvents(name, s)
	}
	return events
}

// itemEvents are those of one item of a Map.
func (h *host) itemEvents(name string, s flowState) int {
	items := s.items()
	switch {
	case items == nil || !h.anyIn(*items):
		return stateEvents
	case items.ProcessorConfig.Mode == "DISTRIBUTED":
		h.execution(*items, items.ProcessorConfig.ExecutionType == "EXPRESS")
		return stateEvents
	}
	events := stateEvents + h.events(*items, true)
	if fits := asl.MaxEvents / events; fits < manyItems {
		awscdk.Annotations_Of(h.machine).AddWarningV2(new("jobpoller:mapItems"), new(fmt.Sprintf(
			"each item of the Map %s can need %d events with its fragments, so that the history of %d has room for %d items: "+
				"let the Map be DISTRIBUTED, or give the fragments a smaller share with Events and Fit", name, events, asl.MaxEvents, fits)))
	}
	return events
}

// checkRecords refuses several waits of an execution under one start record.
func (h *host) checkRecords(f *fragment, in flow, first string, inMap bool) {
	if !f.report.Strategy.UsesFunctions() || f.scoped {
		return
	}
	const fix = "give Scope, an expression that differs for each, such as \"{% $states.input.index %}\""
	switch {
	case inMap:
		h.refuse(f, "all items of the Map would use one start record, and share one job or end as JobPoller.Conflict: %s", fix)
	case in.leadsBack(first, f):
		h.refuse(f, "it is in a loop, and each later round would find the start record and the result of the first: %s", fix)
	}
}

// leadsBack tells whether the flow comes from an exit of a fragment to its first state.
func (f flow) leadsBack(first string, of *fragment) bool {
	seen := map[string]bool{}
	var reach func(name string) bool
	reach = func(name string) bool {
		if name == first {
			return true
		}
		if seen[name] {
			return false
		}
		seen[name] = true
		return slices.ContainsFunc(f.States[name].next(), reach)
	}
	for _, exit := range of.exits {
		for _, next := range f.States[*exit.StateId()].next() {
			if next != "" && reach(next) {
				return true
			}
		}
	}
	return false
}
