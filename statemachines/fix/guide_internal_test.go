package fix

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The guide says the numbers that fix takes.
func TestGuideSaysTheNumbers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/guide/fix.md")
	require.NoError(t, err)
	for _, says := range []string{
		fmt.Sprintf("leaves the loop %s of the %s events of a history", thousands(roomyEvents), thousands(asl.MaxEvents)),
		fmt.Sprintf("it has room for %d items", usualItems),
		fmt.Sprintf("as long as the history lasted, %s at most", spell(unbounded)),
		fmt.Sprintf("the %s events that a new bound leaves", thousands(roomyEvents)),
	} {
		require.Contains(t, string(text), says)
	}
}
