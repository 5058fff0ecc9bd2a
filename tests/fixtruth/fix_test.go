package fixtruth_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/fixtruth"
	"github.com/jobpoller/jobpoller/tests/race"
)

var (
	machines = flag.Int("machines", race.Of(12, 3), "how many machines are drawn")
	seed     = flag.Uint64("seed", 0, "the seed of the first machine")
	only     = flag.String("form", "", "only machines with these forms and faults are drawn, with commas between them")
	shown    = flag.Int("shown", 1, "how many examples of each kind are shown")
)

// each of so many machines is also replaced.
const replacedEach = 3

// maxWait is the bound that fix is given for a loop without one.
const maxWait = 30 * time.Minute

// changer changes a machine, and returns what was said of it.
type changer func(context.Context, *fixtruth.Drawn) ([]byte, fixtruth.Declared, error)

func reader(ctx context.Context) func([]byte) (*source.Definition, error) {
	return func(file []byte) (*source.Definition, error) {
		o := source.Options{Stdin: bytes.NewReader(file)}
		if bytes.Contains(file, []byte("${WaitSeconds}")) {
			o.Values = map[string]string{"WaitSeconds": "45"}
		}
		return source.LoadOne(ctx, source.Stdin, o)
	}
}

// replace replaces the loops of a machine.
func replace(ctx context.Context, d *fixtruth.Drawn) ([]byte, fixtruth.Declared, error) {
	o := fix.Options{Strategy: compile.Variables, MaxWait: maxWait, Express: d.Express, Models: models.Load}
	after, loops, err := fix.ApplyFile(ctx, d.Text, reader(ctx), o)
	declared := fixtruth.Declared{Replaced: true}
	for _, l := range loops {
		if l.Refused != "" {
			declared.Refused = append(declared.Refused, l.Refused)
			continue
		}
		f := fixtruth.Frame{Above: l.MaxWait}
		for _, r := range l.Routes {
			if r.Before != r.After {
				f.Statuses = append(f.Statuses, r.Status)
			}
		}
		for _, c := range l.Changes {
			frame(&f, c.Kind)
		}
		for _, path := range l.Uncounted {
			member, _, _ := strings.Cut(path, ".")
			f.Members = append(f.Members, member)
		}
		declared.Frames = append(declared.Frames, f)
	}
	return after, declared, err
}

// What a row says of a spelling, such as "COMPLETED" for "COMPLTED", and of members that have
// more than before, such as "CausePath has all of $.r.Job" and "$.r.reason becomes $.r.job.Reason".
var (
	spelled = regexp.MustCompile(`^"([^"]+)" for "`)
	widened = regexp.MustCompile(`(\w+) has all of|\$\.(\w+)\S* becomes`)
)

// saidOf is what the user of a machine says of statuses.
func saidOf(d *fixtruth.Drawn) map[string]lint.Meaning {
	said := map[string]lint.Meaning{}
	for status, means := range d.Said() {
		said[status] = lint.Meaning(means)
	}
	return said
}

// repair makes all repairs, also those that are offered: it accepts whatever may be.
func repair(ctx context.Context, d *fixtruth.Drawn) ([]byte, fixtruth.Declared, error) {
	o := fix.RepairOptions{Sure: true, MaxWait: maxWait, Express: d.Express, Said: saidOf(d), Models: models.Load}
	definition, err := reader(ctx)(d.Text)
	if err != nil {
		return nil, fixtruth.Declared{}, err
	}
	m, err := definition.Parse()
	if err != nil {
		return nil, fixtruth.Declared{}, err
	}
	for s := range m.All {
		for _, rule := range lint.Rules() {
			o.Accept = append(o.Accept, rule.Name+"@"+s.Name)
		}
	}
	after, repairs, err := fix.RepairFile(ctx, d.Text, reader(ctx), o)
	var declared fixtruth.Declared
	for _, r := range repairs {
		f := fixtruth.Frame{Absent: r.Rule == typecheck.AbsentMember}
		if m := spelled.FindStringSubmatch(r.About); m != nil {
			f.Spelled = m[1]
			f.Partly = slices.ContainsFunc(repairs, func(other fix.Repair) bool { return other.Rule == r.Rule && !other.Made })
		}
		for _, m := range widened.FindAllStringSubmatch(r.About, -1) {
			f.Members = append(f.Members, m[1], m[2])
		}
		for _, k := range r.Frame {
			frame(&f, k)
		}
		switch {
		case r.Made:
			declared.Frames = append(declared.Frames, f)
		case r.Reason != "":
			declared.Refused = append(declared.Refused, r.Rule+": "+r.Reason)
		}
	}
	return after, declared, err
}

