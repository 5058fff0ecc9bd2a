package typecheck_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// chain is a definition of count parts, of which each leads to the next.
func chain(t testing.TB, count int, part func(i int, next string) string) *asl.StateMachine {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"StartAt": "S0", "States": {`)
	for i := range count {
		b.WriteString(part(i, fmt.Sprintf("S%d", i+1)) + ",\n")
	}
	fmt.Fprintf(&b, `"S%d": {"Type": "Succeed"}}}`, count)
	m, err := asl.Parse([]byte(b.String()))
	require.NoError(t, err)
	return m
}

// growing are parts whose types grow from one to the next.
var growing = map[string]func(i int, next string) string{
	"poll loops": func(i int, next string) string {
		return fmt.Sprintf(`"S%[1]d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "ResultPath": "$.r%[1]d",
			"Next": "C%[1]d", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e%[1]d", "Next": "W%[1]d"}]},
			"C%[1]d": {"Type": "Choice", "Choices": [{"Variable": "$.r%[1]d.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": %[2]q}], "Default": "W%[1]d"},
			"W%[1]d": {"Type": "Wait", "Seconds": 1, "Next": "S%[1]d"}`, i, next)
	},
	"variables": func(i int, next string) string {
		return fmt.Sprintf(`"S%d": {"Type": "Pass", "Assign": {"v%[1]d.$": "$"}, "ResultPath": "$.a%[1]d", "Next": %q}`, i, next)
	},
	"nesting": func(i int, next string) string {
		return fmt.Sprintf(`"S%d": {"Type": "Pass", "Parameters": {"a.$": "$", "b.$": "$", "c": {"d.$": "$.a"}}, "ResultPath": "$.x", "Next": %q}`, i, next)
	},
	"jumps": func(i int, next string) string {
		return fmt.Sprintf(`"S%d": {"Type": "Choice", "Choices": [{"Variable": "$.a", "StringEquals": "v%[1]d", "Next": "S0"}], "Default": %q}`, i, next)
	},
	"maps": func(i int, next string) string {
		return fmt.Sprintf(`"S%d": {"Type": "Map", "ResultPath": "$.m%[1]d", "Next": %q, "ItemProcessor": {"StartAt": "I%[1]d", "States": {"I%[1]d": {"Type": "Pass", "Parameters": {"a.$": "$"}, "End": true}}}}`, i, next)
	},
}

// The work grows with the number of states, whatever is carried along: the exponent
// of its growth is at most 1.2.
func TestWorkGrowsWithTheStates(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all tests
	for name, part := range growing {
		work := func(count int) float64 {
			m := chain(t, count, part)
			return testing.AllocsPerRun(1, func() {
				_, err := typecheck.New(m, typecheck.Options{Models: models.Load})
				require.NoError(t, err)
			})
		}
		const small, large = 300, 1200
		exponent := math.Log(work(large)/work(small)) / math.Log(large/small)
		require.LessOrEqual(t, exponent, 1.2, name)
	}
}

func BenchmarkPollLoops(b *testing.B) {
	for _, count := range []int{167, 667} {
		m := chain(b, count, growing["poll loops"])
		b.Run(fmt.Sprint(3*count, " states"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := typecheck.New(m, typecheck.Options{Models: models.Load})
				require.NoError(b, err)
			}
		})
	}
}
