package server

import "reflect"

// operation is what the server does for one operation of the model.
type operation struct {
	// do takes members that keep the model's rules.
	do      func(r *request, members map[string]any) (output any, err error)
	in, out reflect.Type // structs whose tags name the members of input and output
}

// allOperations maps the name of each operation to its function. It is built anew because some
// operations call others by their names.
func allOperations() map[string]operation {
	return map[string]operation{
		"CreateActivity":                   serve(createActivity),
		"CreateStateMachine":               serve(createStateMachine),
		"CreateStateMachineAlias":          serve(createStateMachineAlias),
		"DeleteActivity":                   serve(deleteActivity),
		"DeleteStateMachine":               serve(deleteStateMachine),
		"DeleteStateMachineAlias":          serve(deleteStateMachineAlias),
		"DeleteStateMachineVersion":        serve(deleteStateMachineVersion),
		"DescribeActivity":                 serve(describeActivity),
		"DescribeExecution":                serve(describeExecution),
		"DescribeMapRun":                   serve(describeMapRun),
		"DescribeStateMachine":             serve(describeStateMachine),
		"DescribeStateMachineAlias":        serve(describeStateMachineAlias),
		"DescribeStateMachineForExecution": serve(describeMachineForExecution),
		"GetActivityTask":                  serve(getActivityTask),
		"GetExecutionHistory":              serve(getExecutionHistory),
		"ListActivities":                   serve(listActivities),
		"ListExecutions":                   serve(listExecutions),
		"ListMapRuns":                      serve(listMapRuns),
		"ListStateMachineAliases":          serve(listStateMachineAliases),
		"ListStateMachineVersions":         serve(listStateMachineVersions),
		"ListStateMachines":                serve(listStateMachines),
		"ListTagsForResource":              serve(listTagsForResource),
		"PublishStateMachineVersion":       serve(publishStateMachineVersion),
		"RedriveExecution":                 serve(redriveExecution),
		"SendTaskFailure":                  serve(sendTaskFailure),
		"SendTaskHeartbeat":                serve(sendTaskHeartbeat),
		"SendTaskSuccess":                  serve(sendTaskSuccess),
		"StartExecution":                   serve(startExecution),
		"StartSyncExecution":               serve(startSyncExecution),
		"StopExecution":                    serve(stopExecution),
		"TagResource":                      serve(tagResource),
		"TestState":                        serve(testState),
		"UntagResource":                    serve(untagResource),
		"UpdateMapRun":                     serve(updateMapRun),
		"UpdateStateMachine":               serve(updateStateMachine),
		"UpdateStateMachineAlias":          serve(updateStateMachineAlias),
		"ValidateStateMachineDefinition":   serve(validateStateMachineDefinition),
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
