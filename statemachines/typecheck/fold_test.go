package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// What a function of JSONata or an intrinsic function makes of a known value is known;
// of a clock, of chance and of unknown values it is not.
func TestKnownOperandsAreEvaluated(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string][]string{
		"$contains($s, 'UN')":                    {"Yes"},
		"$contains($s, /^RUN/)":                  {"Yes"},
		"$s ~> $contains('STOP')":                {"No"},
		"$s ~> $lowercase = 'running'":           {"Yes"},
		"$length($s) > 7":                        {"No"},
		"$s & '!' = 'RUNNING!'":                  {"Yes"},
		"$n + 1 = 3":                             {"Yes"},
		"$not($s in ['A', 'RUNNING'])":           {"No"},
		"$n < 2":                                 {"No"},
		"$contains($nothing.member, 'X') = true": {"No"},
		"$millis() > 5":                          {"Yes", "No"},
		"$random() < 2":                          {"Yes", "No"},
		"$contains($states.input.x, 'UN')":       {"Yes", "No"},
		"$states.input.x = 'A'":                  {"Yes", "No"},

		// A value that is no array is its only item.
		"$n[0] = 2":         {"Yes"},
		"$n[0.5] = 2":       {"Yes"},
		"$n[-1] = 2":        {"Yes"},
		"$n[-0.5] = 2":      {"Yes"},
		"$exists($n[1])":    {"No"},
		"$exists($n[-2])":   {"No"},
		"$exists($n[-1.5])": {"No"},

		"($states.input.x = 'A' ? [1, 2] : 2)[-1] = 2":   {"Yes"},
		"($states.input.x = 'A' ? [2, 1] : 2)[0.5] = 2":  {"Yes"},
		"$exists(($states.input.x = 'A' ? [2] : 2)[-2])": {"No"},

		// Of a text of several parts, the first and the last may be known.
		"$s & $states.input.x = 'STOPPED now'":                               {"No"},
		"$s & $states.input.x = 'RUNNING now'":                               {"Yes", "No"},
		"'now ' & $states.input.x & ':' & $s in ['now :RUNNING']":            {"Yes", "No"},
		"'now ' & $states.input.x & ':' & $s in ['now :STOPPED', 'RUNNING']": {"No"},
		"$s & $states.input.x & $s = 'RUNNING'":                              {"No"},
		"$join([$s, $states.input.x & ''], '/') = 'RUN/x'":                   {"No"},
		"$join([$s, $states.input.x & ''], '/') = 'RUNNING/x'":               {"Yes", "No"},
		"($states.input.x = 'A' ? $s : 'A') & $states.input.y = 'STOPPED'":   {"No"},

		// Of a list of any length, the first or the last item may be known.
		"$append($states.input.x, $s)[-1] = 'RUNNING'":                {"Yes"},
		"$append($states.input.x, $s)[0] = 'RUNNING'":                 {"Yes", "No"},
		"$append($s, [$states.input.x])[0] = 'RUNNING'":               {"Yes"},
		"[$states.input.x, $s][-1] = 'RUNNING'":                       {"Yes"},
		"[$s, $states.input.x][-1] = 'RUNNING'":                       {"Yes", "No"},
		"[$append($states.input.x, $s), $n][-1] = 2":                  {"Yes"},
		"$count([1..$n]) = 2":                                         {"Yes"},
		"$count([$n..1]) = 0":                                         {"Yes"},
		"[1..400][-1] = 400":                                          {"Yes"},
		"$count([$filter([1..$n], function($v, $i) { $i > 0 })]) = 1": {"Yes"},

		// No item of a list is what is looked for.
		"'STOPPED' in $append($states.input.x = 'A' ? [$s] : [], $s)":            {"No"},
		"'RUNNING' in $append($states.input.x = 'A' ? [$s] : [], $s)":            {"Yes", "No"},
		"false in $states.input.x":                                               {"Yes", "No"},
		"$exists($append($states.input.x = 'A' ? [$s] : [], $s)[$ = 'STOPPED'])": {"No"},

		// The one item that $single finds may be an array.
		"$count($single([[1, 2], [3]], function($v) { $count($v) = 2 })) = 2": {"Yes"},
		"$count($filter([[1, 2], [3]], function($v) { $count($v) = 2 })) = 2": {"Yes"},
		"$single([1, 2], function($v) { $v = 2 }) = 2":                        {"Yes"},

		// A text that is not as the picture has no time.
		"$exists($toMillis($s, '[Y0001]'))":     {"No"},
		"$exists($toMillis($now(), '[Y0001]'))": {"Yes", "No"},
		"$exists($toMillis($now()))":            {"Yes"},
	} {
		m, err := asl.Parse([]byte(`{"QueryLanguage": "JSONata", "StartAt": "Set", "States": {
			"Set": {"Type": "Pass", "Assign": {"s": "RUNNING", "n": 2, "nothing": {}}, "Next": "Ask"},
			"Ask": {"Type": "Choice", "Choices": [{"Condition": "{% ` + condition + ` %}", "Next": "Yes"}], "Default": "No"},
			"Yes": {"Type": "Succeed"}, "No": {"Type": "Succeed"}}}`))
		require.NoError(t, err, condition)
		c, err := typecheck.New(m, typecheck.Options{Models: catalog.AWS().Service})
		require.NoError(t, err)
		var got []string
		ask := m.State("Ask")
		for _, way := range c.Step(ask, c.Input(ask), c.Result(ask)) {
			got = append(got, way.To)
		}
		require.Equal(t, want, got, condition)
	}
}
