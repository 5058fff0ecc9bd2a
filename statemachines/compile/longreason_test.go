package compile_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// A reason quotes a long value no further than pollcore does, and a cause is never
// longer than that of an execution may be.
func TestLongReasons(t *testing.T) {
	t.Parallel()
	op := polledWith("svc", "Svc", "", "")
	text := func(name string) catalog.Member {
		return catalog.Member{Name: name, Shape: &catalog.Shape{Name: "Text", Type: catalog.String}}
	}
	op.Output.Members = append(op.Output.Members, text("why"))
	state := pollcore.Output("state")
	w := pollcore.MustNew("W", pollcore.Succeed(state.Is("DONE")), pollcore.FailWithMessage(state.Is("FAILED"), "why"), pollcore.Delay(10*time.Second, 20*time.Second))
	check, err := pollcore.Compile[any, any](w)
	require.NoError(t, err)
	long := strings.Repeat("é", 40_000)
	engine := func(output map[string]any) string {
		return check.Reason(check.Check(nil, output, nil), nil, output, nil)
	}
	require.Equal(t, `no acceptor matched: state = "`+long[:400]+`..."`, engine(map[string]any{"state": long}))
	failed := strings.Replace(engine(map[string]any{"state": "FAILED", "why": long}), "state", "State", 1)
	for _, strategy := range noLambda {
		m, err := compile.Compile(w, compile.Call{Operation: op}, compile.Options{Strategy: strategy, MaxWait: time.Minute})
		require.NoError(t, err)
		result, _ := polled(t, m, op, []any{map[string]any{"State": "FAILED", "Why": long}})
		status, reason := ended(t, result)
		require.Equal(t, "FAILED", status)
		require.Equal(t, string([]rune(failed)[:asl.MaxCauseLength]), reason, strategy)

		for _, seen := range []string{long, long[:402], long[:400], "RUNNING"} {
			result, _ = polled(t, m, op, []any{map[string]any{"State": seen, "Why": ""}})
			status, reason = ended(t, result)
			require.Equal(t, "TIMED_OUT", status)
			if strategy == compile.Loop { // JSONPath cannot cut a text
				require.LessOrEqual(t, utf8.RuneCountInString(reason), asl.MaxCauseLength)
				continue
			}
			if utf8.RuneCountInString(seen) > 200 {
				seen = long[:400] + "..."
			}
			require.Equal(t, "not finished after 1m0s: State = "+seen, reason)
		}
	}
}

// What is always short is not cut: so definitions stay short.
func TestEnumsAreNotCut(t *testing.T) {
	t.Parallel()
	for _, strategy := range []compile.Strategy{compile.Variables, compile.RetryTask} {
		m := compiled(t, "dynamodb", "ExportCompleted", compile.Options{Strategy: strategy, MaxWait: time.Hour})
		require.NotContains(t, string(asl.Print(m.Machine)), "$length")
	}
}
