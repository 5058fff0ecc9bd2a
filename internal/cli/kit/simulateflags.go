package kit

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// SpecHelp is the grammar of --simulate.
const SpecHelp = simulate.SpecForm + `. TIME is 12m, or drawn for each
job: uniform(5m,30m), exp(10m) with the mean, or lognormal(15m,0.5) with the
median and the deviation of the logarithm. STATUS is what the job ends in; without
it the job succeeds. SHARE, such as 5%, is the share of throttled describe calls;
bare leaves out of the answers what AWS need not send.
STATE is the Task that starts the job, or that describes it where none does;
without STATE the spec is for all other jobs.`

// AddSimulated gives a command the flags about jobs that are simulated.
func AddSimulated(f *pflag.FlagSet, s *answers.Simulated) {
	f.StringArrayVar(&s.Specs, "simulate", nil, "`SPEC` of simulated jobs, such as 12m or Import=40m:FAILED; repeatable")
	f.StringVar(&s.Ends, "ends", "", "`STATUS` that simulated jobs end in, or success or failure")
}

// DrawnText names the Tasks whose answers are drawn.
func DrawnText(tasks []simulate.Unknown) string {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = strconv.Quote(t.State)
	}
	return "nobody knows what these Tasks return, so their answers are drawn: " + strings.Join(names, ", ")
}

// DefaultSeed is that of all that a run draws, so virtual runs are equal.
const DefaultSeed = 1