// frame adds a kind of answers to a frame.
func frame(f *fixtruth.Frame, k trial.Kind) {
	f.Polls = append(f.Polls, k.Task)
	switch k.Sort {
	case trial.Status:
		f.Statuses = append(f.Statuses, k.Value)
		f.AnyOther = f.AnyOther || k.Value == "" || k.Value == trial.UnknownValue
	case trial.Fails:
		f.Errors = append(f.Errors, cmp.Or(k.Value, "States.ALL"))
	case trial.Never:
		if k.Value == "" {
			f.Above = maxWait
		} else {
			f.Stays = append(f.Stays, k.Value)
		}
	case trial.Bare, trial.Silent, trial.Items: // no scenario is so
	}
}

// Of a hundred machines lint has a table of leastRead, and of a hundred with a fault leastRepaired are repaired, where
// at least enoughMachines are drawn. Of someMachines lint has one table, and fix repairs one machine: else no table
// and no change would be judged.
const (
	leastRead      = 70
	leastRepaired  = 70
	enoughMachines = 100
	someMachines   = 12
	enoughOfForms  = 20
)

// repairedForms are forms of polls of which as many are repaired, each or together.
var repairedForms = [][]string{
	{"operation of a service polls"},
	{"HTTP Task polls"},
	{"nested machine polls"},
	{"ARN of a function polls"},
	{"count of all jobs", "count of any job", "all of several jobs", "any of several jobs"},
}

// TestReport says form by form what lint says of drawn machines and what fix makes of them.
// It fails where a table or the reason of a refusal is not true, where a change makes an undeclared difference, where
// too few tables are read, too few of the machines with a fault are repaired, of all or of a form of polls, and where
// one does not do then what its intact twin does.
func TestReport(t *testing.T) {
	t.Parallel()
	report := newReport()
	for s := *seed; report.all.machines < *machines; s++ {
		d := fixtruth.Draw(s)
		if !has(append(slices.Clone(d.Forms), d.Faults...), *only) {
			require.Less(t, s, *seed+1_000_000, "too few machines have %q", *only)
			continue
		}
		require.Empty(t, d.Misses(t.Context()), "seed %d: %v", s, d.Forms)
		report.begin(d)
		report.addTable(tableOf(t, d))
		report.addTwin(untrueOfIntact(t, d.Intact()))
		report.addChange(repaired, judge(t, d, repair))
		if s%replacedEach == 0 {
			report.addChange(replaced, judge(t, d, replace))
		}
	}
	t.Log("\n" + report.String())
	require.Empty(t, report.wrong, "see above, or run again with -seed SEED -machines 1")
	if *only == "" && *machines >= someMachines {
		require.Positive(t, report.all.right, "lint has no table")
		require.Positive(t, report.all.repaired, "fix repairs nothing")
	}
	if *only == "" && *machines >= enoughMachines {
		require.Positive(t, report.all.replaced, "fix replaces no loop")
		require.GreaterOrEqual(t, 100*report.all.right, leastRead*report.all.machines, "of too few machines lint has a table")
		require.GreaterOrEqual(t, 100*report.broken.repaired, leastRepaired*report.broken.machines, "too few of the machines with a fault are repaired")
		for _, forms := range repairedForms {
			faulty, changed := report.changedOf(forms)
			require.True(t, faulty < enoughOfForms || 100*changed >= leastRepaired*faulty, "%d of %d with a fault are repaired: %s", changed, faulty, forms)
		}
	}
}

// outcome is what became of a machine, and what was said of it.
type outcome struct {
	*fixtruth.Judgement

	declared fixtruth.Declared
	untrue   []string // of the reasons of refusals
}

// judge changes a machine, and judges what became of it.
func judge(t *testing.T, d *fixtruth.Drawn, change changer) outcome {
	t.Helper()
	after, declared, err := change(t.Context(), d)
	require.NoError(t, err, "seed %d", d.Seed)
	j, err := d.Judge(t.Context(), after, declared)
	require.NoError(t, err, "seed %d: %v, %v", d.Seed, d.Forms, d.Faults)
	return outcome{j, declared, untrueReasons(t, d, after, declared.Refused)}
}

// has tells whether names has all of a list with commas.
func has(names []string, all string) bool {
	for name := range strings.SplitSeq(all, ",") {
		if name != "" && !slices.Contains(names, name) {
			return false
		}
	}
	return true
}
