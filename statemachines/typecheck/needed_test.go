package typecheck_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Step Functions leaves out a null, so the service misses a member that it requires.
func TestNeededArguments(t *testing.T) {
	t.Parallel()
	const sdk, arn = "arn:aws:states:::aws-sdk:", "arn:aws:states:::"
	for _, c := range []struct {
		resource, path string
		needed         bool
		empty          string // arguments that the service refuses
		good           string // and others
	}{
		{sdk + "comprehend:startEntitiesDetectionJob", "InputDataConfig/S3Uri", true, `{"InputDataConfig": {"S3Uri": null}}`, `{"JobName": null}`},
		{sdk + "comprehend:startEntitiesDetectionJob", "JobName", false, ``, `{"JobName": null}`},
		{arn + "sns:publish", "Message", true, `{"Message": null}`, `{"Message": {"a": null}, "Subject": null}`},
		{arn + "sqs:sendMessage", "MessageBody", true, `{"MessageBody": null}`, `{"MessageBody": "a"}`},
		{arn + "dynamodb:putItem", "Item/at/S", true, `{"Item": {"at": {"S": null}}}`, `{"Item": {"at": {"S": ""}}}`},
		{sdk + "dynamodb:putItem", "Item/at/M/why/S", true, `{"Item": {"at": {"L": [{"N": null}]}}}`, `{"Item": {"at": {"Null": true}}}`},
		{sdk + "athena:startQueryExecution", "QueryString", true, `{"QueryString": ""}`, `{"QueryString": "a"}`},
		{sdk + "ecs:describeTasks", "Tasks/0", true, `{"Tasks": [null]}`, `{"Cluster": null, "Tasks": ["a"]}`},
		{sdk + "ecs:describeTasks", "", true, ``, `{"Tasks": ["a"]}`},
		{arn + "lambda:invoke", "Payload/a", false, `{"FunctionName": null}`, `{"FunctionName": "f", "Payload": {"a": null}}`},
		{arn + "http:invoke", "RequestBody/a", false, ``, `{"RequestBody": {"a": null}}`},
	} {
		t.Run(c.resource+" "+c.path, func(t *testing.T) {
			t.Parallel()
			api, err := typecheck.FindAPI(c.resource, models.Load)
			require.NoError(t, err)
			require.Equal(t, c.needed, api.NeededArgument(c.path))
			read := func(text string) (arguments any) {
				require.NoError(t, json.Unmarshal([]byte(text), &arguments))
				return arguments
			}
			if c.empty != "" {
				require.NotEmpty(t, api.EmptyArgument(read(c.empty)))
			}
			require.Empty(t, api.EmptyArgument(read(c.good)))
		})
	}
}
