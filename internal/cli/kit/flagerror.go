package kit

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// flagError says what is wrong with a flag, and what was expected or meant.
func flagError(c *cobra.Command, err error) error {
	return Usage("%w"+helpHint, describeFlagError(c, err), c.CommandPath())
}

func describeFlagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		return fmt.Errorf("there is no flag --%s%s", unknown.GetSpecifiedName(), flagMeant(c, unknown.GetSpecifiedName()))
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", missing.GetFlag().Name)
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	cause := invalid.Unwrap()
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		cause = errors.New("expected a whole number")
		if number.Func == "ParseBool" {
			cause = errors.New("expected true or false")
		}
	}
	if invalid.GetFlag().Value.Type() == "stringToString" {
		cause = errors.New("expected NAME=VALUE pairs, with commas")
	}
	return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), cause)
}

// flagMeant is the flag of the command that an unknown name is near to.
func flagMeant(c *cobra.Command, name string) string {
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return nearest.DidYouMean("--"+name, known)
}
