package baseline_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
)

// A finding of the baseline is known, also where its rule of the Choice has moved.
func ExampleKnown_Take() {
	all, err := baseline.Parse([]byte(`[{"file": "flow.asl.json", "rule": "enum-value", "pointer": "/States/Done?/Choices/0"}]`))
	if err != nil {
		panic(err)
	}
	known := baseline.NewKnown(all)
	fmt.Println(known.Take("flow", baseline.Finding{File: "flow.asl.json", Rule: "enum-value", Pointer: "/States/Done?/Choices/2"}.Key()))
	fmt.Println(known.Take("flow", baseline.Finding{File: "flow.asl.json", Rule: "hot-loop", Pointer: "/States/Get"}.Key()))
	// Output:
	// true
	// false
}
