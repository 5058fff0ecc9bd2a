package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// streams is a model with an operation that is sent events, one that sends
// them, through a mixin, and one that returns a blob bit by bit.
const streams = `{
  "smithy": "2.0",
  "shapes": {
    "a#Talk": {"type": "operation", "input": {"target": "a#TalkInput"},
      "traits": {"smithy.waiters#waitable": {"Said": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}},
    "a#Listen": {"type": "operation", "output": {"target": "a#ListenOutput"},
      "traits": {"smithy.waiters#waitable": {"Heard": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}},
    "a#Load": {"type": "operation", "input": {"target": "smithy.api#Unit"}, "output": {"target": "a#LoadOutput"},
      "traits": {"smithy.waiters#waitable": {"Loaded": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}},
    "a#TalkInput": {"type": "structure", "members": {"to": {"target": "a#Choice"}, "words": {"target": "a#Events"}}},
    "a#ListenOutput": {"type": "structure", "members": {}, "mixins": [{"target": "a#Sound"}, {"target": "a#Sound"}]},
    "a#Sound": {"type": "structure", "members": {"noise": {"target": "a#Events"}}, "mixins": [{"target": "a#ListenOutput"}]},
    "a#LoadOutput": {"type": "structure", "members": {"data": {"target": "a#Data"}}},
    "a#Events": {"type": "union", "members": {}, "traits": {"smithy.api#streaming": {}}},
    "a#Choice": {"type": "union", "members": {}},
    "a#Data": {"type": "blob", "traits": {"smithy.api#streaming": {}}}
  }
}`

func TestReadSmithyRefusesEventStreams(t *testing.T) {
	t.Parallel()
	_, err := catalog.ReadSmithy([]byte(streams))
	require.ErrorContains(t, err, "2 problems")
	require.ErrorContains(t, err, `5:45: /shapes/a#Talk/traits/smithy.waiters#waitable: `+
		`an operation that streams events cannot be polled, and member "words" of its input is a stream`)
	require.ErrorContains(t, err, `7:45: /shapes/a#Listen/traits/smithy.waiters#waitable: `+
		`an operation that streams events cannot be polled, and member "noise" of its output is a stream`)
	require.Equal(t, err, catalog.AnalyzeSmithy([]byte(streams)))
}

// errorTypes is a model of which the operations and the service declare errors
// in every way, and of an operation that stands in another text.
const errorTypes = `{
  "smithy": "2.0",
  "shapes": {
    "a#Jobs": {"type": "service", "version": "1", "operations": [{"target": "a#Get"}], "errors": [{"target": "a#Throttled"}]},
    "a#Get": {"type": "operation", "errors": [{"target": "a#Gone"}], "mixins": [{"target": "a#Base"}], "traits": {"smithy.waiters#waitable": {
      "Known": {"acceptors": [
        {"state": "retry", "matcher": {"errorType": "Gone"}},
        {"state": "retry", "matcher": {"errorType": "a#Gone"}},
        {"state": "retry", "matcher": {"errorType": "JobGone"}},
        {"state": "retry", "matcher": {"errorType": "Throttled"}},
        {"state": "retry", "matcher": {"errorType": "Denied"}},
        {"state": "success", "matcher": {"success": false}}]},
      "Unknown": {"acceptors": [
        {"state": "success", "matcher": {"success": true}},
        {"state": "failure", "matcher": {"errorType": "a#Gonne"}}]}}}},
    "a#List": {"type": "operation", "traits": {"smithy.waiters#waitable": {
      "Listed": {"acceptors": [{"state": "success", "matcher": {"errorType": "Throttled"}}]}}}},
    "a#Far": {"type": "apply", "traits": {"smithy.waiters#waitable": {
      "Reached": {"acceptors": [{"state": "success", "matcher": {"errorType": "Whatever"}}]}}}},
    "a#Base": {"type": "operation", "errors": [{"target": "a#Denied"}], "traits": {"smithy.api#mixin": {}}},
    "a#Gone": {"type": "structure", "members": {}, "traits": {"smithy.api#error": "client", "aws.protocols#awsQueryError": {"code": "JobGone", "httpResponseCode": 404}}},
    "a#Denied": {"type": "structure", "members": {}, "traits": {"smithy.api#error": "client"}},
    "a#Throttled": {"type": "structure", "members": {}, "traits": {"smithy.api#error": "client"}}
  }
}`

func TestAnalyzeSmithyWarnsOfErrorTypes(t *testing.T) {
	t.Parallel()
	definitions, err := catalog.ReadSmithy([]byte(errorTypes))
	require.NoError(t, err)
	require.Len(t, definitions, 4)
	var got []string
	for _, p := range catalog.AnalyzeSmithy([]byte(errorTypes)) {
		require.Equal(t, diag.Warning, p.Severity)
		got = append(got, p.String())
	}
	require.Equal(t, []string{
		`15:55: /shapes/a#Get/traits/smithy.waiters#waitable/Unknown/acceptors/1/matcher/errorType: warning: operation Get declares no error Gonne (did you mean "Gone"?)`,
		`17:78: /shapes/a#List/traits/smithy.waiters#waitable/Listed/acceptors/0/matcher/errorType: warning: operation List declares no error Throttled`,
	}, got)
}

func TestAnalyzeSmithy(t *testing.T) {
	t.Parallel()
	require.Empty(t, catalog.AnalyzeSmithy([]byte(`{"smithy": "2.0"}`)))
	for _, text := range []string{`{`, `[]`, `{"smithy": "3"}`} {
		_, err := catalog.ReadSmithy([]byte(text))
		require.Equal(t, err, catalog.AnalyzeSmithy([]byte(text)))
	}
}
