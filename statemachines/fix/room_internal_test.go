package fix

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A loop has what the bounds of the others leave, shared with those that have none.
func TestRoomOf(t *testing.T) {
	t.Parallel()
	text := []byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Pass", "Next": "Pause"},
		"Pause": {"Type": "Wait", "Seconds": 30, "Next": "Each"},
		"Each": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Item", "States": {"Item": {"Type": "Pass", "End": true}}}}}}`)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	document, err := jsontree.Parse(text)
	require.NoError(t, err)
	loop := func(poll string, kind lint.BoundKind, events int, states ...string) lint.Loop {
		pause := stateOf(m, "Pause")
		l := lint.Loop{Flow: &m.Flow, Poll: stateOf(m, poll), Waits: []*asl.State{pause}, Turn: lint.Turn{Wait: 30 * time.Second}}
		l.Steady = map[*asl.State]time.Duration{pause: l.Turn.Wait}
		l.Bound.Kind, l.Bound.Events = kind, events
		for _, name := range states {
			l.States = append(l.States, stateOf(m, name))
		}
		if poll == "Item" {
			l.Flow = stateOf(m, "Each").Flows()[0]
		}
		return l
	}
	open := func(poll string, states ...string) lint.Loop { return loop(poll, lint.Unbounded, 0, states...) }
	for name, c := range map[string]struct {
		loops []lint.Loop
		want  room // of the first loop
	}{
		"alone":                         {[]lint.Loop{open("A")}, room{events: 23_000, loops: 1}},
		"beside a bound":                {[]lint.Loop{open("A"), loop("B", lint.ByCount, 10_000)}, room{events: 13_000, loops: 2}},
		"beside bounds of a whole":      {[]lint.Loop{open("A"), loop("B", lint.ByCount, 25_000)}, room{events: -2_000, loops: 2}},
		"beside one that counts, too":   {[]lint.Loop{open("A"), open("B")}, room{events: 11_500, pool: 23_000, loops: 2}},
		"beside one that cannot":        {[]lint.Loop{open("A"), loop("B", lint.ByTime, 0)}, room{events: 11_500, loops: 2}},
		"beside both":                   {[]lint.Loop{open("A"), open("B"), loop("C", lint.ByTime, 0)}, room{events: 7_666, pool: 15_333, loops: 3}},
		"beside one of each item":       {[]lint.Loop{open("A"), loop("Item", lint.ByCount, 100)}, room{events: 11_500, loops: 2}},
		"for each item":                 {[]lint.Loop{open("Item"), loop("A", lint.ByCount, 10_000)}, room{events: 1_300, loops: 2, items: 10}},
		"with two polls":                {[]lint.Loop{open("A", "A", "B"), open("B", "A", "B")}, room{events: 23_000, loops: 1}},
		"with two polls, beside others": {[]lint.Loop{open("A", "A", "B"), open("B", "A", "B"), open("C", "C")}, room{events: 11_500, pool: 23_000, loops: 2}},
		"inside of another":             {[]lint.Loop{open("A", "A"), open("B", "A", "B")}, room{events: 11_500, pool: 23_000, loops: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := &checked{machine: m, root: document.Root, loops: c.loops}
			require.Equal(t, c.want, all.roomOf(c.loops[0].Poll.Name))
		})
	}
	ways, err := asl.Parse([]byte(`{"StartAt": "Which?", "States": {
		"Which?": {"Type": "Choice", "Choices": [{"Variable": "$.b", "IsPresent": true, "Next": "B"}], "Default": "C"},
		"B": {"Type": "Pass", "Next": "A"}, "C": {"Type": "Pass", "Next": "A"}, "A": {"Type": "Pass", "End": true}}}`))
	require.NoError(t, err)
	for want, kinds := range map[room][2]lint.Bound{
		{events: 11_500, loops: 2}: {{Kind: lint.ByTime}, {Kind: lint.ByTime}},
		{events: 20_000, loops: 2}: {{Kind: lint.ByCount, Events: 1_000}, {Kind: lint.ByCount, Events: 3_000}},
		{events: 3_000, loops: 2}:  {{Kind: lint.ByTime}, {Kind: lint.ByCount, Events: 20_000}},
	} {
		at := func(name string, b lint.Bound) lint.Loop {
			return lint.Loop{Flow: &ways.Flow, Poll: stateOf(ways, name), Bound: b}
		}
		all := &checked{machine: ways, loops: []lint.Loop{at("A", lint.Bound{Kind: lint.ByTime}), at("B", kinds[0]), at("C", kinds[1])}}
		all.root = document.Root
		require.Equal(t, want, all.roomOf("A"), "of two loops that exclude each other, the fuller one counts")
	}
	require.Equal(t, room{events: 23_000, loops: 1}, (&checked{machine: m, root: document.Root}).roomOf("A"))
}

