//go:build e2e

package cdkapp_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// service finds the service that a Task calls, by its name in the Resource.
func service(t *testing.T, arnName string) *catalog.Service {
	t.Helper()
	listings, err := catalog.AWS().List()
	require.NoError(t, err)
	i := slices.IndexFunc(listings, func(l catalog.Listing) bool { return l.ARNName == arnName })
	require.GreaterOrEqual(t, i, 0, arnName)
	s, err := catalog.AWS().Service(listings[i].Key)
	require.NoError(t, err)
	return s
}

// The actions that a state machine needs to log and to send traces.
// None of them takes a resource.
// Sources: https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html and
// https://docs.aws.amazon.com/step-functions/latest/dg/concepts-xray-tracing.html
var (
	logActions = []string{
		"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
		"logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
	}
	traceActions = []string{"xray:GetSamplingRules", "xray:GetSamplingTargets", "xray:PutTelemetryRecords", "xray:PutTraceSegments"}
)

// needed is the actions, with their resources, that the Tasks of a definition
// need: those of their calls, and those that services make or check on behalf of
// who starts a job.
func needed(t *testing.T, definition string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, task := range tasksOf(t, definition) {
		parts := strings.Split(task.resource, ":")
		require.Equal(t, []string{"arn", "aws", "states", "", ""}, parts[:5])
		if parts[5] == "lambda" {
			require.Equal(t, "invoke", parts[6])
			all["lambda:InvokeFunction"] = append(all["lambda:InvokeFunction"], task.function)
			continue
		}
		require.Equal(t, "aws-sdk", parts[5])
		of := service(t, parts[6])
		var operation *catalog.Operation
		for name, o := range of.Operations {
			if lowerFirst(name) == parts[7] {
				operation = o
			}
		}
		require.NotNil(t, operation, task.resource)
		for _, action := range operation.Actions {
			for _, resource := range operation.On() {
				all[action] = append(all[action], inThisAccount(resource))
			}
		}
		if job := of.Jobs[operation.Name]; job != nil {
			for _, d := range job.Dependent {
				if arns, _ := job.On(d.Resource, nil); len(arns) == 0 {
					continue // of an argument that is optional
				}
				all[d.Action] = append(all[d.Action], inThisAccount(d.Resource))
			}
		}
	}
	for action, resources := range all {
		slices.Sort(resources)
		all[action] = slices.Compact(resources)
		if resources[0] == "*" {
			all[action] = []string{"*"}
		}
	}
	return all
}

var named = regexp.MustCompile(`\$\{[^}]*\}`)

// inThisAccount is the resource of a dependent action in the partition, region and
// account of a stack.
func inThisAccount(resource string) string {
	known := strings.NewReplacer("${Partition}", "aws", "${Region}", "us-east-1", "${Account}", "123456789012")
	return named.ReplaceAllLiteralString(known.Replace(resource), "*")
}

func lowerFirst(s string) string { return string(unicode.ToLower(rune(s[0]))) + s[1:] }

// withVersions are functions, and all versions of those of which one is invoked.
func (all template) withVersions(t *testing.T, invoked []string) []string {
	t.Helper()
	var found []string
	for _, function := range invoked {
		found = append(found, function)
		for _, version := range all.of("AWS::Lambda::Version") {
			if function == "{"+version.id+"}" {
				of := resolve(t, map[string]any{"Fn::GetAtt": []any{version.properties["FunctionName"].(map[string]any)["Ref"], "Arn"}}).(string)
				found = append(found[:len(found)-1], of, of+":*")
			}
		}
	}
	slices.Sort(found)
	return found
}

// requireJustified wants the role to be allowed what the definition needs, on the
// resources given or else on those that are known, and nothing more but to log, to
// send traces, if it does, and to use the key, if there is one.
func requireJustified(t *testing.T, all template, machine resource, given map[string][]string, key string, logs bool) {
	t.Helper()
	role := strings.TrimSuffix(strings.TrimPrefix(resolve(t, machine.properties["RoleArn"]).(string), "{"), ".Arn}")
	allowed := map[string][]string{}
	for _, s := range statementsOf(t, all, role) {
		require.Equal(t, "Allow", s.effect)
		for _, action := range s.actions {
			require.NotContains(t, action, "*", "a wildcard in an action")
			if strings.HasPrefix(action, "kms:") && slices.Equal(s.resources, []string{key}) && key != "" {
				require.NotEmpty(t, s.conditions, "the key is for this state machine and its logs")
				continue
			}
			if action == "iam:PassRole" {
				require.Contains(t, asJSON(t, s.conditions), "iam:PassedToService")
			} else {
				require.Empty(t, s.conditions)
			}
			allowed[action] = append(allowed[action], s.resources...)
			slices.Sort(allowed[action])
			allowed[action] = slices.Compact(allowed[action]) // a role for each of several services
		}
	}
	want := needed(t, deployed(t, machine))
	want["lambda:InvokeFunction"] = all.withVersions(t, want["lambda:InvokeFunction"])
	if want["lambda:InvokeFunction"] == nil {
		delete(want, "lambda:InvokeFunction")
	}
	for action, resources := range given {
		require.Contains(t, want, action)
		want[action] = resources
		if len(resources) == 0 {
			delete(want, action)
		}
	}
	for _, action := range slices.Concat(logActions, traceActions) {
		if !logs {
			break
		}
		want[action] = []string{"*"}
	}
	require.Equal(t, want, allowed)
}
