package statemachines_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func ExampleDefinition() {
	text, err := statemachines.Definition("glue-crawler")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := asl.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.StartAt, len(m.States))
	// Output:
	// Start 10
}
