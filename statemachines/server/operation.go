package server

import "reflect"

// operation is what the server does for one operation of the model.
type operation struct {
	// do takes members that keep the model's rules.
	do      func(r *request, members map[string]any) (output any, err error)
	in, out reflect.Type // structs whose tags name the members of input and output
}

// allOperations is the table of what the server does. It is a function because some
// operations call others by their names.
func allOperations() map[string]operation {
	return map[string]operation{
		"CreateActivity":             serve(createActivity),
		"CreateStateMachine":         serve(createStateMachine),
		"CreateStateMachineAlias":    serve(createStateMachineAlias),
		"DeleteActivity":             serve(deleteActivity),
		"DeleteStateMachine":         serve(deleteStateMachine),
		"DeleteStateMachineAlias":    serve(deleteStateMachineAlias),
		"DeleteStateMachineVersion":  serve(deleteStateMachineVersion),
		"DescribeActivity":           serve(describeActivity),
		"DescribeStateMachine":       serve(describeStateMachine),
		"DescribeStateMachineAlias":  serve(describeStateMachineAlias),
		"ListActivities":             serve(listActivities),
		"ListStateMachineAliases":    serve(listStateMachineAliases),
		"ListStateMachineVersions":   serve(listStateMachineVersions),
		"ListStateMachines":          serve(listStateMachines),
		"ListTagsForResource":        serve(listTagsForResource),
		"PublishStateMachineVersion": serve(publishStateMachineVersion),
		"TagResource":                serve(tagResource),
		"UntagResource":              serve(untagResource),
		"UpdateStateMachine":         serve(updateStateMachine),
		"UpdateStateMachineAlias":    serve(updateStateMachineAlias),
	}
}

// serve makes an operation of a function on the structs of its input and output.
func serve[In, Out any](do func(*request, *In) (*Out, error)) operation {
	return operation{
		do: func(r *request, members map[string]any) (any, error) {
			in := new(In)
			fill(in, members)
			out, err := do(r, in)
			if err != nil {
				return nil, err
			}
			return out, nil
		},
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
	}
}
