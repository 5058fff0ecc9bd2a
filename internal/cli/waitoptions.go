package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// waitOptions are the flags of "jobpoller wait".
type waitOptions struct {
	input       string
	params      params
	all, any    bool
	dryRun      bool
	maxWait     time.Duration
	delay       time.Duration // of all polls
	delays      delayFlags
	maxAttempts int

	aws awsFlags

	output  string
	quiet   bool
	verbose bool
}

// addWaitFlags gives a command the flags that say how to wait, and where.
func (o *waitOptions) addWaitFlags(c *cobra.Command) {
	f := c.Flags()
	addMaxWait(f, &o.maxWait, defaultMaxWait)
	addDuration(f, &o.delay, "delay", 0, "the same delay between all polls")
	o.delays.addTo(f)
	f.IntVar(&o.maxAttempts, "max-attempts", 0, "give up after this many polls")
	o.aws.addTo(c)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the whole response and the SDK's warnings too")
	completeNothing(c, "max-wait", "delay", "min-delay", "max-delay", "initial-delay", "max-attempts")
	must(c.MarkFlagFilename("schedule", "json"))
	addOutput(c, &o.output)
}

// validate reports what is wrong with the flags, all at once.
func (o *waitOptions) validate(changed func(flag string) bool, ids int) error {
	problems := []error{checkOutput(o.output), checkMaxWait(o.maxWait), o.aws.validate()}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.all && o.any {
		report("--all and --any exclude each other: remove one")
	}
	if (o.all || o.any) && ids == 0 {
		report("--all and --any are for several IDs, found none")
	}
	if changed("delay") && o.delay <= 0 {
		report("--delay must be above 0, is %s", shortDuration(o.delay))
	}
	if o.delay > 0 && (changed("min-delay") || changed("max-delay")) {
		report("--delay sets all delays: remove it, or --min-delay and --max-delay")
	}
	problems = append(problems, o.delays.problems(changed, time.Nanosecond, o.maxWait)...)
	if changed("max-attempts") && o.maxAttempts < 1 {
		report("--max-attempts must be at least 1, is %d", o.maxAttempts)
	}
	if err := errors.Join(problems...); err != nil {
		return usage("%w", err)
	}
	return nil
}
