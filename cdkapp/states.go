package cdkapp

import (
	"maps"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
)

// compiledState is a state of the CDK that renders as it was compiled. The CDK
// knows its transitions, so it finds the states behind them and gives them names.
//
// The CDK's own states would not do: its CustomState is not a Choice, and loses the
// Output and Assign of a Catch.
type compiledState struct {
	sfn.CustomState
	fields map[string]any
	// targets are the states that fields name.
	targets map[string]sfn.State
	// statements are what the role of the state machine needs.
	statements []awsiam.PolicyStatement
	bound      bool // it is one of a state machine
}

func newCompiledState(scope constructs.Construct, name string, fields map[string]any) *compiledState {
	s := &compiledState{fields: fields, targets: map[string]sfn.State{}}
	sfn.NewCustomState_Override(s, scope, &name, &sfn.CustomStateProps{StateJson: &fields})
	return s
}

// ToStateJson is called by the CDK to render the state: as it was compiled, with
// the names that the CDK has given the states.
func (s *compiledState) ToStateJson(sfn.QueryLanguage) *map[string]any { //nolint:revive // as the CDK spells it
	fields := maps.Clone(s.fields)
	rename := func(in map[string]any, member string) {
		if name, ok := in[member].(string); ok {
			in[member] = *s.targets[name].StateId()
		}
	}
	rename(fields, "Next")
	rename(fields, "Default")
	for _, list := range []string{"Choices", "Catch"} {
		var renamed []any
		for _, one := range objects(fields[list]) {
			one = maps.Clone(one)
			rename(one, "Next")
			renamed = append(renamed, one)
		}
		if renamed != nil {
			fields[list] = renamed
		}
	}
	return new(withNull(fields).(map[string]any))
}

// withNull puts a token for each null, which jsii would leave out.
func withNull(value any) any {
	switch value := value.(type) {
	case nil:
		return *sfn.JsonPath_DISCARD()
	case map[string]any:
		all := make(map[string]any, len(value))
		for name, member := range value {
			all[name] = withNull(member)
		}
		return all
	case []any:
		all := make([]any, len(value))
		for i, item := range value {
			all[i] = withNull(item)
		}
		return all
	default:
		return value
	}
}

// WhenBoundToGraph is called by the CDK when the state becomes one of a state
// machine, whose role gets what the call needs.
func (s *compiledState) WhenBoundToGraph(graph sfn.StateGraph) {
	s.CustomState.WhenBoundToGraph(graph)
	s.bound = true
	for _, statement := range s.statements {
		graph.RegisterPolicyStatement(statement)
	}
}

// connect tells the CDK of the transitions.
func (s *compiledState) connect(states map[string]sfn.State) {
	to := func(fields map[string]any, member string) sfn.State {
		name, ok := fields[member].(string)
		if !ok {
			return nil
		}
		s.targets[name] = states[name]
		return states[name]
	}
	if next := to(s.fields, "Next"); next != nil {
		s.MakeNext(next)
	}
	for _, choice := range objects(s.fields["Choices"]) {
		// ToStateJson has the condition; the CDK wants one for a transition.
		s.AddChoice(sfn.Condition_IsPresent(new("$")), to(choice, "Next"), nil)
	}
	if otherwise := to(s.fields, "Default"); otherwise != nil {
		s.MakeDefault(otherwise)
	}
	for _, catch := range objects(s.fields["Catch"]) {
		s.AddCatch(to(catch, "Next"), &sfn.CatchProps{Errors: pointers(errorNames(catch["ErrorEquals"]))})
	}
}

// objects are the members of a JSON array of objects.
func objects(array any) []map[string]any {
	list, _ := array.([]any)
	all := make([]map[string]any, 0, len(list))
	for _, one := range list {
		if fields, ok := one.(map[string]any); ok {
			all = append(all, fields)
		}
	}
	return all
}

func errorNames(array any) []string {
	list, _ := array.([]any)
	all := make([]string, 0, len(list))
	for _, one := range list {
		if text, ok := one.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
