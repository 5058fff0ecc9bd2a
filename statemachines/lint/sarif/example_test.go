package sarif_test

import (
	"encoding/json"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/sarif"
)

func ExampleNew() {
	log := sarif.New("1.0.0", lint.Rules(), []sarif.Finding{{
		File: "flow.asl.json", Rule: lint.HotLoop, Pointer: "/States/Get",
		Problem: diag.Problem{Severity: diag.Danger, Line: 7, Column: 5}, Message: "the loop has no Wait",
	}})
	text, err := json.Marshal(log.Runs[0].Results[0].Locations)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	// Output:
	// [{"physicalLocation":{"artifactLocation":{"uri":"flow.asl.json"},"region":{"startLine":7,"startColumn":5}},"logicalLocations":[{"fullyQualifiedName":"/States/Get"}]}]
}
