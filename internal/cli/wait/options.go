package wait

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// waitOptions are the flags of "jobpoller wait".
type waitOptions struct {
	input       string
	params      kit.Params
	any         bool
	dryRun      bool
	maxWait     time.Duration
	delay       time.Duration // of all polls
	delays      kit.DelayFlags
	maxAttempts int

	aws kit.AwsFlags

	output  string
	quiet   bool
	verbose bool
}

// addWaitFlags gives a command the flags that say how to wait, and where.
func (o *waitOptions) addWaitFlags(c *cobra.Command) {
	f := c.Flags()
	kit.AddMaxWait(f, &o.maxWait, defaultMaxWait)
	kit.AddDuration(f, &o.delay, "delay", 0, "the same delay between all polls")
	o.delays.AddTo(f)
	f.IntVar(&o.maxAttempts, "max-attempts", 0, "give up after this many polls")
	o.aws.AddTo(c)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the whole response and the SDK's warnings too")
	kit.CompleteNothing(c, "max-wait", "delay", "min-delay", "max-delay", "initial-delay", "max-attempts")
	kit.Must(c.MarkFlagFilename("schedule", "json"))
	kit.AddOutput(c, &o.output)
}

// validate reports what is wrong with the flags, all at once.
func (o *waitOptions) validate(changed func(flag string) bool, ids int) error {
	problems := []error{kit.CheckOutput(o.output), kit.CheckMaxWait(o.maxWait), o.aws.Validate()}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.any && ids == 0 {
		report("--any is for several IDs, found none")
	}
	if changed("delay") && o.delay <= 0 {
		report("--delay must be above 0, is %s", kit.ShortDuration(o.delay))
	}
	if o.delay > 0 && (changed("min-delay") || changed("max-delay")) {
		report("--delay sets all delays: remove it, or --min-delay and --max-delay")
	}
	problems = append(problems, o.delays.Problems(changed, time.Nanosecond, o.maxWait)...)
	if changed("max-attempts") && o.maxAttempts < 1 {
		report("--max-attempts must be at least 1, is %d", o.maxAttempts)
	}
	if err := errors.Join(problems...); err != nil {
		return kit.Usage("%w", err)
	}
	return nil
}
