package lint_test

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/tests/race"
)

// All loops on one way share its history, however many they are. The work grows
// with the pairs of loops: with all triples, this test does not end in time.
func TestManyLoopsShareAHistory(t *testing.T) {
	t.Parallel()
	n := race.Of(1200, 120)
	chain := pollLoopsText(n)
	first := bytes.TrimSuffix(bytes.TrimPrefix(chain, []byte(`{"StartAt": "Get0", "States": {`)), []byte("}}"))
	second := regexp.MustCompile(`"((?:Get|Done|Wait)\d+)"`).ReplaceAll(first, []byte(`"x$1"`))
	for name, x := range map[string]struct {
		text  []byte
		loops int
	}{
		"one way": {chain, n},
		"two ways": {fmt.Appendf(nil, `{"StartAt": "Which?", "States": {"Which?": {"Type": "Choice", "Default": "xGet0",
			"Choices": [{"Variable": "$.old", "BooleanEquals": true, "Next": "Get0"}]}, %s, %s}}`, first, second), 2 * n},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(x.text)
			require.NoError(t, err)
			loops := lint.Loops(m, lint.Options{})
			require.Len(t, loops, x.loops)
			for _, l := range loops {
				require.Equal(t, n, l.Bound.Loops, l.Poll.Name)
			}
		})
	}
}
