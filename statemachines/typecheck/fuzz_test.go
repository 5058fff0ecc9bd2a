package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// No definition makes the types panic or go on for ever, and each finding has a rule,
// a message and a place.
func FuzzNew(f *testing.F) {
	for _, name := range statemachines.Names() {
		text, err := statemachines.Definition(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(sevenMistakes)
	f.Add(athenaLoop)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := asl.Parse([]byte(text))
		if err != nil {
			return
		}
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		for _, finding := range c.Findings() {
			require.NotEmpty(t, finding.Rule)
			require.NotEmpty(t, finding.Message)
			require.Positive(t, finding.Line)
		}
	})
}
