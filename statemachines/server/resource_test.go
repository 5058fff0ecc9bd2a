package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// exchange is a request with what is expected of its answer.
type exchange struct{ operation, body, want string }

// hold sends requests one after the other. An answer is expected as JSON without
// times and revision ids, a refusal as its code and its message.
func hold(t *testing.T, s http.Handler, talk []exchange) {
	t.Helper()
	for _, e := range talk {
		status, answer := send(t, s, e.operation, e.body)
		got := fmt.Sprintf("%v: %v", answer["__type"], answer["message"])
		if status == http.StatusOK {
			got = text(t, withoutTimes(answer))
		}
		require.Equal(t, e.want, got, "%s %s", e.operation, e.body)
	}
}

func withoutTimes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			if strings.HasSuffix(name, "Date") || name == "revisionId" {
				delete(v, name)
			} else {
				v[name] = withoutTimes(v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	default:
	}
	return value
}

const (
	machineM = "arn:aws:states:eu-west-1:111111111111:stateMachine:m"
	activity = "arn:aws:states:eu-west-1:111111111111:activity:a"
	other    = `{\"StartAt\":\"B\",\"States\":{\"B\":{\"Type\":\"Pass\",\"End\":true}}}`
)

func create(t *testing.T, name string) exchange {
	t.Helper()
	arn := strings.TrimSuffix(machineM, "m") + name
	return exchange{
		"CreateStateMachine", text(t, map[string]any{"name": name, "definition": pass, "roleArn": role, "publish": true}),
		`{"stateMachineArn":"` + arn + `","stateMachineVersionArn":"` + arn + `:1"}`,
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	m, stale := `{"stateMachineArn":"`+machineM+`"`, "11111111-2222-3333-4444-555555555555"
	hold(t, server.New(server.Options{}), []exchange{
		create(t, "m"),
		{"PublishStateMachineVersion", m + `,"description":"again"}`, `{"stateMachineVersionArn":"` + machineM + `:1"}`},
		{"PublishStateMachineVersion", m + `,"revisionId":"INITIAL"}`, `{"stateMachineVersionArn":"` + machineM + `:1"}`},
		{
			"PublishStateMachineVersion", m + `,"revisionId":"` + stale + `"}`,
			"ConflictException: Failed to publish the State Machine version for revision " + stale + ". The current State Machine revision is INITIAL.",
		},
		{"UpdateStateMachine", m + `,"definition":"` + other + `","publish":true}`, `{"stateMachineVersionArn":"` + machineM + `:2"}`},
		{"ListStateMachineVersions", m + `}`, `{"stateMachineVersions":[{"stateMachineVersionArn":"` + machineM + `:2"},{"stateMachineVersionArn":"` + machineM + `:1"}]}`},
		{"DeleteStateMachineVersion", `{"stateMachineVersionArn":"` + machineM + `:2"}`, `{}`},
		{"DeleteStateMachineVersion", `{"stateMachineVersionArn":"` + machineM + `:2"}`, `{}`},
		{"DeleteStateMachineVersion", `{"stateMachineVersionArn":"` + machineM + `"}`, "InvalidArn: Invalid Arn: 'Invalid ARN: " + machineM + "'"},
		{"PublishStateMachineVersion", m + `}`, `{"stateMachineVersionArn":"` + machineM + `:3"}`},
		{"PublishStateMachineVersion", `{"stateMachineArn":"` + machineM + `:3"}`, "StateMachineDoesNotExist: State Machine Does Not Exist: '" + machineM + ":3'"},
		{"ListStateMachineVersions", `{"stateMachineArn":"` + machineM + `x"}`, `{"stateMachineVersions":[]}`},
	})
}

func TestAliases(t *testing.T) {
	t.Parallel()
	routes := func(pairs ...any) string {
		var items []string
		for i := 0; i < len(pairs); i += 2 {
			items = append(items, fmt.Sprintf(`{"stateMachineVersionArn":"%s","weight":%d}`, pairs[i], pairs[i+1]))
		}
		return `"routingConfiguration":[` + strings.Join(items, ",") + `]`
	}
	one, half := routes(machineM+":1", 100), routes(machineM+":1", 40, machineM+":2", 60)
	alias := `{"stateMachineAliasArn":"` + machineM + `:live"`
	missing := "ResourceNotFound: Request references a resource that does not exist."
	hold(t, server.New(server.Options{}), []exchange{
		create(t, "m"),
		create(t, "n"),
		{"UpdateStateMachine", `{"stateMachineArn":"` + machineM + `","definition":"` + other + `","publish":true}`, `{"stateMachineVersionArn":"` + machineM + `:2"}`},
		{"CreateStateMachineAlias", `{"name":"live",` + one + `}`, `{"stateMachineAliasArn":"` + machineM + `:live"}`},
		{"CreateStateMachineAlias", `{"name":"live",` + one + `}`, `{"stateMachineAliasArn":"` + machineM + `:live"}`},
		{
			"CreateStateMachineAlias", `{"name":"live",` + half + `}`,
			"ConflictException: Failed to create alias because an alias with the same name and a different routing configuration already exists.",
		},
		{"CreateStateMachineAlias", `{"name":"next",` + half + `}`, `{"stateMachineAliasArn":"` + machineM + `:next"}`},
		{"CreateStateMachineAlias", `{"name":"x",` + routes(machineM+":7", 100) + `}`, missing},
		{
			"CreateStateMachineAlias", `{"name":"x",` + routes(machineM+":1", 50, strings.TrimSuffix(machineM, "m")+"n:1", 50) + `}`,
			"ValidationException: Routing configuration must contain versions of one state machine. Received: [" + machineM + ":1, " + strings.TrimSuffix(machineM, "m") + "n:1]",
		},
		{
			"DescribeStateMachineAlias", `{"stateMachineAliasArn":"` + machineM + `:next"}`,
			`{"name":"next",` + half + `,"stateMachineAliasArn":"` + machineM + `:next"}`,
		},
		{"ListStateMachineAliases", `{"stateMachineArn":"` + machineM + `:2"}`, `{"stateMachineAliases":[{"stateMachineAliasArn":"` + machineM + `:next"}]}`},
		{
			"ListStateMachineAliases", `{"stateMachineArn":"` + machineM + `"}`,
			`{"stateMachineAliases":[{"stateMachineAliasArn":"` + machineM + `:live"},{"stateMachineAliasArn":"` + machineM + `:next"}]}`,
		},
		{
			"DeleteStateMachineVersion", `{"stateMachineVersionArn":"` + machineM + `:1"}`,
			"ConflictException: Version to be deleted must not be referenced by an alias. Current list of aliases referencing this version: [live, next]",
		},
		{"UpdateStateMachineAlias", alias + `}`, "ValidationException: Either the description or the routingConfiguration must be specified"},
		{"UpdateStateMachineAlias", alias + `,"description":""}`, `{}`},
		{
			"UpdateStateMachineAlias", alias + `,` + routes(strings.TrimSuffix(machineM, "m")+"n:1", 100) + `}`,
			"ValidationException: Routing configuration must contain versions of the alias's state machine " + machineM + ". Received a version of " + strings.TrimSuffix(machineM, "m") + "n",
		},
		{"DeleteStateMachineAlias", alias + `}`, `{}`},
		{"DeleteStateMachineAlias", alias + `}`, missing},
		{"DescribeStateMachineAlias", `{"stateMachineAliasArn":"` + machineM + `"}`, missing},
	})
}

func TestTags(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprintf(`{"key":"k%d","value":"v"}`, i)
		}
		return `"tags":[` + strings.Join(items, ",") + `]`
	}
	hold(t, server.New(server.Options{}), []exchange{
		create(t, "m"),
		{"CreateActivity", `{"name":"a","tags":[{"key":"k","value":"1"}]}`, `{"activityArn":"` + activity + `"}`},
		{"TagResource", `{"resourceArn":"` + activity + `","tags":[{"key":"l","value":"2"},{"key":"k","value":"3"}]}`, `{}`},
		{"ListTagsForResource", `{"resourceArn":"` + activity + `"}`, `{"tags":[{"key":"k","value":"3"},{"key":"l","value":"2"}]}`},
		{"UntagResource", `{"resourceArn":"` + activity + `","tagKeys":["k","other"]}`, `{}`},
		{"ListTagsForResource", `{"resourceArn":"` + activity + `"}`, `{"tags":[{"key":"l","value":"2"}]}`},
		{"TagResource", `{"resourceArn":"` + machineM + `",` + many(50) + `}`, `{}`},
		{"TagResource", `{"resourceArn":"` + machineM + `","tags":[{"key":"l","value":""}]}`, "TooManyTags: '" + machineM + "' would have 51 tags; the maximum is 50."},
		{
			"TagResource", `{"resourceArn":"` + machineM + `","tags":[{"key":"AWS:l","value":""}]}`,
			`ValidationException: The tag key "AWS:l" is reserved: keys must not start with "aws:".`,
		},
		{"ListTagsForResource", `{"resourceArn":"` + machineM + `:1"}`, "ResourceNotFound: Resource not found: '" + machineM + ":1'"},
		{"TagResource", `{"resourceArn":"` + activity + `b","tags":[]}`, "ResourceNotFound: Resource not found: '" + activity + "b'"},
	})
}

