package kit

import "github.com/spf13/pflag"

// AddStatuses adds the flag that says what statuses mean which the catalogue does not know.
func AddStatuses(f *pflag.FlagSet, statuses *[]string) {
	f.StringArrayVar(statuses, "status", nil,
		"`STATUS=MEANING` of loops whose statuses the catalogue does not know: success, failure or running, separated by commas; "+
			"Look:done=success is for the Task Look alone")
}
