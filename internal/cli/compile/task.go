package compile

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// ownTask reads the Task that polls from a file.
func (o *compileOptions) ownTask(c *cobra.Command) (compile.Call, error) {
	text, err := kit.ReadText(o.task, c.InOrStdin())
	if err != nil {
		return compile.Call{}, err
	}
	var call compile.Call
	err = json.Unmarshal(text, &call.Task)
	if err == nil && call.Task == nil {
		err = errors.New("found null")
	}
	if err != nil {
		return call, kit.Usage("%s must be a Task, such as {\"Resource\": \"arn:aws:states:::lambda:invoke\", \"Arguments\": {...}}: %w", o.task, err)
	}
	if err := compile.CheckTask(call.Task); err != nil {
		return call, kit.Usage("--task %w", err)
	}
	resource, _ := call.Task["Resource"].(string)
	switch {
	case o.arguments != "":
		return call, kit.Usage("--arguments: write them into %s, as Arguments", o.task)
	case o.iam && asl.ParseResource(resource).Service != "lambda":
		return call, kit.Usage("--iam knows what a Lambda function needs, and not %s: see the page of the integration in the Step Functions Developer Guide",
			strings.TrimSpace(resource))
	}
	return call, nil
}
