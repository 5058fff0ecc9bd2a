package server_test

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// waitOrFail waits for so many seconds, and then fails where its input says so.
const waitOrFail = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.fails", "BooleanEquals": true, "Next": "F"}], "Default": "S"},
	"F": {"Type": "Fail"}, "S": {"Type": "Succeed"}}}`

// mostKept is how many executions that have ended the server keeps.
const mostKept = 8

// lists are executions of one state machine, and those that a reader pages through.
type lists struct {
	*endpoint
	rt                      *rapid.T
	machine, version, alias string
	started                 []startedExecution // in the order of their starts
}

type startedExecution struct{ arn, with string }

// listedExecution is an execution in the order of ListExecutions.
type listedExecution struct {
	arn    string
	at     float64 // in milliseconds
	number int
}

func compareListed(a, b listedExecution) int {
	return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.number, a.number))
}

func newLists(t *testing.T, rt *rapid.T) *lists {
	t.Helper()
	clock := manual()
	s := server.New(server.Options{Clock: clock, KeepExecutions: mostKept})
	rt.Cleanup(s.Close)
	l := &lists{endpoint: &endpoint{s, t, clock}, rt: rt}
	l.machine = l.create("m", waitOrFail)
	l.version = l.call("PublishStateMachineVersion", object{"stateMachineArn": l.machine})["stateMachineVersionArn"].(string)
	l.alias = l.call("CreateStateMachineAlias", object{
		"name": "live", "routingConfiguration": []object{{"stateMachineVersionArn": l.version, "weight": 100}},
	})["stateMachineAliasArn"].(string)
	return l
}

func (l *lists) ask(operation string, input object) (status int, answer object) {
	return send(l.t, l.Server, operation, text(l.t, input))
}

// change starts, stops or redrives an execution, or lets time pass. The server forgets
// executions that have ended meanwhile.
func (l *lists) change() {
	switch action := rapid.SampledFrom([]string{"start", "start", "stop", "redrive", "redrive", "pass"}).Draw(l.rt, "action"); {
	case action == "start":
		with := rapid.SampledFrom([]string{l.machine, l.version, l.alias}).Draw(l.rt, "with")
		input := fmt.Sprintf(`{"seconds": %d, "fails": %t}`, rapid.IntRange(0, 3).Draw(l.rt, "seconds"), rapid.Bool().Draw(l.rt, "fails"))
		l.started = append(l.started, startedExecution{l.start(with, object{"input": input}), with})
	case action == "pass":
		l.pass(time.Duration(rapid.IntRange(0, 3).Draw(l.rt, "half seconds")) * 500 * time.Millisecond)
	case len(l.started) > 0:
		x := object{"executionArn": rapid.SampledFrom(l.started).Draw(l.rt, "execution").arn}
		operation := map[string]string{"stop": "StopExecution", "redrive": "RedriveExecution"}[action]
		l.ask(operation, x) // which may be refused
	}
	l.pass(0) // what has ended is counted
}

// expect returns the executions of a request that the server knows, as DescribeExecution
// tells of each of them.
func (l *lists) expect(request object) []listedExecution {
	var all []listedExecution
	for i, x := range l.started {
		status, d := l.ask("DescribeExecution", object{"executionArn": x.arn})
		of := request["stateMachineArn"]
		isOf := of == l.machine || of == x.with || of == l.version && x.with == l.alias
		redriven := map[bool]string{true: "REDRIVEN", false: "NOT_REDRIVEN"}[d["redriveCount"] != 0.0]
		if status != http.StatusOK || !isOf || request["statusFilter"] != nil && request["statusFilter"] != d["status"] ||
			request["redriveFilter"] != nil && request["redriveFilter"] != redriven {
			continue
		}
		at := d["startDate"]
		if d["status"] != "RUNNING" {
			at = d["stopDate"]
		} else if redriven == "REDRIVEN" {
			at = d["redriveDate"]
		}
		all = append(all, listedExecution{x.arn, math.Round(at.(float64) * 1000), i})
	}
	slices.SortFunc(all, compareListed)
	return all
}

// Every page of ListExecutions has what is listed behind the last item of the page before,
// in the order of times, however executions start, end, are redriven and are forgotten
// between two pages.
func TestPagesOfExecutionsThatChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLists(t, rt)
		for range rapid.IntRange(0, 30).Draw(rt, "changes before") {
			l.change()
		}
		size := rapid.IntRange(1, 5).Draw(rt, "size")
		request := object{"maxResults": size, "stateMachineArn": rapid.SampledFrom([]string{l.machine, l.version, l.alias}).Draw(rt, "of")}
		if status := rapid.SampledFrom([]string{"", "RUNNING", "SUCCEEDED", "FAILED", "ABORTED"}).Draw(rt, "status"); status != "" {
			request["statusFilter"] = status
		}
		if filter := rapid.SampledFrom([]string{"", "REDRIVEN", "NOT_REDRIVEN"}).Draw(rt, "redrive filter"); filter != "" {
			request["redriveFilter"] = filter
		}
		var last *listedExecution
		for {
			want := l.expect(request)
			if last != nil {
				want = slices.DeleteFunc(want, func(x listedExecution) bool { return compareListed(*last, x) >= 0 })
			}
			page := l.call("ListExecutions", request)
			items := page["executions"].([]any)
			require.Len(rt, items, min(size, len(want)))
			for i, item := range items {
				described := l.describe(want[i].arn)
				for _, member := range []string{"executionArn", "name", "stateMachineArn", "status", "startDate", "stopDate", "redriveCount", "redriveDate", "stateMachineVersionArn", "stateMachineAliasArn"} {
					require.Equal(rt, described[member], item.(object)[member], "%d: %s", i, member)
				}
			}
			require.Equal(rt, len(want) > size, page["nextToken"] != nil)
			if page["nextToken"] == nil {
				return
			}
			last, request["nextToken"] = &want[size-1], page["nextToken"]
			for range rapid.IntRange(0, 3).Draw(rt, "changes between") {
				l.change()
			}
		}
	})
}
