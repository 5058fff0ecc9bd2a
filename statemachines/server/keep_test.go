package server_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/journal"
)

// noise is 200 KB of text that does not compress well.
func noise(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var out strings.Builder
	for out.Len() < 200_000 {
		fmt.Fprintf(&out, "%016x", r.Uint64())
	}
	return out.String()
}

const failingMap = `{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "C", "States": {"C": {"Type": "Fail", "Error": "E"}}},
	"ToleratedFailurePercentage": 100, "Next": "F"}, "F": {"Type": "Fail", "Error": "E"}}}`

// keeper is a server that keeps few bytes of executions that have ended.
type keeper struct {
	*endpoint

	limit int64
}

func newKeeper(t *testing.T, limit int64) *keeper {
	t.Helper()
	s := server.New(server.Options{Clock: manual(), KeepBytes: limit})
	t.Cleanup(s.Close)
	return &keeper{&endpoint{s, t, s.World().Clock()}, limit}
}

// end starts an execution, waits for its end, and returns its ARN.
func (k *keeper) end(machine, name, input string) string {
	k.t.Helper()
	x := k.start(machine, object{"name": name, "input": input})
	k.pass(0)
	<-k.World().Execution(x).Done()
	k.pass(time.Second)
	return x
}

func (k *keeper) listed(machine string) (names []string) {
	k.t.Helper()
	for _, x := range k.call("ListExecutions", object{"stateMachineArn": machine})["executions"].([]any) {
		names = append(names, x.(object)["name"].(string))
	}
	return names
}

// settles waits until a list, to which ends are told behind their answers, is as wanted.
func (k *keeper) settles(machine string, want ...string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool { return fmt.Sprint(k.listed(machine)) == fmt.Sprint(want) }, time.Minute, time.Millisecond, "%v", want)
}

// All executions that had ended were kept, up to 50,000, however large they were.
func TestTheOldestAreForgottenByTheirBytes(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, 2_000_000)
	waits := k.start(k.create("w", waitHour), object{"input": text(t, object{"large": noise(0)})})
	m := k.create("m", failing)
	arns := map[int]string{}
	for i := range 10 {
		arns[i] = k.end(m, fmt.Sprint(i), text(t, object{"large": noise(uint64(i))}))
	}
	require.Eventually(t, func() bool {
		names := k.listed(m)
		return len(names) > 1 && len(names) < 6 && names[0] == "9"
	}, time.Minute, time.Millisecond)
	kept := int64(0)
	for _, name := range k.listed(m) {
		kept += k.World().Execution(strings.Replace(m, "stateMachine", "execution", 1) + ":" + name).Bytes()
	}
	require.LessOrEqual(t, kept, k.limit)
	require.Greater(t, 2*kept, k.limit)

	for _, operation := range []string{"DescribeExecution", "GetExecutionHistory", "RedriveExecution", "StopExecution"} {
		require.Equal(t, "ExecutionDoesNotExist: Execution Does Not Exist: '"+arns[0]+"'", k.refused(operation, object{"executionArn": arns[0]}))
	}
	_, shown := k.PageWorld().Run(arns[0])
	require.False(t, shown)
	require.Equal(t, "RUNNING", k.describe(waits)["status"])

	detail, shown := k.PageWorld().Run(arns[9])
	require.True(t, shown)
	require.Contains(t, detail.History.Input, noise(9))
	k.call("RedriveExecution", object{"executionArn": arns[9]})
	<-k.World().Execution(arns[9]).Done()
	require.Equal(t, []string{
		"ExecutionStarted", "FailStateEntered", "ExecutionFailed", "ExecutionRedriven", "FailStateEntered", "ExecutionFailed",
	}, k.types(arns[9]))
	for _, event := range k.history(arns[9], 1, true) {
		if d, found := event["stateEnteredEventDetails"].(object); found {
			require.JSONEq(t, text(t, object{"large": noise(9)}), d["input"].(string))
		}
	}
}

// The child executions of Map Runs are counted with their parent, and forgotten with it.
func TestChildExecutionsCountAsTheirParent(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, 4_000_000)
	small, maps := k.create("small", failing), k.create("maps", failingMap)
	k.end(small, "a", "{}")
	first := k.end(maps, "first", itemsOf(1_000)["input"].(string))
	k.settles(small, "a")
	run := k.World().Execution(first).Snapshot().MapRuns[0]
	child := k.World().MapRun(run).Executions(1)[0].ARN()
	require.Equal(t, "FAILED", k.describe(child)["status"])

	k.end(maps, "second", itemsOf(1_000)["input"].(string))
	k.settles(maps, "second")
	k.settles(small)
	require.Contains(t, k.refused("DescribeExecution", object{"executionArn": child}), "ExecutionDoesNotExist: ")
	require.Contains(t, k.refused("DescribeMapRun", object{"mapRunArn": run}), "ResourceNotFound: ")
	require.Nil(t, k.World().Execution(child))

	k.end(maps, "large", itemsOf(5_000)["input"].(string))
	k.settles(maps, "large") // the one that ended last stays, whatever it takes
	k.end(small, "b", "{}")
	k.settles(maps)
	k.settles(small, "b")
}

// A server that goes on with a journal keeps what it kept before, and no more than the new
// limit.
func TestBytesAreCountedAfterAReplay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := func(limit int64) (*keeper, func()) {
		j, err := journal.Open(folder, "test")
		require.NoError(t, err)
		s, err := server.Open(server.Options{Clock: manual(), Journal: j, KeepBytes: limit})
		require.NoError(t, err)
		return &keeper{&endpoint{s, t, s.World().Clock()}, limit}, func() {
			s.Close()
			require.NoError(t, j.Close())
		}
	}
	k, end := open(0)
	m := k.create("m", failing)
	for i := range 5 {
		k.end(m, fmt.Sprint(i), text(t, object{"large": noise(uint64(i))}))
	}
	k.settles(m, "4", "3", "2", "1", "0")
	end()
	k, end = open(0)
	k.settles(m, "4", "3", "2", "1", "0")
	end()
	k, end = open(1_000_000)
	require.Equal(t, []string{"4"}, k.listed(m)[:1])
	require.Less(t, len(k.listed(m)), 5)
	kept := k.listed(m)
	end()
	k, end = open(0) // what was forgotten stays forgotten
	defer end()
	require.Equal(t, kept, k.listed(m))
}
