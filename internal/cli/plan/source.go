package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// durationSource is where plan finds out how long jobs take: one of its flags.
type durationSource struct {
	flag, value string
	// region is that of the calls; empty if there are none, or if it is the configured one.
	region string
	// more are the flags that go with it.
	more []string
	read func(*cobra.Command, *planSubject) (*knowledge, error)
}

// sources are those that the command line names. With --check they give the jobs since
// the schedule was planned, and --duration is what it was planned for.
func (o *planOptions) sources() []durationSource {
	var set []durationSource
	if o.duration != "" && !o.check {
		set = append(set, durationSource{flag: "duration", value: o.duration, read: o.readStated})
	}
	if o.durations != "" {
		set = append(set, durationSource{flag: "durations", value: o.durations, read: o.readFile})
	}
	if o.executions.arn != "" {
		set = append(set, o.executionSource())
	}
	if o.service.from {
		set = append(set, durationSource{flag: "from-service", more: append(o.service.params.Spell(), o.executions.spellMost()...), read: o.readService})
	}
	return set
}

// sourceProblems says what is wrong with the flags that name the source.
func (o *planOptions) sourceProblems(args []string) (problems []error) {
	if n := len(o.sources()); n != 1 && !o.check {
		problems = append(problems, errors.New("pass how long jobs take, by only one of --duration 'lognormal(15m, 0.5)', "+
			"--durations FILE, --from-executions ARN and --from-service"))
	} else if n != 1 {
		problems = append(problems, errors.New("--check needs the jobs since then: one of --durations FILE, --from-executions ARN and --from-service"))
	}
	lists := o.executions.arn != "" || o.service.from
	if !lists && o.executions.most != defaultExecutions {
		problems = append(problems, errors.New("--most needs --from-executions or --from-service: nothing else has a list"))
	}
	if !lists && deployedRegion(args) == "" && (o.aws.Profile != "" || o.aws.Endpoint != "") {
		problems = append(problems, errors.New("--profile and --endpoint-url need --from-executions, --from-service or the ARN of a state machine: "+
			"nothing else calls AWS"))
	}
	if most := o.executions.most; most < 1 || most > mostExecutions {
		problems = append(problems, fmt.Errorf("--most must be from 1 to %d, is %d", mostExecutions, most))
	}
	if len(o.service.params) > 0 && !o.service.from {
		problems = append(problems, errors.New("--param needs --from-service"))
	}
	if err := o.aws.Validate(); err != nil {
		problems = append(problems, err)
	}
	return append(problems, o.executionProblems()...)
}

// deployedRegion is the region of the definition that an ARN names; empty if none does.
func deployedRegion(args []string) string {
	if len(args) == 1 {
		if of, err := stepfunctions.ParseOrigin(args[0]); err == nil {
			return of.Region
		}
	}
	return ""
}

// settleRegion takes --region for prices and quotas, and checks it. Calls may settle
// another one.
func (o *planOptions) settleRegion(args []string) error {
	file := source.Stdin // for the settings of the working folder
	if len(args) == 1 {
		file, _, _ = strings.Cut(args[0], "#")
	}
	settled, err := kit.RegionOf(file)
	if err != nil {
		return err
	}
	o.region = cmp.Or(o.aws.Region, settled, asl.DefaultRegion)
	if region := deployedRegion(args); o.aws.Region == "" && region != "" {
		if _, err := asl.TransitionPrice(region); err == nil {
			o.region = region
		}
	}
	for _, s := range o.sources() {
		if s.region != "" && cmp.Or(o.aws.Region, s.region) != s.region {
			return fmt.Errorf("--region %s contradicts the ARN of --%s, which is of %s: leave --region out", o.aws.Region, s.flag, s.region)
		}
	}
	if _, err := asl.TransitionPrice(o.region); err != nil && o.executions.arn == "" && !o.service.from {
		return fmt.Errorf("--region: %w", err)
	}
	return nil
}

// settlePrices takes the prices and quotas of the region that was called, if they are
// known.
func (o *planOptions) settlePrices(region string, k *knowledge) {
	o.region = region
	if _, err := asl.TransitionPrice(region); err != nil {
		o.region = asl.DefaultRegion
		k.notes = append(k.notes, fmt.Sprintf("prices and quotas are those of %s: those of %s are not known", o.region, region))
	}
}

// spell writes the source as a shell reads it.
func (s durationSource) spell() []string {
	words := []string{"--" + s.flag}
	if s.value != "" {
		words = append(words, s.value)
	}
	return append(words, s.more...)
}

