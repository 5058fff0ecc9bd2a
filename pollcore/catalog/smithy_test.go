package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// model is a Smithy model of a bakery: an operation of the service itself, one
// of a resource of a resource, one of no service, and one in two services.
const model = `{
  "smithy": "2.0",
  "metadata": {"suppressions": [{"id": "X", "namespace": "*"}]},
  "shapes": {
    "example.bakery#Bakery": {
      "type": "service",
      "version": "2026-01-01",
      "operations": [{"target": "example.bakery#DescribeOven"}, {"target": "example.bakery#Ping"}],
      "resources": [{"target": "example.bakery#Order"}],
      "errors": [{"target": "example.bakery#Closed"}],
      "rename": {"other#Closed": "OtherClosed"},
      "traits": {"aws.api#service": {"sdkId": "Bakery Works", "arnNamespace": "bakery"}, "smithy.api#title": "Bakery"}
    },
    "example.bakery#Health": {"type": "service", "version": "1", "operations": [{"target": "example.bakery#Ping"}]},
    "example.bakery#Order": {
      "type": "resource",
      "identifiers": {"orderId": {"target": "smithy.api#String"}},
      "properties": {},
      "resources": [{"target": "example.bakery#Loaf"}]
    },
    "example.bakery#Loaf": {
      "type": "resource",
      "read": {"target": "example.bakery#GetLoaf"},
      "resources": [{"target": "example.bakery#Order"}]
    },
    "example.bakery#DescribeOven": {
      "type": "operation",
      "input": {"target": "smithy.api#Unit"},
      "output": {"target": "example.bakery#DescribeOvenOutput"},
      "errors": [],
      "traits": {
        "smithy.api#documentation": "Tells how warm it is.",
        "smithy.waiters#waitable": {
          "OvenHot": {
            "documentation": "Wait until the oven is hot.",
            "acceptors": [
              {"state": "success", "matcher": {"output": {"path": "hot", "expected": "true", "comparator": "booleanEquals"}}},
              {"state": "failure", "matcher": {"errorType": "example.bakery#Closed"}}
            ],
            "minDelay": 3,
            "maxDelay": 30,
            "tags": ["warm"]
          },
          "OvenCold": {"acceptors": [{"state": "success", "matcher": {"success": false}}], "deprecated": true}
        }
      }
    },
    "example.bakery#GetLoaf": {
      "type": "operation",
      "traits": {"smithy.waiters#waitable": {"LoafBaked": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}
    },
    "example.bakery#Ping": {
      "type": "operation",
      "traits": {"smithy.waiters#waitable": {"Up": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}
    },
    "example.bakery#Lost": {
      "type": "apply",
      "traits": {"smithy.waiters#waitable": {"Found": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}
    },
    "example.bakery#DescribeOvenOutput": {
      "type": "structure",
      "members": {"hot": {"target": "smithy.api#Boolean", "traits": {"any": [1, {"thing": null}]}}},
      "mixins": [{"target": "example.bakery#Warm"}]
    },
    "example.bakery#Names": {"type": "list", "member": {"target": "smithy.api#String"}},
    "example.bakery#Prices": {"type": "map", "key": {"target": "smithy.api#String"}, "value": {"target": "smithy.api#Integer"}},
    "example.bakery#Flour": {"type": "enum", "members": {"RYE": {"target": "smithy.api#Unit", "traits": {}}}},
    "example.bakery#Grams": {"type": "bigDecimal"}
  }
}`

func TestReadSmithy(t *testing.T) {
	t.Parallel()
	got, err := catalog.ReadSmithy([]byte(model))
	require.NoError(t, err)
	anyResponse := []pollcore.Acceptor{{State: pollcore.Success, Matcher: pollcore.AnyResponse()}}
	require.Equal(t, []catalog.Definition{
		{
			Service: "Bakery Works", Operation: "DescribeOven", OperationID: "example.bakery#DescribeOven",
			Waiter: &pollcore.Waiter{
				Name: "OvenHot", Documentation: "Wait until the oven is hot.", MinDelay: 3, MaxDelay: 30, Tags: []string{"warm"},
				Acceptors: []pollcore.Acceptor{
					{State: pollcore.Success, Matcher: pollcore.Output("hot").IsTrue()},
					{State: pollcore.Failure, Matcher: pollcore.ErrorType("example.bakery#Closed")},
				},
			},
		},
		{
			Service: "Bakery Works", Operation: "DescribeOven", OperationID: "example.bakery#DescribeOven",
			Waiter: &pollcore.Waiter{
				Name: "OvenCold", Deprecated: true,
				Acceptors: []pollcore.Acceptor{{State: pollcore.Success, Matcher: pollcore.AnyError()}},
			},
		},
		{Service: "Bakery Works", Operation: "GetLoaf", OperationID: "example.bakery#GetLoaf", Waiter: &pollcore.Waiter{Name: "LoafBaked", Acceptors: anyResponse}},
		{Service: "Bakery Works", Operation: "Ping", OperationID: "example.bakery#Ping", Waiter: &pollcore.Waiter{Name: "Up", Acceptors: anyResponse}},
		{Service: "Health", Operation: "Ping", OperationID: "example.bakery#Ping", Waiter: &pollcore.Waiter{Name: "Up", Acceptors: anyResponse}},
		{Operation: "Lost", OperationID: "example.bakery#Lost", Waiter: &pollcore.Waiter{Name: "Found", Acceptors: anyResponse}},
	}, got)
}

func TestReadSmithyWithoutWaiters(t *testing.T) {
	t.Parallel()
	got, err := catalog.ReadSmithy([]byte(`{"smithy": "1.0"}`))
	require.NoError(t, err)
	require.Empty(t, got)
}

