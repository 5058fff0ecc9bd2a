package graph_test

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// A machine as Mermaid text, which GitHub draws in Markdown.
func Example() {
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {
	  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Done"},
	  "Done": {"Type": "Succeed"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _, _ := strings.Cut(graph.New(m, graph.Options{}).Mermaid(), "    classDef") // the styles
	fmt.Print(text)
	// Output:
	// flowchart TD
	//     n0(("start"))
	//     n1(["Wait · 30 s<br/><b>Wait</b>"]):::wait
	//     n2(["Succeed<br/><b>Done</b>"]):::succeed
	//     n0 --> n1
	//     n1 --> n2
}
