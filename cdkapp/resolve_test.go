//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pseudo are the values of pseudo parameters.
var pseudo = map[string]string{
	"AWS::Partition": "aws", "AWS::Region": "us-east-1", "AWS::AccountId": "123456789012", "AWS::URLSuffix": "amazonaws.com",
	"AWS::StackId": "arn:aws:cloudformation:us-east-1:123456789012:stack/Stack/0c5f6a7e-1111-2222-3333-444455556666",
}

// resolve does what CloudFormation does with a part of a template: a resource
// that is referred to is {its logical ID}, or {its logical ID.the attribute}.
func resolve(t *testing.T, part any) any {
	t.Helper()
	switch part := part.(type) {
	case []any:
		all := make([]any, len(part))
		for i, item := range part {
			all[i] = resolve(t, item)
		}
		return all
	case map[string]any:
		if len(part) == 1 {
			for name, argument := range part {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return intrinsic(t, name, resolve(t, argument))
				}
			}
		}
		all := map[string]any{}
		for name, member := range part {
			all[name] = resolve(t, member)
		}
		return all
	default:
		return part
	}
}

func intrinsic(t *testing.T, name string, argument any) any {
	t.Helper()
	list, _ := argument.([]any)
	switch name {
	case "Ref":
		if value, ok := pseudo[argument.(string)]; ok {
			return value
		}
		return "{" + argument.(string) + "}"
	case "Fn::ImportValue":
		return "{" + argument.(string) + "}"
	case "Fn::GetAtt":
		return "{" + list[0].(string) + "." + list[1].(string) + "}"
	case "Fn::Join":
		var parts []string
		for _, part := range list[1].([]any) {
			parts = append(parts, part.(string))
		}
		return strings.Join(parts, list[0].(string))
	case "Fn::Split":
		var parts []any
		for part := range strings.SplitSeq(list[1].(string), list[0].(string)) {
			parts = append(parts, part)
		}
		return parts
	case "Fn::Select":
		return list[1].([]any)[int(list[0].(float64))]
	default:
		require.Fail(t, "the test does not know "+name)
		return nil
	}
}

// deployed is the definition that Step Functions gets of a state machine.
func deployed(t *testing.T, machine resource) string {
	t.Helper()
	definition := resolve(t, machine.properties["DefinitionString"]).(string)
	values, _ := resolve(t, machine.properties["DefinitionSubstitutions"]).(map[string]any)
	for name, value := range values {
		require.Contains(t, definition, "${"+name+"}", "a value that nothing needs")
		definition = strings.ReplaceAll(definition, "${"+name+"}", value.(string))
	}
	require.NotContains(t, definition, "${", "a placeholder without a value")
	return definition
}

// task is a Task of a definition.
type task struct {
	resource string
	function string // that it invokes
}

// tasksOf are the Tasks of a definition.
func tasksOf(t *testing.T, definition string) []task {
	t.Helper()
	var tree any
	require.NoError(t, json.Unmarshal([]byte(definition), &tree))
	var found []task
	var walk func(any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, item := range part {
				walk(item)
			}
		case map[string]any:
			if part["Type"] == "Task" {
				arguments, _ := part["Arguments"].(map[string]any)
				if arguments == nil {
					arguments, _ = part["Parameters"].(map[string]any)
				}
				function, _ := arguments["FunctionName"].(string)
				found = append(found, task{part["Resource"].(string), function})
			}
			for member := range maps.Values(part) {
				walk(member)
			}
		}
	}
	walk(tree)
	return found
}

// statement is one of a policy.
type statement struct {
	effect             string
	actions, resources []string
	conditions         any
}

// statementsOf are what the role of a state machine may do.
func statementsOf(t *testing.T, all template, role string) []statement {
	t.Helper()
	var found []statement
	for _, policy := range all.of("AWS::IAM::Policy") {
		roles, _ := resolve(t, policy.properties["Roles"]).([]any)
		if len(roles) != 1 || roles[0] != "{"+role+"}" {
			continue
		}
		for _, s := range resolve(t, policy.properties["PolicyDocument"]).(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			found = append(found, statement{s["Effect"].(string), oneOrMore(s["Action"]), oneOrMore(s["Resource"]), s["Condition"]})
		}
	}
	return found
}

// oneOrMore is a list of a policy, which is a string if it has one item.
func oneOrMore(part any) []string {
	if one, ok := part.(string); ok {
		return []string{one}
	}
	var all []string
	for _, item := range part.([]any) {
		all = append(all, item.(string))
	}
	return all
}

func conditionsOf(statements []statement) []any {
	var all []any
	for _, s := range statements {
		if s.conditions != nil {
			all = append(all, s.conditions)
		}
	}
	return all
}
