package history_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// drawnState is a state of a drawn machine. Those of a flow follow one another.
type drawnState struct {
	name    string
	kind    asl.Type
	inside  []*drawnState // of a Map or Parallel: its flow, or that of its first branch
	fails   int           // calls of a Task that fail before one succeeds
	retries int
	caught  bool
}

const work = "arn:aws:states:us-east-1:123456789012:activity:work"

// drawFlow draws states up to a depth of nesting.
func drawFlow(t *rapid.T, depth int, names *int) []*drawnState {
	kinds := []asl.Type{asl.TypeTask, asl.TypeTask, asl.TypePass}
	if depth > 0 {
		kinds = append(kinds, asl.TypeParallel, asl.TypeMap)
	}
	all := make([]*drawnState, rapid.IntRange(1, 3).Draw(t, "states"))
	for i := range all {
		*names++
		s := &drawnState{name: fmt.Sprint("S", *names), kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		if s.kind == asl.TypeTask {
			s.fails = rapid.SampledFrom([]int{0, 0, 1, 2, 1000}).Draw(t, "fails")
		}
		if s.kind != asl.TypePass {
			s.retries, s.caught = rapid.IntRange(0, 2).Draw(t, "retries"), rapid.Bool().Draw(t, "caught")
		}
		if s.kind == asl.TypeMap || s.kind == asl.TypeParallel {
			s.inside = drawFlow(t, depth-1, names)
		}
		all[i] = s
	}
	return all
}

// definition is the flow in the Amazon States Language.
func definition(flow []*drawnState) map[string]any {
	states := map[string]any{}
	for i, s := range flow {
		out := map[string]any{"Type": s.kind}
		if i+1 < len(flow) {
			out["Next"] = flow[i+1].name
		} else {
			out["End"] = true
		}
		switch s.kind {
		case asl.TypeTask:
			out["Resource"] = work
		case asl.TypeMap:
			out["ItemsPath"], out["ItemProcessor"] = "$.items", definition(s.inside)
			out["ResultPath"] = nil
		case asl.TypeParallel:
			beside := map[string]any{"StartAt": s.name + " beside", "States": map[string]any{s.name + " beside": map[string]any{"Type": "Pass", "End": true}}}
			out["Branches"], out["ResultPath"] = []any{definition(s.inside), beside}, nil
		default:
		}
		if s.kind == asl.TypeTask {
			out["ResultPath"] = nil
		}
		if s.kind == asl.TypeMap { // the items of Maps inside
			out["ItemSelector"] = map[string]any{"items": []int{1}}
		}
		if s.retries > 0 {
			out["Retry"] = []any{map[string]any{"ErrorEquals": []string{"States.ALL"}, "IntervalSeconds": 1, "MaxAttempts": s.retries}}
		}
		if s.caught {
			out["Catch"] = []any{map[string]any{"ErrorEquals": []string{"States.ALL"}, "Next": s.name + " caught"}}
			states[s.name+" caught"] = map[string]any{"Type": "Pass", "End": true}
		}
		states[s.name] = out
	}
	return map[string]any{"StartAt": flow[0].name, "States": states}
}

// oracle goes through a drawn machine as the language says, and notes what its states
// come to.
type oracle struct {
	calls map[string]int
	all   map[string]graph.Outcome
	// failing are the states whose failure goes up.
	failing []string
}

func (o *oracle) note(state string, outcome graph.Outcome) {
	if outcome.Compare(o.all[state]) > 0 {
		o.all[state] = outcome
	}
}

// settle says what became of the failure that went up.
func (o *oracle) settle(outcome graph.Outcome) {
	for _, state := range o.failing {
		o.note(state, outcome)
	}
	o.failing = nil
}

// flow goes through a flow; false if it fails.
func (o *oracle) flow(states []*drawnState) bool {
	for _, s := range states {
		ok, tries := o.try(s), 0
		for ; !ok && tries < s.retries; tries++ {
			o.settle(graph.Retried)
			ok = o.try(s)
		}
		switch {
		case ok && tries > 0:
			o.note(s.name, graph.Retried)
		case ok:
		case s.caught:
			o.failing = append(o.failing, s.name)
			o.settle(graph.Caught)
			return true
		default:
			o.failing = append(o.failing, s.name)
			return false
		}
	}
	return true
}

func (o *oracle) try(s *drawnState) bool {
	if s.kind == asl.TypeTask {
		o.calls[s.name]++
		return o.calls[s.name] > s.fails
	}
	return s.inside == nil || o.flow(s.inside)
}

// carry gives Map and Parallel states the worst outcome of their children.
func (o *oracle) carry(states []*drawnState) {
	for _, s := range states {
		o.carry(s.inside)
		for _, inner := range s.inside {
			o.note(s.name, o.all[inner.name])
		}
	}
}

// In a drawn machine exactly the states whose failure ended the execution have failed,
// those whose failure a Catch took are caught, and those that went on are retried: by the
// run, and by its history in AWS's form.
func TestOutcomesOfDrawnMachines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := 0
		flow := drawFlow(t, 3, &names)
		text, err := json.Marshal(definition(flow))
		require.NoError(t, err)
		m, err := asl.Parse(text)
		require.NoError(t, err, string(text))
		byName := map[string]*drawnState{}
		var index func([]*drawnState)
		index = func(states []*drawnState) {
			for _, s := range states {
				byName[s.name] = s
				index(s.inside)
			}
		}
		index(flow)
		calls := map[string]int{}
		r, err := sim.Run(context.Background(), m, []byte(`{"items": [1]}`), sim.Options{Handler: func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if calls[call.State]++; calls[call.State] <= byName[call.State].fails {
				return sim.Reply{}, &sim.TaskError{Name: "Broken", Latency: time.Second}
			}
			return sim.Reply{Output: 1, Latency: time.Second}, nil
		}})
		require.NoError(t, err)
		o := &oracle{calls: map[string]int{}, all: map[string]graph.Outcome{}}
		ok := o.flow(flow)
		o.settle(graph.Failed)
		o.carry(flow)
		require.Equal(t, ok, r.Status == sim.StatusSucceeded, string(text))

		e := history.FromRun(m, r)
		read, err := history.Read(sim.AppendHistory(nil, r.Events, sim.EventFormat{}))
		require.NoError(t, err)
		for _, e := range []*history.Execution{e, read} {
			v := e.FindVisits()
			got := map[string]graph.Outcome{}
			for state, ending := range v.FindEndings() {
				got[state] = ending.Outcome
			}
			maps.DeleteFunc(got, func(_ string, o graph.Outcome) bool { return o == graph.Aborted })
			require.Equal(t, o.all, got, string(text))
			require.Equal(t, ok, len(v.FindCulprits(e)) == 0)
			if !ok {
				require.Len(t, v.FindCulprits(e), 1)
			}
			require.Equal(t, r.Visits, v.CountVisits())
			e.Edges = nil
			for edge, n := range e.CountEdges(m, v) {
				require.Equal(t, r.Edges[sim.Edge(edge)], n, edge)
			}
		}
	})
}
