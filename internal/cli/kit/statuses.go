package kit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// AddStatuses adds the flag that says what statuses mean which the catalogue does not know.
func AddStatuses(f *pflag.FlagSet, statuses *[]string) {
	f.StringArrayVar(statuses, "status", nil,
		"`STATUS=MEANING` of loops whose statuses the catalogue does not know: success, failure or running, separated by commas; "+
			"Look:done=success is for the Task Look alone")
}

// WarnUnusedStatuses warns of statuses of --status that no loop uses.
func WarnUnusedStatuses(c *cobra.Command, unused map[string]lint.Meaning) {
	if len(unused) > 0 {
		terminal.Fprintf(c.ErrOrStderr(), "warning: --status: no loop uses %s: it is for loops with a table of statuses that the catalogue does not know\n",
			strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
	}
}

// WarnUnusedStatusesOf warns of statuses of --status that no loop of a machine uses, by the loops that lint reads.
func WarnUnusedStatusesOf(c *cobra.Command, m *asl.StateMachine, express bool, said map[string]lint.Meaning) error {
	if len(said) == 0 {
		return nil
	}
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	if err != nil {
		return WithCode(ExitFailed, err)
	}
	WarnUnusedStatuses(c, lint.UnusedSaid(said, lint.Loops(m, lint.Options{Express: express, Types: types, Said: said})))
	return nil
}

// ReadStatuses reads what the flag says that statuses mean.
func ReadStatuses(statuses []string) (map[string]lint.Meaning, error) {
	said, err := lint.ParseSaid(statuses...)
	if err != nil {
		return nil, fmt.Errorf("--status: %w", err)
	}
	return said, nil
}
