package plan

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// How sure a check is before it says that a plan does not hold.
const (
	// checkLevel is how often each test is wrong about a plan that holds.
	checkLevel = 0.01
	// checkErrors is how many standard errors the mean is known to. 1 % of the means of
	// 20 jobs are further off to one side, and fewer of more.
	checkErrors = 2.54
	// leastChecked is how many jobs that takes.
	leastChecked = 20
	// clockError is what services leave out, who cut times to seconds.
	clockError = time.Second
	// overP95 is the share of the jobs that are later than the 95th percentile.
	overP95 = 0.05
)

// planCheck says whether a plan still holds. Its JSON members are a contract: see
// docs/reference/json.md.
type planCheck struct {
	Holds    bool             `json:"holds"`
	Late     bool             `json:"late"`
	Drifted  bool             `json:"drifted"`
	Promised promisedLateness `json:"promised"`
	Found    foundLateness    `json:"found"`
	Drift    durationDrift    `json:"drift"`
	Next     string           `json:"next,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
}

// promisedLateness is what the schedule was planned for.
type promisedLateness struct {
	Source          string  `json:"source"`
	MedianSeconds   float64 `json:"medianSeconds"`
	MeanLateSeconds float64 `json:"meanLateSeconds"`
	P95LateSeconds  float64 `json:"p95LateSeconds"`
}

// foundLateness is how late the ends of the jobs were seen: measured, or computed of
// their durations.
type foundLateness struct {
	How             string  `json:"how"`
	Jobs            int     `json:"jobs"`
	MeanLateSeconds float64 `json:"meanLateSeconds"`
	FromSeconds     float64 `json:"fromSeconds"` // of the mean
	ToSeconds       float64 `json:"toSeconds"`
	P95LateSeconds  float64 `json:"p95LateSeconds"`
	JobsOverP95     int     `json:"jobsOverP95"` // that was promised
	Chance          float64 `json:"chance"`      // of so many
}

// computedHow is how lateness is found where jobs do not say it.
const computedHow = "computed"

// durationDrift is the test of the durations.
type durationDrift struct {
	Source        string  `json:"source"`
	Jobs          int     `json:"jobs"`
	MedianSeconds float64 `json:"medianSeconds"`
	Test          string  `json:"test"`
	Distance      float64 `json:"distance"`
	Chance        float64 `json:"chance"`
	Level         float64 `json:"level"`
}

// checkProblems says what is wrong with the flags of --check.
func (o *planOptions) checkProblems() (problems []error) {
	if !o.check {
		if o.schedule != "" || o.earlier != "" {
			problems = append(problems, errors.New("--schedule and --earlier need --check"))
		}
		return problems
	}
	if o.schedule == "" {
		problems = append(problems, errors.New("--check needs the schedule: --schedule FILE, as -o schedule printed it"))
	}
	if (o.duration == "") == (o.earlier == "") {
		problems = append(problems, errors.New("--check needs what the schedule was planned for: either --duration TEXT or --earlier FILE"))
	}
	if o.jitter > 0 {
		problems = append(problems, errors.New("--check takes the jitter of the schedule: remove --jitter"))
	}
	if o.concurrent > 0 || slices.Contains(planOutputs, o.output) {
		problems = append(problems, errors.New("--check goes with -o text and json, and without --concurrent"))
	}
	return problems
}

// runCheck checks the plan.
func (o *planOptions) runCheck(c *cobra.Command, args []string, subject *planSubject) error {
	delays := kit.DelayFlags{File: o.schedule}
	if err := delays.ReadSchedule(c.InOrStdin()); err != nil {
		return err
	}
	then, err := o.readPlanned(c, subject)
	if err != nil {
		return err
	}
	o.executions.planned = then.executions
	if o.earlier != "" && o.executions.arn != "" && len(then.executions) == 0 {
		then.notes = append(then.notes, then.source+" has no ARNs of executions: a job that is also one of "+
			o.origin().String()+" counts twice. Pass the file of --keep as --earlier")
	}
	source := o.sources()[0]
	now, err := source.read(c, subject)
	switch {
	case errors.Is(err, errNoDurations):
		return kit.WithCode(kit.ExitUnknown, err)
	case err != nil:
		return err
	}
	if err := o.checkOnly(subject, then, now); err != nil {
		return err
	}
	if n := len(now.jobs); n < leastChecked {
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s: it has %s that ended: a check needs %d at least", now.source, kit.Plural(n, "job"), leastChecked))
	}
	k := &planCheck{Notes: slices.Concat(then.notes, now.notes)}
	cost := plan.MeasurePlanned(then.distribution, *delays.Schedule)
	k.Promised = promisedLateness{
		then.source, roundTo(then.distribution.Quantile(0.5).Seconds(), 1000), roundTo(cost.Mean.Seconds(), 10), roundTo(cost.P95.Seconds(), 10),
	}
	if err := k.measure(now, *delays.Schedule, cost); err != nil {
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s: %w", now.source, err))
	}
	if err := k.test(then, now); err != nil {
		return kit.Usage("--%s: %w", source.flag, err)
	}
	k.Holds = !k.Late && !k.Drifted
	if k.Drifted || k.Late && k.Found.How == computedHow { // else the same plan comes out
		late := o.late
		if !c.Flags().Changed("late") { // the goal that the schedule meets
			late = kit.ShortDuration(max(time.Second, cost.Mean.Round(time.Second)))
		}
		k.Next = o.planAgain(args, late, delays.Schedule.Jitter)
	}
	out := c.OutOrStdout()
	if o.output == "json" {
		err = kit.WriteJSON(out, k)
	} else {
		_, err = io.WriteString(out, k.text(terminal.ColumnsOf(out), terminal.ColoursOf(out)))
	}
	switch {
	case err != nil:
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("write the check: %w", err))
	case !k.Holds:
		return &kit.ExitError{Code: kit.ExitFailed}
	}
	return nil
}

// readPlanned finds out what the schedule was planned for.
func (o *planOptions) readPlanned(c *cobra.Command, subject *planSubject) (*knowledge, error) {
	if o.earlier != "" {
		return o.readFileOf("earlier", o.earlier, c, subject)
	}
	return o.readStated(c, subject)
}

// planAgain is the command that makes the next schedule.
func (o *planOptions) planAgain(args []string, late string, jitter time.Duration) string {
	words := slices.Concat([]string{"jobpoller", "plan"}, args, o.sources()[0].spell(), []string{"--late", late, "-o", "schedule"})
	if jitter > 0 {
		words = append(words, "--jitter", kit.ShortDuration(jitter))
	}
	if o.only != "" {
		words = append(words, "--only", o.only)
	}
	for i, word := range words {
		words[i] = shell.Quote(word)
	}
	return strings.Join(words, " ") + o.aws.Spell()
}

// measure compares the lateness of jobs with what the schedule promised.
func (k *planCheck) measure(now *knowledge, s pollcore.Planned, promised plan.Cost) error {
	late, how := now.lateness(), "measured"
	if len(late) < leastChecked {
		late, how = latenessOf(now.jobs, s), computedHow
	}
	n := len(late)
	if n < leastChecked {
		return fmt.Errorf("it says of %s how late they were seen or how long they took: a check needs %d at least", kit.Plural(n, "job"), leastChecked)
	}
	slices.Sort(late)
	mean, squares, over := 0.0, 0.0, 0
	for i, l := range late {
		off := l.Seconds() - mean
		mean += off / float64(i+1)
		squares += off * (l.Seconds() - mean)
		if l > promised.P95+clockError {
			over++
		}
	}
	spread := checkErrors * math.Sqrt(squares/float64(n-1)/float64(n))
	chance := binomialAtLeast(over, n, overP95)
	k.Found = foundLateness{
		How: how, Jobs: n, MeanLateSeconds: roundTo(mean, 10), FromSeconds: roundTo(max(0, mean-spread), 10), ToSeconds: roundTo(mean+spread, 10),
		P95LateSeconds: roundTo(late[n-1-n/20].Seconds(), 10), JobsOverP95: over, Chance: roundTo(chance, 1e4), //nolint:mnd // one in twenty is later
	}
	k.Late = mean-spread > (promised.Mean+clockError).Seconds() || chance < checkLevel
	return nil
}

// lateness is how late jobs were seen, where that is known.
func (k *knowledge) lateness() (all []time.Duration) {
	for _, j := range k.jobs {
		if j.Late != nil {
			all = append(all, max(0, *j.Late))
		}
	}
	return all
}

// latenessOf is how late a schedule sees the ends of jobs whose durations are known. The
// jobs, in order of their durations, take turns in all of its jitter.
func latenessOf(jobs []pastjobs.Job, s pollcore.Planned) (all []time.Duration) {
	var took []time.Duration
	for _, j := range jobs {
		if j.From == j.To {
			took = append(took, j.From)
		}
	}
	slices.Sort(took)
	times := []time.Duration{s.Before(1)}
	for i, t := range took {
		_, turn := math.Modf((float64(i) + 0.5) * math.Phi) // an even sequence
		t -= time.Duration(turn*(s.Jitter.Seconds()+1)) * time.Second
		for times[len(times)-1] < t {
			times = append(times, times[len(times)-1]+s.Before(len(times)+1))
		}
		n, _ := slices.BinarySearch(times, t)
		all = append(all, times[n]-t)
	}
	return all
}

// binomialAtLeast is how often so many of n jobs or more are what a share of all are.
func binomialAtLeast(count, n int, share float64) float64 {
	logFactorial := func(i int) float64 {
		v, _ := math.Lgamma(float64(i) + 1)
		return v
	}
	below := 0.0
	for i := range count {
		below += math.Exp(logFactorial(n) - logFactorial(i) - logFactorial(n-i) + float64(i)*math.Log(share) + float64(n-i)*math.Log1p(-share))
	}
	return min(max(1-below, 0), 1)
}

// test compares the durations with those that the schedule was planned for.
func (k *planCheck) test(then, now *knowledge) error {
	var drift plan.Drift
	var err error
	test, later := "one-sample Kolmogorov-Smirnov", unsure(now.jobs)
	if then.distribution.IsLearned() {
		test = "two-sample Kolmogorov-Smirnov"
		drift, err = plan.DriftBetween(unsure(then.jobs), later)
	} else {
		drift, err = plan.DriftFrom(then.distribution, later)
	}
	if err != nil {
		return err
	}
	k.Drift = durationDrift{
		Source: now.source, Jobs: len(later), MedianSeconds: roundTo(now.summary.P50.Seconds(), 1000),
		Test: test, Distance: roundTo(drift.Distance, 1000), Chance: roundTo(drift.Chance, 1e4), Level: checkLevel,
	}
	if then.summary != nil {
		k.Promised.MedianSeconds = roundTo(then.summary.P50.Seconds(), 1000)
	}
	k.Drifted = drift.Chance < checkLevel
	return nil
}

// unsure are the durations of jobs, as exact as services say times: half a second to
// either side.
func unsure(jobs []pastjobs.Job) []plan.Sample {
	all := make([]plan.Sample, len(jobs))
	for i, j := range jobs {
		all[i] = plan.Sample{From: max(0, j.From-clockError/2), To: j.To + clockError/2} //nolint:mnd // half
	}
	return all
}

// text is the check for people.
func (k *planCheck) text(columns int, colours terminal.Colours) string {
	var b strings.Builder
	wrapped := func(text string) {
		for _, line := range terminal.Wrap(text, columns) {
			terminal.Fprintf(&b, "%s\n", line)
		}
	}
	f, d := k.Found, k.Drift
	for _, line := range k.table(columns) {
		terminal.Fprintf(&b, "%s\n", line)
	}
	b.WriteString("\n")
	wrapped(fmt.Sprintf("lateness: the mean is from %s to %s (%g standard errors), %s for clocks; "+
		"%s of %s later than the promised p95 and %[4]s, p = %[7]s", lateText(f.FromSeconds), lateText(f.ToSeconds), checkErrors,
		kit.ShortDuration(clockError), thousands(float64(f.JobsOverP95)), many(f.Jobs, "job"), chanceText(f.Chance)))
	wrapped(fmt.Sprintf("durations: %s test of %s: distance %.2f, p = %s", d.Test, many(d.Jobs, "job"), d.Distance, chanceText(d.Chance)))
	for _, note := range k.Notes {
		wrapped("note: " + note)
	}
	b.WriteString("\n")
	style, verdict := terminal.Bad, "the durations have drifted"
	switch {
	case k.Holds:
		style, verdict = terminal.Good, "the plan holds"
	case k.Late && k.Drifted:
		verdict = "late more than planned: the durations have drifted"
	case k.Late && k.Next == "":
		verdict = "late more than planned, without a drift: something holds the polls up"
	case k.Late:
		verdict = "late more than planned"
	}
	for _, line := range terminal.Wrap(verdict, columns) {
		terminal.Fprintf(&b, "%s\n", colours.Paint(style, line))
	}
	if k.Next != "" {
		terminal.Fprintf(&b, "plan again: %s\n", k.Next)
	}
	return b.String()
}

// table returns the numbers in the columns that the terminal has room for. Where the jobs
// are from stands beside them, or below if that is too wide.
func (k *planCheck) table(columns int) []string {
	promised, found := k.Promised, k.Found
	rows := [][]string{
		{"", "jobs", "late: mean", "p95", "median"},
		{"promised", "", lateText(promised.MeanLateSeconds), lateText(promised.P95LateSeconds), lateText(promised.MedianSeconds)},
		{found.How, thousands(float64(found.Jobs)), lateText(found.MeanLateSeconds), lateText(found.P95LateSeconds), lateText(k.Drift.MedianSeconds)},
	}
	widths, width := []int{-10, 8, 11, 8, 8}, 45
	for _, goes := range []int{1, 4, 3} { // the text below has the jobs, too
		if width > columns {
			width -= widths[goes]
			widths[goes] = 0
		}
	}
	var lines []string
	for _, row := range rows {
		var line strings.Builder
		for n, cell := range row {
			if widths[n] != 0 {
				terminal.Fprintf(&line, "%*s", widths[n], cell)
			}
		}
		lines = append(lines, line.String())
	}
	if width+len("  ")+max(terminal.Width(promised.Source), terminal.Width(k.Drift.Source)) <= columns {
		lines[1] += "  " + promised.Source
		lines[2] += "  " + k.Drift.Source
		return lines
	}
	lines = append(lines, terminal.Wrap("promised: "+promised.Source, columns)...)
	return append(lines, terminal.Wrap(found.How+": "+k.Drift.Source, columns)...)
}

// chanceText writes how often a plan that holds looks so or worse.
func chanceText(chance float64) string {
	const least = 1e-4
	if chance < least {
		return "0.0001 or less"
	}
	return fmt.Sprintf("%.2g", chance)
}