func TestActivities(t *testing.T) {
	t.Parallel()
	key := `"encryptionConfiguration":{"type":"CUSTOMER_MANAGED_KMS_KEY","kmsKeyId":"alias/x"}`
	hold(t, server.New(server.Options{}), []exchange{
		{"CreateActivity", `{"name":"b",` + key + `}`, `{"activityArn":"arn:aws:states:eu-west-1:111111111111:activity:b"}`},
		{"CreateActivity", `{"name":"a"}`, `{"activityArn":"` + activity + `"}`},
		{"CreateActivity", `{"name":"a"}`, `{"activityArn":"` + activity + `"}`},
		{"CreateActivity", `{"name":"a",` + key + `}`, "ActivityAlreadyExists: Activity Already Exists: '" + activity + "'"},
		{"CreateActivity", `{"name":"a b"}`, "InvalidName: Invalid Name: 'a b'"},
		{
			"ListActivities", `{}`,
			`{"activities":[{"activityArn":"` + activity + `","name":"a"},{"activityArn":"arn:aws:states:eu-west-1:111111111111:activity:b","name":"b"}]}`,
		},
		{"DescribeActivity", `{"activityArn":"` + activity + `"}`, `{"activityArn":"` + activity + `","encryptionConfiguration":{"type":"AWS_OWNED_KEY"},"name":"a"}`},
		{"DescribeActivity", `{"activityArn":"` + machineM + `"}`, "InvalidArn: Invalid Arn: 'Resource type not valid in this context: stateMachine'"},
		// That of another account is not there, and is not deleted.
		{"DeleteActivity", `{"activityArn":"arn:aws:states:eu-west-1:222222222222:activity:a"}`, `{}`},
		{
			"DescribeActivity", `{"activityArn":"arn:aws:states:eu-west-1:222222222222:activity:a"}`,
			"ActivityDoesNotExist: Activity Does Not Exist: 'arn:aws:states:eu-west-1:222222222222:activity:a'",
		},
		{"DeleteActivity", `{"activityArn":"` + activity + `"}`, `{}`},
		{"DescribeActivity", `{"activityArn":"` + activity + `"}`, "ActivityDoesNotExist: Activity Does Not Exist: '" + activity + "'"},
	})
}
