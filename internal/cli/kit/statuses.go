package kit

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// AddStatuses adds the flag that says what statuses mean which the catalogue does not know.
func AddStatuses(f *pflag.FlagSet, statuses *[]string) {
	f.StringArrayVar(statuses, "status", nil,
		"`STATUS=MEANING` of loops whose statuses the catalogue does not know: success, failure or running, separated by commas; "+
			"Look:done=success is for the Task Look alone")
}

// ReadStatuses reads what the flag says that statuses mean.
func ReadStatuses(statuses []string) (map[string]lint.Meaning, error) {
	said, err := lint.ParseSaid(statuses...)
	if err != nil {
		return nil, fmt.Errorf("--status: %w", err)
	}
	return said, nil
}
