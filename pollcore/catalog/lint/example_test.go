package lint_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

func ExampleWaiter() {
	entry, err := catalog.Lookup("dynamodb", "ExportCompleted")
	if err != nil {
		fmt.Println(err)
		return
	}
	status := pollcore.Output("ExportDescription.ExportStatus")
	exported := pollcore.MustNew("Exported", pollcore.Succeed(status.Is("Completed")), pollcore.Fail(status.Is("FAILED")))
	for _, f := range lint.Waiter(exported, entry.Operation, lint.Options{Only: []string{lint.EnumValue}}) {
		fmt.Println(f.Severity, f.Rule, "in acceptor", f.Acceptor+1, "- did you mean", f.Suggestion)
	}
	// Output:
	// DANGER enum-value in acceptor 1 - did you mean COMPLETED
}
