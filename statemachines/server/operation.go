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
		"CreateStateMachine":   serve(createStateMachine),
		"DeleteStateMachine":   serve(deleteStateMachine),
		"DescribeStateMachine": serve(describeStateMachine),
		"ListStateMachines":    serve(listStateMachines),
		"UpdateStateMachine":   serve(updateStateMachine),

		"TestState":                      serve(testState),
		"ValidateStateMachineDefinition": serve(validateStateMachineDefinition),

		"DeleteStateMachineVersion":  serve(deleteStateMachineVersion),
		"ListStateMachineVersions":   serve(listStateMachineVersions),
		"PublishStateMachineVersion": serve(publishStateMachineVersion),

		"CreateStateMachineAlias":   serve(createStateMachineAlias),
		"DeleteStateMachineAlias":   serve(deleteStateMachineAlias),
		"DescribeStateMachineAlias": serve(describeStateMachineAlias),
		"ListStateMachineAliases":   serve(listStateMachineAliases),
		"UpdateStateMachineAlias":   serve(updateStateMachineAlias),

		"CreateActivity":   serve(createActivity),
		"DeleteActivity":   serve(deleteActivity),
		"DescribeActivity": serve(describeActivity),
		"ListActivities":   serve(listActivities),

		"ListTagsForResource": serve(listTagsForResource),
		"TagResource":         serve(tagResource),
		"UntagResource":       serve(untagResource),

		"DescribeExecution":                serve(describeExecution),
		"DescribeStateMachineForExecution": serve(describeMachineForExecution),
		"GetExecutionHistory":              serve(getExecutionHistory),
		"ListExecutions":                   serve(listExecutions),
		"RedriveExecution":                 serve(redriveExecution),
		"StartExecution":                   serve(startExecution),
		"StartSyncExecution":               serve(startSyncExecution),
		"StopExecution":                    serve(stopExecution),

		"GetActivityTask":   serve(getActivityTask),
		"SendTaskFailure":   serve(sendTaskFailure),
		"SendTaskHeartbeat": serve(sendTaskHeartbeat),
		"SendTaskSuccess":   serve(sendTaskSuccess),
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
