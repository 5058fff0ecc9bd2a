package fix_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/race"
)

var variantsTried = flag.Int("variants", race.Of(manyVariants, 2), "how many machines with loops are fixed and compared")

// manyVariants replace loops of each strategy.
const manyVariants = 24

// Whatever loop is replaced, the machine ends as it did, with the same data, and
// knows each status.
func TestFixedMachinesDoTheSame(t *testing.T) {
	t.Parallel()
	variants := *variantsTried
	strategies := slices.DeleteFunc(fix.Strategies(), compile.Strategy.Waits) // the machines do not start their jobs
	replaced := map[compile.Strategy]int{}
	for i := range variants {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		strategy := strategies[i%len(strategies)]
		v := newVariant(r, strategy != compile.Loop && r.IntN(2) == 0) // which is in JSONPath
		text := v.write(t, r)
		name := fmt.Sprintf("%d by %s: %s", i, strategy, strings.Join(v.features, ", "))
		o := fix.Options{Strategy: strategy, MaxWait: 10 * time.Minute, JobRuns: time.Minute, Models: models.Load}
		if i%2 == 0 && fix.TakesSchedule(strategy) {
			o.Schedule = newSchedule(r)
			name += fmt.Sprintf(", schedule %v", *o.Schedule)
		}
		fixed, loops, err := fix.ApplyFile(t.Context(), text, read, o)
		require.NoError(t, err, name)
		require.Len(t, loops, 1, name)
		if loops[0].Refused != "" {
			require.Equal(t, string(text), string(fixed), name)
			odd := slices.Contains(v.features, "tests other things") || slices.Contains(v.features, "catches into the loop")
			require.True(t, odd, "%s: %s\n%s", name, loops[0].Refused, text)
			continue
		}
		replaced[strategy]++
		again, none, err := fix.ApplyFile(t.Context(), fixed, read, o)
		require.NoError(t, err, name)
		require.Empty(t, none, name)
		require.Equal(t, string(fixed), string(again), name)
		twin, _, err := fix.ApplyFile(t.Context(), text, read, o)
		require.NoError(t, err, name)
		require.Equal(t, string(fixed), string(twin), name)
		v.requireSame(t, name, text, fixed, loops[0])
	}
	for _, strategy := range strategies {
		require.True(t, replaced[strategy] > 1 || variants < manyVariants, strategy)
	}
}

// newSchedule draws a schedule, mostly of several delays.
func newSchedule(r *rand.Rand) *pollcore.Planned {
	second := func(most int) time.Duration { return time.Duration(1+r.IntN(most)) * time.Second }
	p := &pollcore.Planned{Delays: []time.Duration{second(60) - time.Second}, Then: second(40)}
	for range r.IntN(8) {
		p.Delays = append(p.Delays, second(20))
	}
	return p
}

// write writes the machine in a form that people use.
func (v *variant) write(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v.top, "", strings.Repeat(" ", 2*r.IntN(3)))
	require.NoError(t, err)
	switch r.IntN(4) {
	case 0:
		return text
	case 1:
		var b bytes.Buffer
		require.NoError(t, json.Compact(&b, text))
		return b.Bytes()
	case 2:
		text, err = yaml.Marshal(v.top)
	default:
		text, err = yaml.Marshal(object{"Resources": object{"Poller": object{
			"Type": "AWS::Serverless::StateMachine", "Properties": object{"Type": "STANDARD", "Definition": v.top},
		}}})
	}
	require.NoError(t, err)
	return append([]byte("# kept\n"), text...)
}

// requireSame wants the ends that the loop's routes say, and the same as before where
// they have not changed.
func (v *variant) requireSame(t *testing.T, name string, before, after []byte, l fix.Loop) {
	t.Helper()
	entry, err := catalog.Lookup(v.service, v.job)
	require.NoError(t, err)
	statuses, err := simulate.Statuses(entry, models.Load)
	require.NoError(t, err)
	require.Len(t, l.Routes, len(statuses), name)
	old, replaced := parse(t, before), parse(t, after)
	tried := false // a status in which the loop polls on
	for i, s := range statuses {
		route := l.Routes[i]
		at := fmt.Sprintf("%s: %s: %v\n%s\n%s", name, s.Name, route, before, after)
		if route.After == "" {
			if !tried {
				tried = true
				require.Equal(t, "JobPoller.TimedOut", v.run(t, replaced, entry, s.Name, 0).Error, at)
			}
			continue
		}
		for _, runs := range []time.Duration{0, 5 * time.Minute} {
			b := v.run(t, replaced, entry, s.Name, runs)
			if route.Before != route.After {
				require.Positive(t, b.Visits[route.After], at)
				continue
			}
			a := v.run(t, old, entry, s.Name, runs)
			require.Equal(t, a.Status, b.Status, at)
			require.Equal(t, a.Error, b.Error, at)
			require.Equal(t, string(a.Output), string(b.Output), at)
		}
	}
}

func parse(t *testing.T, text []byte) *asl.StateMachine {
	t.Helper()
	d, err := source.LoadOne(t.Context(), source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
	require.NoError(t, err)
	m, err := d.Parse()
	require.NoError(t, err, "%s", text)
	return m
}

// run runs a machine on a job that lasts for a time and ends in a status.
func (v *variant) run(t *testing.T, m *asl.StateMachine, entry *catalog.Entry, status string, runs time.Duration) *sim.Result {
	t.Helper()
	plan, err := simulate.New(m, simulate.Options{
		Specs: []simulate.Spec{{Spread: mock.Exactly(runs)}}, Ends: status, Models: models.Load, Polls: map[string]*catalog.Entry{v.poll: entry},
		Reader: parse(t, mustJSON(t, v.top)),
	})
	require.NoError(t, err)
	mocks, err := plan.Mocks()
	require.NoError(t, err)
	options := sim.Options{Seed: 1}
	require.NoError(t, mocks.Apply(m, "", &options))
	result, err := sim.Run(t.Context(), m, []byte(`{"items": [1]}`), options)
	require.NoError(t, err)
	return result
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}