// TestReadSmithyReportsEverything spoils the model in many ways at once.
func TestReadSmithyReportsEverything(t *testing.T) {
	t.Parallel()
	const ok = `{"acceptors": [{"state": "success", "matcher": {"success": true}}]}`
	text := `{
  "smithy": 2,
  "metadat": {},
  "metadata": [],
  "shapes": {
    "a#S": {"type": "service", "operation": [], "resources": {"target": "a#R"}, "operations": [{"target": "a#O"}, {"targt": "a#P"}, "a#Q"]},
    "a#O": {"type": "operation", "traits": {"smithy.waiters#waitable": {
      "Größe": ` + ok + `,
      "Done": {"acceptors": [{"state": "done", "matcher": {"output": {"path": "größe",
          "expectd": "x"}}}]}, "Ready": ` + ok + `, "Again": ` + ok + `}}},
    "a#L": {"type": "list", "member": {"target": "a#O"}, "traits": {"smithy.waiters#waitable": {"Done": ` + ok + `}}},
    "a#M": {"type": "operation", "traits": {"smithy.api#mixin": {}, "smithy.waiters#waitable": {"Done": ` + ok + `}}},
    "a#R": {"type": "resource", "read": [{"target": "a#O"}]},
    "a#T": {"type": "operaton", "whatever": 1},
    "a#N": {"inputs": {}},
    "a#V": [],
    "a#W": {"type": "structure", "traits": []},
    "noNamespace": {"type": "string"}
  }
}`
	_, err := catalog.ReadSmithy([]byte(text))
	for _, want := range []string{
		"22 problems",
		`2:13: /smithy: expected a Smithy version ("1.0" or "2.0"), found a number (2)`,
		`3:3: /metadat: a Smithy model has no member "metadat" (did you mean "metadata"?)`,
		"4:15: /metadata: expected an object, found an array",
		`/shapes/a#S/operation: a service shape has no member "operation" (did you mean "operations"?)`,
		`/shapes/a#S/operations/1/targt: a shape reference has no member "targt" (did you mean "target"?)`,
		`/shapes/a#S/operations/1: a shape reference needs the member "target"`,
		`/shapes/a#S/operations/2: expected a shape reference, found a string ("a#Q")`,
		`/shapes/a#S/resources: expected an array, found an object`,
		`/shapes/a#R/read: expected a shape reference, found an array`,
		// These are found by another reader, in the trait's own text.
		`8:16: /shapes/a#O/traits/smithy.waiters#waitable/Größe: waiter name "Größe" must be UpperCamelCase`,
		`9:40: /shapes/a#O/traits/smithy.waiters#waitable/Done/acceptors/0/state: state must be success, failure or retry, got "done"`,
		`10:11: /shapes/a#O/traits/smithy.waiters#waitable/Done/acceptors/0/matcher/output/expectd: a path matcher has no member "expectd" (did you mean "expected"?)`,
		`/shapes/a#L/traits/smithy.waiters#waitable: waiters belong to operations, this is a list shape`,
		`/shapes/a#M/traits/smithy.waiters#waitable: waiters of a mixin are not supported; put them on the operations that use it`,
		`/shapes/a#T/type: expected one of apply, bigDecimal,`,
		`(did you mean "operation"?)`,
		`/shapes/a#N: a shape needs the member "type"`,
		`/shapes/a#V: expected a shape, found an array`,
		`/shapes/a#W/traits: expected an object, found an array`,
		`/shapes/noNamespace: expected an absolute shape ID (namespace#Name), found "noNamespace"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestReadSmithyRefusesNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	text := strings.Replace(model, `"LoafBaked"`, `"OVENhot"`, 1)
	_, err := catalog.ReadSmithy([]byte(text))
	require.ErrorContains(t, err, "2 problems")
	require.ErrorContains(t, err, `/shapes/example.bakery#DescribeOven/traits/smithy.waiters#waitable/OvenHot: `+
		`waiter names must differ in more than case within a service, and Bakery Works has OVENhot of GetLoaf too`)
	require.ErrorContains(t, err, `/shapes/example.bakery#GetLoaf/traits/smithy.waiters#waitable/OVENhot: `+
		`waiter names must differ in more than case within a service, and Bakery Works has OvenHot of DescribeOven too`)
	_, err = catalog.ReadSmithy([]byte(`{`))
	require.ErrorContains(t, err, "not valid JSON")
	_, err = catalog.ReadSmithy([]byte(`[]`))
	require.ErrorContains(t, err, "expected a Smithy model, found an array")
}

// FuzzReadSmithy: whatever is read is a valid waiter of a named operation, and
// nothing panics.
func FuzzReadSmithy(f *testing.F) {
	f.Add([]byte(model))
	f.Add([]byte(`{"smithy":"1.0","shapes":{"a#O":{"type":"operation","traits":{"smithy.waiters#waitable":{"x":{}}}}}}`))
	f.Add([]byte(`{"smithy":"2","shapes":{"a#S":{"type":"service","operations":[[[{"target":"a#S"}]]]}}}`))
	f.Add([]byte(streams))
	f.Add([]byte(errorTypes))
	f.Add([]byte("{\"smithy\":\"2\",\"shapes\":{\"#\":{\"type\":\"apply\",\"traits\":{\"smithy.waiters#waitable\":\n{\"é\xff\":3}}}}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		definitions, err := catalog.ReadSmithy(text)
		if found := catalog.AnalyzeSmithy(text); err != nil {
			requirePlaces(t, text, err)
			requirePlaces(t, text, found)
			return
		} else if len(found) > 0 {
			requirePlaces(t, text, found)
		}
		for _, d := range definitions {
			require.NoError(t, d.Waiter.Validate())
			require.True(t, strings.HasSuffix(d.OperationID, "#"+d.Operation))
		}
	})
}
