//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule is one of EventBridge.
type rule struct {
	arn     string
	pattern map[string]any
	targets []string // ARNs of queues
}

// rulesOf are the rules of a template. It fails for a setting that the test does not know.
func rulesOf(t *testing.T, a assembly) (rules []rule) {
	t.Helper()
	for _, r := range a.of("AWS::Events::Rule") {
		require.Subset(t, []string{"Description", "EventPattern", "Targets"}, slices.Collect(maps.Keys(r.properties)), r.id)
		one := rule{arn: "arn:aws:events:" + account + ":rule/" + r.id, pattern: r.properties["EventPattern"].(map[string]any)}
		for _, target := range resolve(t, r.properties["Targets"]).([]any) {
			target := target.(map[string]any)
			require.Subset(t, []string{"Id", "Arn", "DeadLetterConfig"}, slices.Collect(maps.Keys(target)), r.id)
			one.targets = append(one.targets, a.physical(t, target["Arn"].(string)))
		}
		rules = append(rules, one)
	}
	return rules
}

// matches tells whether an event has what a pattern asks for: the members, with one of the
// values of each. It fails for an operator: the test knows none.
func matches(t *testing.T, pattern map[string]any, event any) bool {
	t.Helper()
	require.NotEmpty(t, pattern)
	object, _ := event.(map[string]any)
	for name, want := range pattern {
		require.False(t, strings.HasPrefix(name, "$"), "an operator that the test does not know: %s", name)
		found, ok := object[name]
		switch want := want.(type) {
		case map[string]any:
			if !matches(t, want, found) {
				return false
			}
		case []any:
			require.NotEmpty(t, want)
			for _, value := range want {
				require.IsType(t, "", value, "a value that the test does not know")
			}
			if !ok || !slices.Contains(want, found) {
				return false
			}
		default:
			require.Fail(t, "a pattern has objects and lists", "%s: %v", name, want)
		}
	}
	return true
}

// allowsRule tells whether the policy of a queue lets a rule send messages.
func allowsRule(t *testing.T, a assembly, queueARN, ruleARN string) bool {
	t.Helper()
	for _, policy := range a.of("AWS::SQS::QueuePolicy") {
		for _, s := range resolve(t, policy.properties["PolicyDocument"]).(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			principal, _ := s["Principal"].(map[string]any)
			if principal["Service"] != "events.amazonaws.com" || a.physical(t, s["Resource"].(string)) != queueARN {
				continue
			}
			require.Equal(t, "Allow", s["Effect"])
			condition := s["Condition"].(map[string]any)
			require.Equal(t, []string{"ArnLike"}, slices.Collect(maps.Keys(condition)))
			return matchesAny(oneOrMore(s["Action"]), "sqs:SendMessage") &&
				matchesAny(oneOrMore(condition["ArnLike"].(map[string]any)["aws:SourceArn"]), ruleARN)
		}
	}
	return false
}

// The matcher of the test takes what EventBridge takes.
func TestE2EPatterns(t *testing.T) {
	t.Parallel()
	var pattern map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"source": ["a", "b"], "detail": {"state": ["X"]}}`), &pattern))
	for text, want := range map[string]bool{
		`{"source": "a", "detail": {"state": "X", "id": 1}, "more": []}`: true,
		`{"source": "b", "detail": {"state": "X"}}`:                      true,
		`{"source": "c", "detail": {"state": "X"}}`:                      false,
		`{"source": "a", "detail": {"state": "Y"}}`:                      false,
		`{"source": "a", "detail": {}}`:                                  false,
		`{"source": "a", "detail": "X"}`:                                 false,
		`{"source": "a"}`:                                                false,
	} {
		var event any
		require.NoError(t, json.Unmarshal([]byte(text), &event))
		require.Equal(t, want, matches(t, pattern, event), text)
	}
}
