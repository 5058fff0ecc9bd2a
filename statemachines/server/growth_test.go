package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/tests/growthtest"
)

const distributedMap = `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}`

func itemsOf(n int) object {
	return object{"input": "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]"}
}

// Each child that went on was put before those that had not begun, by a shift of all of
// them: the time of a Distributed Map grew with the square of its items.
func TestGrowthOfADistributedMap(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	growthtest.Linear(t, func(n int) func() {
		e := startServer(t, nil, nil)
		m := e.create("m", distributedMap)
		return func() { e.wait(e.start(m, itemsOf(n))) }
	})
}

// startSome starts n executions that wait, and stops half of them.
func startSome(e *endpoint, n int) (machine string) {
	machine = e.create("m", `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 600, "End": true}}}`)
	for i := range n {
		e.start(machine, object{"name": fmt.Sprint(i)})
	}
	for i := range n / 2 {
		e.call("StopExecution", object{"executionArn": strings.Replace(machine, "stateMachine", "execution", 1) + ":" + fmt.Sprint(i)})
	}
	return machine
}

// Each page of ListExecutions looked at every execution, and each page of names sorted all
// of them. There cannot be more than 1,000 versions, 100 aliases and 50 tags.
func TestPagesStayShort(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	const pages = 200
	for name, prepare := range map[string]func(e *endpoint, n int) (operation string, request object){ //nolint:paralleltest // as above
		"executions": func(e *endpoint, n int) (string, object) {
			return "ListExecutions", object{"stateMachineArn": startSome(e, n)}
		},
		"executions of a status": func(e *endpoint, n int) (string, object) {
			return "ListExecutions", object{"stateMachineArn": startSome(e, n), "statusFilter": "ABORTED"}
		},
		"executions of a status that none has": func(e *endpoint, n int) (string, object) {
			return "ListExecutions", object{"stateMachineArn": startSome(e, n), "statusFilter": "FAILED"}
		},
		"executions behind others": func(e *endpoint, n int) (string, object) {
			q := object{"stateMachineArn": startSome(e, n), "maxResults": n / 2}
			if n > 1_000 {
				q["maxResults"] = 1_000
			}
			q["nextToken"] = e.call("ListExecutions", q)["nextToken"]
			q["maxResults"] = 10
			return "ListExecutions", q
		},
		"child executions of a Map Run": func(e *endpoint, n int) (string, object) {
			return "ListExecutions", object{"mapRunArn": runMap(e, n)}
		},
		"a Map Run": func(e *endpoint, n int) (string, object) {
			return "DescribeMapRun", object{"mapRunArn": runMap(e, n)}
		},
		"Map Runs": func(e *endpoint, n int) (string, object) {
			inner := distributedMap[1 : len(distributedMap)-1]
			x := e.start(e.create("m", `{"StartAt": "O", "States": {"O": {"Type": "Map", "End": true, "ItemProcessor": {`+
				strings.Replace(inner, `"End": true,`, `"End": true, "ItemsPath": "$.items",`, 1)+`}, "ItemSelector": {"items": [1]}}}}`), itemsOf(n/8)) // eight events each
			e.pass(time.Second)
			require.Equal(e.t, "SUCCEEDED", e.wait(x)["status"])
			return "ListMapRuns", object{"executionArn": x, "maxResults": 10}
		},
		"versions": func(e *endpoint, n int) (string, object) {
			return "ListStateMachineVersions", object{"stateMachineArn": publish(e, n/16), "maxResults": 10}
		},
		"a version": func(e *endpoint, n int) (string, object) {
			return "PublishStateMachineVersion", object{"stateMachineArn": publish(e, n/16)} // which is there
		},
		"aliases": func(e *endpoint, n int) (string, object) {
			m := publish(e, 1)
			for i := range n / 160 {
				e.call("CreateStateMachineAlias", object{"name": fmt.Sprint("a", i), "routingConfiguration": []object{{"stateMachineVersionArn": m + ":1", "weight": 100}}})
			}
			return "ListStateMachineAliases", object{"stateMachineArn": m, "maxResults": 10}
		},
		"tags": func(e *endpoint, n int) (string, object) {
			m := e.create("m", pass)
			for i := range n / 320 {
				e.call("TagResource", object{"resourceArn": m, "tags": []object{{"key": fmt.Sprint(i), "value": "v"}}})
			}
			return "TagResource", object{"resourceArn": m, "tags": []object{{"key": "0", "value": "w"}}}
		},
		"events": func(e *endpoint, n int) (string, object) {
			x := e.start(e.create("m", `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
				"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}`), itemsOf(n/4)) // six events an item
			e.wait(x)
			return "GetExecutionHistory", object{"executionArn": x, "reverseOrder": true}
		},
		"state machines": func(e *endpoint, n int) (string, object) {
			for i := range n / 2 { // there cannot be more than 10,000
				e.create(fmt.Sprint(i), pass)
			}
			return "ListStateMachines", object{"maxResults": 10}
		},
		"activities": func(e *endpoint, n int) (string, object) {
			for i := range n / 2 {
				e.call("CreateActivity", object{"name": fmt.Sprint(i)})
			}
			return "ListActivities", object{"maxResults": 10}
		},
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Flat(t, func(n int) func() {
				e := startServer(t, manual(), nil)
				operation, request := prepare(e, n)
				return func() {
					for range pages {
						e.call(operation, request)
					}
				}
			})
		})
	}
}