// knowledge is what is known of how long jobs take.
type knowledge struct {
	source string
	// distribution is what to plan with. Of past jobs recorded is what they were, and
	// the distribution allows for others.
	distribution, recorded plan.Distribution
	summary                *plan.Summary // of past jobs
	jobs                   []pastjobs.Job
	executions             map[string]time.Time // that a file names: their starts, by their ARNs
	namesTasks             bool
	notes                  []string
}

// readKnowledge finds out how long jobs take.
func (o *planOptions) readKnowledge(c *cobra.Command, s *planSubject) (*knowledge, error) {
	k, err := o.sources()[0].read(c, s) // validate has refused others
	if err != nil {
		return nil, err
	}
	return k, o.checkOnly(s, k)
}

func (o *planOptions) readStated(*cobra.Command, *planSubject) (*knowledge, error) {
	d, err := plan.Parse(o.duration)
	if err != nil {
		return nil, kit.Usage("--duration: %w", err)
	}
	return &knowledge{source: o.duration, distribution: d, recorded: d}, nil
}

func (o *planOptions) readFile(c *cobra.Command, s *planSubject) (*knowledge, error) {
	return o.readFileOf("durations", o.durations, c, s)
}

// readFileOf reads the file that a flag names.
func (o *planOptions) readFileOf(flag, name string, c *cobra.Command, s *planSubject) (*knowledge, error) {
	text, err := readAtMost(name, c.InOrStdin(), pastjobs.MaxBytes)
	if err != nil {
		return nil, kit.Usage("--%s: %w", flag, err)
	}
	jobs, err := pastjobs.Parse(text, s.entry, o.only)
	if err != nil {
		return nil, kit.Usage("--%s: %w", flag, terminal.Errorf("%s: %w", name, err))
	}
	return learn(name, jobs)
}

// readAtMost reads a file, or the standard input, of so many bytes.
func readAtMost(name string, in io.Reader, most int64) (text []byte, err error) {
	if name != kit.Stdin {
		f, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, terminal.Errorf("%s is a folder: pass a file", name)
		}
		in = f
	}
	text, err = io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = terminal.Errorf("%s has more than %d MiB: pass fewer durations", name, most>>20) //nolint:mnd // a MiB
	}
	return text, err
}

// checkOnly refuses --only where nothing names a Task.
func (o *planOptions) checkOnly(s *planSubject, files ...*knowledge) error {
	if o.only == "" || o.executions.arn != "" || s.trial != nil || slices.ContainsFunc(files, func(k *knowledge) bool { return k.namesTasks }) {
		return nil
	}
	return kit.Usage("--only %s: %s does not say which Task polled a job: leave --only out", o.only, files[len(files)-1].source)
}

// learn learns from the past jobs of a source.
func learn(source string, jobs *pastjobs.Jobs) (*knowledge, error) {
	samples := jobs.Samples()
	summary, err := plan.Summarize(samples)
	if errors.Is(err, plan.ErrNoSamples) {
		return nil, kit.WithCode(kit.ExitUsage, fmt.Errorf("%s: it has %w that ended. Wait until some have ended, or state how long they take with --duration%s",
			source, errNoDurations, describeLeft(jobs)))
	}
	if err != nil {
		return nil, kit.Usage("%s: %w", source, err)
	}
	d, err := plan.Learn(samples)
	if err != nil {
		return nil, kit.Usage("%s: %w", source, err)
	}
	recorded, err := plan.Record(samples)
	if err != nil {
		return nil, kit.Usage("%s: %w", source, err)
	}
	return &knowledge{
		source: source, distribution: d, recorded: recorded, summary: &summary, jobs: jobs.Ended,
		executions: jobs.Executions, namesTasks: len(jobs.Tasks) > 0, notes: leftNotes(jobs),
	}, nil
}

// errNoDurations is of a source without a job that ended.
var errNoDurations = errors.New("no durations of jobs")

func describeLeft(jobs *pastjobs.Jobs) string {
	if notes := leftNotes(jobs); len(notes) > 0 {
		return ". " + strings.Join(notes, "; ")
	}
	return ""
}

// leftNotes say which jobs of a source do not count.
func leftNotes(p *pastjobs.Jobs) []string {
	const most = 10 // a file may name many
	var notes []string
	if p.Hint != "" {
		notes = append(notes, p.Hint)
	}
	for i, reason := range slices.Sorted(maps.Keys(p.Left)) {
		if i == most {
			return append(notes, fmt.Sprintf("left out: jobs for %d more reasons", len(p.Left)-most))
		}
		notes = append(notes, fmt.Sprintf("left out: %s %s", kit.Plural(p.Left[reason], "job"), reason))
	}
	return notes
}
