package asl_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Everything that AWS would refuse in a definition, with its place.
func Example() {
	_, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {
  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Don"},
  "Done": {"Type": "Succeed"}
}}`))
	fmt.Println(err)
	// Output:
	// 2:51: /States/Wait/Next: there is no state "Don" (did you mean "Done"?)
	//   | ...{"Type": "Wait", "Seconds": 30, "Next": "Don"},
	//   |                                            ^
}

// The ways from state to state.
func ExampleState_Transitions() {
	m, err := asl.Parse([]byte(`{"StartAt": "Done?", "States": {
	  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.done", "BooleanEquals": true, "Next": "Done"}], "Default": "Wait"},
	  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Done?"},
	  "Done": {"Type": "Succeed"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for s := range m.All {
		for _, t := range s.Transitions() {
			fmt.Println(s.Name, "->", t.To)
		}
	}
	// Output:
	// Done? -> Done
	// Done? -> Wait
	// Wait -> Done?
}

// What 8,331 transitions cost, such as those of a poll loop that fills a history.
func ExampleTransitionPrice() {
	for _, region := range []string{"us-east-1", "sa-east-1"} {
		usd, err := asl.TransitionPrice(region)
		fmt.Printf("%s $%.2f %v\n", region, 8_331*usd, err)
	}
	// Output:
	// us-east-1 $0.21 <nil>
	// sa-east-1 $0.31 <nil>
}
