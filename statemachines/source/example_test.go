package source_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A template has several state machines. What is wrong stands where it is written.
func Example() {
	template := `Resources:
  Poller:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition:
        StartAt: Check
        States:
          Check: {Type: Task, Resource: !GetAtt Check.Arn, End: true}
  Broken:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: !Sub |
        {"StartAt": "Check",
         "States": {"Check": {"Type": "Task", "Resource": "${Check.Arn}", "Ends": 1, "End": true}}}
`
	files := fstest.MapFS{"template.yaml": {Data: []byte(template)}}
	definitions, err := source.Load(context.Background(), []string{"template.yaml"}, source.Options{FS: files})
	if err != nil {
		fmt.Println(err)
	}
	for _, d := range definitions {
		_, err := d.Parse()
		fmt.Println(d.Name, err)
	}
	// Output:
	// template.yaml#Poller <nil>
	// template.yaml#Broken 14:75: /States/Check/Ends: unknown field "Ends" in a Task state (did you mean "End"?)
	//   | ...e": "Task", "Resource": "${Check.Arn}", "Ends": 1, "End": true}}}
	//   |                                            ^
}
