package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The states of cycles are those from which some way leads back, in random graphs.
func TestCycles(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		f := parseGraph(t, 1+r.IntN(12), func(n, _ int) []int { return []int{r.IntN(n), r.IntN(n)}[:r.IntN(3)] })
		in := cycles(f)
		for _, s := range f.States {
			require.Equal(t, reaches(f, s, s, map[*asl.State]bool{}), in[s], s.Name)
		}
	}
}

func reaches(f *asl.Flow, from, to *asl.State, seen map[*asl.State]bool) bool {
	for _, way := range from.Transitions() {
		next := f.State(way.To)
		if next == to {
			return true
		}
		if next != nil && !seen[next] {
			seen[next] = true
			if reaches(f, next, to, seen) {
				return true
			}
		}
	}
	return false
}

// A walk from each of ten thousand states took minutes: the work grows with the states.
func TestCyclesOfLongDefinition(t *testing.T) { //nolint:paralleltest // it counts allocations
	const states = 4_000
	f := parseGraph(t, states, func(n, i int) []int { return []int{(i + 1) % n} })
	require.True(t, cycles(f)[f.State("S0")])
	require.Less(t, testing.AllocsPerRun(1, func() { cycles(f) }), 50.0*states)
}

// parseGraph is a flow of states with such ways, and one before that leads to all.
func parseGraph(t *testing.T, n int, ways func(n, i int) []int) *asl.Flow {
	t.Helper()
	choice := func(to []int) string {
		var rules []string
		for _, i := range to {
			rules = append(rules, fmt.Sprintf(`{"Variable": "$.x", "IsPresent": true, "Next": "S%d"}`, i))
		}
		return `{"Type": "Choice", "Choices": [` + strings.Join(rules, ", ") + `], "Default": "End"}`
	}
	states, all := []string{`"End": {"Type": "Succeed"}`}, make([]int, n)
	for i := range n {
		all[i] = i
		switch to := ways(n, i); len(to) {
		case 0:
			states = append(states, fmt.Sprintf(`"S%d": {"Type": "Pass", "End": true}`, i))
		case 1:
			states = append(states, fmt.Sprintf(`"S%d": {"Type": "Pass", "Next": "S%d"}`, i, to[0]))
		default:
			states = append(states, fmt.Sprintf(`"S%d": %s`, i, choice(to)))
		}
	}
	states = append(states, `"Start": `+choice(all))
	m, err := asl.Parse([]byte(`{"StartAt": "Start", "States": {` + strings.Join(states, ", ") + `}}`))
	require.NoError(t, err)
	return &m.Flow
}