// The page went through all executions, and sorted them, before it had the newest.
func TestThePageBeginsWithTheNewest(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	const pages, shown = 200, 50
	growthtest.Flat(t, func(n int) func() {
		e := startServer(t, manual(), nil)
		startSome(e, n)
		world := e.PageWorld()
		return func() {
			for range pages {
				left := shown
				for r := range world.Runs {
					require.Equal(t, fmt.Sprint(n-1-(shown-left)), r.Name)
					if left--; left == 0 {
						break
					}
				}
			}
		}
	})
}

// publish makes a state machine of n versions.
func publish(e *endpoint, n int) (machine string) {
	machine = e.create("m", pass)
	for i := range n {
		e.call("UpdateStateMachine", object{"stateMachineArn": machine, "definition": fmt.Sprintf(`{"Comment": "%d", %s`, i, pass[1:]), "publish": true})
	}
	return machine
}

// runMap runs a Distributed Map of n items, and returns its Map Run.
func runMap(e *endpoint, n int) string {
	x := e.start(e.create("m", distributedMap), itemsOf(n))
	e.pass(time.Second)
	e.wait(x)
	return e.World().Execution(x).Snapshot().MapRuns[0]
}

// An execution that is redriven or forgotten is found among all that have ended.
func TestGrowthOfEndedExecutions(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	ask := func(e *endpoint, operation, machine string, number int) {
		e.call(operation, object{"executionArn": strings.Replace(machine, "stateMachine", "execution", 1) + ":" + fmt.Sprint(number)})
	}
	t.Run("redriven", func(t *testing.T) { //nolint:paralleltest // as above
		growthtest.Linear(t, func(n int) func() {
			e := startServer(t, manual(), nil)
			m := startSome(e, n)
			return func() {
				for i := range n / 2 {
					ask(e, "RedriveExecution", m, n/2-1-i)
				}
			}
		})
	})
	t.Run("forgotten", func(t *testing.T) { //nolint:paralleltest // as above
		growthtest.Linear(t, func(n int) func() {
			s := server.New(server.Options{Clock: manual(), KeepExecutions: n / 4})
			t.Cleanup(s.Close)
			e := &endpoint{s, t, manual()}
			m := startSome(e, n)
			return func() {
				for i := n / 2; i < n; i++ {
					ask(e, "StopExecution", m, i)
				}
			}
		})
	})
}
