package fix_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// Of repairs with the same rule and state each can be accepted by itself, and all by what they have in common.
func TestAcceptOneOfTwo(t *testing.T) {
	t.Parallel()
	const name = "words-of-two-lists.asl.json"
	text, err := os.ReadFile("testdata/repair/" + name)
	require.NoError(t, err)
	for accept, made := range map[string]string{
		"enum-value@Ended?":              "CANCELED FAILLED",
		"enum-value@Ended?:FAILLED":      "FAILLED",
		"enum-value@Ended?:CANCELED":     "CANCELED",
		"enum-value@Ended?:CANCELLED":    "",
		"enum-value@Ended":               "",
		"status-polls-on@Ended?:FAILLED": "",
	} {
		after, all, err := fix.RepairFile(t.Context(), text, reader(t, name), fix.RepairOptions{Accept: []string{accept}, Models: models.Load})
		require.NoError(t, err)
		for _, wrong := range []string{"CANCELED", "FAILLED"} {
			require.Equal(t, !strings.Contains(made, wrong), strings.Contains(string(after), `'`+wrong+`'`) || strings.Contains(string(after), `"`+wrong+`"`), "%s: %s", accept, wrong)
		}
		known := false
		for _, r := range all {
			known = known || r.Mends(accept)
		}
		require.Equal(t, made != "", known, accept)
	}
}
