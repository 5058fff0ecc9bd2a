package baseline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
)

// A rule or a branch that is put before others does not make a finding new. A state whose
// name is a number does.
func TestKeys(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"/States/A/Choices/0":       "/States/A/Choices/*",
		"/States/A/Branches/12/x/3": "/States/A/Branches/*/x/*",
		"/States/7/Retry/1":         "/States/7/Retry/*",
		"Machine/States/7":          "Machine/States/7",
		"":                          "",
	} {
		require.Equal(t, baseline.Key{File: "f", Rule: "r", Pointer: want}, baseline.Finding{File: "f", Rule: "r", Pointer: pointer, Message: "m"}.Key())
	}
}

// Each known finding hides one of each state machine.
func TestTake(t *testing.T) {
	t.Parallel()
	f := func(pointer string) baseline.Finding { return baseline.Finding{File: "f", Rule: "r", Pointer: pointer} }
	choices := f("/States/A/Choices/9").Key()
	known := baseline.NewKnown([]baseline.Finding{f("/States/A/Choices/0"), f("/States/A/Choices/1"), f("/States/B")})
	require.True(t, known.Take("m", choices))
	require.Equal(t, map[baseline.Key]int{choices: 1, f("/States/B").Key(): 1}, known.Left())
	require.True(t, known.Take("m", choices))
	require.False(t, known.Take("m", choices))
	require.True(t, known.Take("n", choices))
	require.False(t, known.Take("m", f("/States/C").Key()))
	require.Equal(t, map[baseline.Key]int{choices: 0, f("/States/B").Key(): 1}, known.Left())
}

// A finding that several state machines have is known once.
func TestAdd(t *testing.T) {
	t.Parallel()
	var known baseline.Known[string]
	require.False(t, known.Take("m", "a"))
	require.True(t, known.Add("m", "a"))
	require.False(t, known.Add("n", "a"))
	require.True(t, known.Add("n", "a"))
	require.True(t, known.Add("n", "b"))
	require.Equal(t, map[string]int{"a": 2, "b": 1}, known.Left())
}

// What is printed is read again, in the order of the files. Something else is refused with
// its place.
func TestParse(t *testing.T) {
	t.Parallel()
	text, err := baseline.Print([]baseline.Finding{{File: "b", Rule: "r"}, {File: "a", Rule: "s", Pointer: "/p", Message: "m"}, {File: "b", Rule: "q"}})
	require.NoError(t, err)
	all, err := baseline.Parse(text)
	require.NoError(t, err)
	require.Equal(t, []baseline.Finding{{File: "a", Rule: "s", Pointer: "/p", Message: "m"}, {File: "b", Rule: "r"}, {File: "b", Rule: "q"}}, all)
	text, err = baseline.Print(nil)
	require.NoError(t, err)
	require.Equal(t, "[]\n", string(text))

	for text, want := range map[string]string{
		`{}`:                             "expected the file that --update-baseline writes: an array",
		`[`:                              "1:2: not valid JSON",
		`[{"file": "a", "pointer": ""}]`: `"rule"`,
		`[{"file": "a", "rule": "r", "pointer": "", "more": "x"}]`: `"more"`,
		`[{"file": 1, "rule": "r", "pointer": ""}]`:                "/0/file",
	} {
		_, err := baseline.Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}