// The reason that there is no room is told where that is so, and only there.
func TestNoRoomForATurn(t *testing.T) {
	t.Parallel()
	const loop = `"Pause #": {"Type": "Wait", "Seconds": 30, "Next": "Look #"},
		"Look #": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.r", "Next": "Done #"},
		"Done #": {"Type": "Choice", "Default": "Pause #", "Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good #"},
			{"Or": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED"}, {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED"}], "Next": "Bad #"}]},
		"Bad #": {"Type": "Fail", "Error": "QueryFailed"}, `
	first := strings.ReplaceAll(loop, "#", "1")
	flat := `{"StartAt": "Pause 1", "States": {` + first + `"Good 1": {"Type": "Pass", "Next": "Pause 2"}, ` + strings.ReplaceAll(loop, "#", "2") + `"Good 2": {"Type": "Succeed"}}}`
	each := `{"StartAt": "Pause 1", "States": {` + first + `"Good 1": {"Type": "Pass", "Next": "Each"}, "Each": {"Type": "Map", "End": true,
		"ItemProcessor": {"StartAt": "Pause 2", "States": {` + strings.ReplaceAll(loop, "#", "2") + `"Good 2": {"Type": "Succeed"}}}}}}`
	r := &repairer{options: RepairOptions{Models: models.Load}, read: readJSON}
	for name, c := range map[string]struct {
		text string
		used int // by the bound of the other loop
		want string
	}{
		"room":             {flat, 22_990, ""},
		"less than a turn": {flat, 22_992, "the bounds of the other loops leave no room in the history of 25,000 events"},
		"less than a turn with its bound": {
			strings.Replace(flat, `"Default": "Pause 2", "Choices": [`,
				`"Default": "Bad 2", "Choices": [{"Or": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING"}, {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED"}], "Next": "Pause 2"}, `, 1),
			22_990, "the bounds of the other loops leave no room in the history",
		},
		"room for a turn of each item":   {each, 22_900, ""},
		"less than a turn for each item": {each, 22_920, "the bounds of the other loops leave no room for 10 items in the history of 25,000 events"},
	} {
		all, err := r.load([]byte(c.text))
		require.NoError(t, err)
		all.look(nil)
		r.all = all
		at := func(poll string) *lint.Loop {
			return &all.loops[slices.IndexFunc(all.loops, func(l lint.Loop) bool { return l.Poll != nil && l.Poll.Name == poll })]
		}
		at("Look 1").Bound = lint.Bound{Kind: lint.ByCount, Events: c.used}
		i := slices.IndexFunc(all.findings, func(f lint.Finding) bool {
			return f.Rule == lint.UnboundedLoop && strings.HasSuffix(all.stateAt(f).Name, "2")
		})
		require.GreaterOrEqual(t, i, 0, name)
		require.Equal(t, c.want == "", all.bound(at("Look 2"), r) != nil, name)
		reason := r.reasonUnbounded(t.Context(), all, all.findings[i], nil)
		if c.want == "" {
			require.NotContains(t, reason, "leave no room", name)
		} else {
			require.Contains(t, reason, c.want, name)
		}
	}
}

// Where the variable of all loops is taken, a bound is offered with its share of the history.
func TestBoundWithoutTheVariableOfAllLoops(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/repair/bound-in-sequence.asl.json")
	require.NoError(t, err)
	r := &repairer{options: RepairOptions{Models: models.Load}, read: readJSON}
	for taken, also := range map[string]string{"s": "", "loopEvents": "3 loops share the 25,000 events of the history"} {
		r.all, err = r.load(bytes.ReplaceAll(text, []byte("$.s"), []byte("$."+taken)))
		require.NoError(t, err)
		r.all.look(nil)
		candidates := r.all.bound(r.all.loopOf(stateOf(r.all.machine, "Look 2")), r)
		require.NotEmpty(t, candidates)
		for _, one := range candidates {
			require.Equal(t, also, one.also)
			require.Equal(t, also != "", one.class == Offered)
		}
	}
}

// readJSON reads a definition of its own.
func readJSON(text []byte) (*source.Definition, error) {
	return source.LoadOne(context.Background(), source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
}

// A Map that one item nearly fills says so.
func TestItemsThatFill(t *testing.T) {
	t.Parallel()
	require.Equal(t, "more than 2 items fill the history first", itemsThatFill(2))
	require.Equal(t, "one item nearly fills the history", itemsThatFill(1))
	require.Equal(t, "one item nearly fills the history", itemsThatFill(0))
}
