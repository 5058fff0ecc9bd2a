package typecheck_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Bedrock's model spells the member jobName, and SDK integrations spell it JobName.
func ExampleFitText() {
	bedrock, err := catalog.AWS().Service("bedrock")
	if err != nil {
		panic(err)
	}
	output := bedrock.Operations["GetModelInvocationJob"].Output
	value, problems, err := typecheck.FitText([]byte(`{"JobName": "nightly", "Status": "Complete"}`), output, false)
	fmt.Println(value, err)
	for _, p := range problems {
		fmt.Println(p.Pointer, p.Message)
	}
	fmt.Println(typecheck.IntegrationSpelling(map[string]any{"jobName": "nightly"}, output))
	// Output:
	// map[jobName:nightly status:Complete] <nil>
	// /Status ModelInvocationJobStatus is never "Complete"
	// map[JobName:nightly]
}
