package fixtruth_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
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
	shown    = flag.Int("shown", 1, "how many undeclared differences of a kind are shown")
)

// maxWait is the bound that fix is given for a loop without one.
const maxWait = 2 * time.Hour

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
		declared.Frames = append(declared.Frames, f)
	}
	return after, declared, err
}

// repair makes all repairs, also those that are offered.
func repair(ctx context.Context, d *fixtruth.Drawn) ([]byte, fixtruth.Declared, error) {
	o := fix.RepairOptions{Sure: true, MaxWait: maxWait, Express: d.Express, Models: models.Load}
	after, repairs, err := fix.RepairFile(ctx, d.Text, reader(ctx), o)
	for _, r := range repairs {
		if r.Class == fix.Offered {
			o.Accept = append(o.Accept, r.Name())
		}
	}
	if err == nil && len(o.Accept) > 0 {
		after, repairs, err = fix.RepairFile(ctx, d.Text, reader(ctx), o)
	}
	var declared fixtruth.Declared
	for _, r := range repairs {
		// Such as "COMPLETED" for "COMPLTED".
		f := fixtruth.Frame{Breaks: strings.HasPrefix(r.About, `"`) || r.Rule == typecheck.AbsentMember}
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
	switch k.Sort {
	case trial.Status:
		f.Statuses = append(f.Statuses, k.Value)
		f.AnyOther = f.AnyOther || k.Value == "" || k.Value == trial.UnknownValue
	case trial.Fails:
		f.Errors = append(f.Errors, k.Value)
	case trial.Never:
		f.Above = maxWait
	case trial.Bare, trial.Silent: // no scenario is so
	}
}

func TestReportOfReplacing(t *testing.T) {
	t.Parallel()
	reportOf(t, "replace", replace, 0)
}

func TestReportOfRepairs(t *testing.T) {
	t.Parallel()
	reportOf(t, "repair", repair, leastChanged)
}

// leastChanged is how many of a hundred machines with a fault are changed, where at least
// mostChance are drawn.
const (
	leastChanged = 70
	mostChance   = 100
)

// known are the undeclared differences of machines, by "way seed kind": they can only
// become fewer.
func known(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/known.tsv")
	require.NoError(t, err)
	all := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 4, line)
		all[strings.Join(columns[:3], " ")] = true
	}
	return all
}

// reportOf says form by form what became of the machines. It fails where one has an
// undeclared difference that is not known, where one that is known is gone, and where too
// few of the machines with a fault are changed.
func reportOf(t *testing.T, way string, change changer, least int) {
	t.Helper()
	report, open := newTally(), known(t)
	var wrong []string
	for s := *seed; report.all.machines < *machines; s++ {
		d := fixtruth.Draw(s)
		if !has(append(slices.Clone(d.Forms), d.Faults...), *only) {
			require.Less(t, s, *seed+1_000_000, "too few machines have %q", *only)
			continue
		}
		require.Empty(t, d.Misses(t.Context()), "seed %d: %v", s, d.Forms)
		after, declared, err := change(t.Context(), d)
		require.NoError(t, err, "seed %d", s)
		j, err := d.Judge(t.Context(), after, declared)
		require.NoError(t, err, "seed %d: %v, %v", s, d.Forms, d.Faults)
		if !j.Changed {
			require.Empty(t, j.Undeclared, "seed %d", s)
		}
		report.add(d, declared, j)
		for _, kind := range kindsOf(j) {
			key := fmt.Sprintf("%s %d %s", way, s, kind)
			if !open[key] {
				wrong = append(wrong, fmt.Sprintf("seed %d: an undeclared difference: %s", s, kind))
			}
			delete(open, key)
		}
		for key := range open {
			if strings.HasPrefix(key, fmt.Sprintf("%s %d ", way, s)) {
				wrong = append(wrong, fmt.Sprintf("the difference %q is gone: strike it from testdata/known.tsv", key))
			}
		}
	}
	t.Log("\n" + report.String())
	require.Empty(t, wrong, "see above, or run again with -seed SEED -machines 1")
	if *only != "" || *machines < mostChance {
		return
	}
	require.GreaterOrEqual(t, 100*report.broken.changed, least*report.broken.machines, "too few of the machines with a fault are changed")
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

// row counts what became of machines.
type row struct{ machines, changed, refused, unseen, undeclared, shown, mended, left, third, rows int }

func (r row) String() string {
	return fmt.Sprintf("%8d %8d %8d %8d %11d %8d %8d %8d %8d %8d", r.machines, r.changed, r.refused, r.unseen, r.undeclared, r.shown, r.mended, r.left, r.third, r.rows)
}

// tally is the report.
type tally struct {
	all, broken    row // broken are the machines with a fault
	forms, faults  map[string]*row
	reasons, kinds map[string]int
	examples       map[string][]string
	first          map[string][]uint64
}

func newTally() *tally {
	return &tally{
		forms: map[string]*row{}, faults: map[string]*row{}, reasons: map[string]int{}, kinds: map[string]int{}, examples: map[string][]string{}, first: map[string][]uint64{},
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func place(rows map[string]*row, name string) *row {
	if rows[name] == nil {
		rows[name] = &row{}
	}
	return rows[name]
}

func (t *tally) String() string {
	var b strings.Builder
	const head = "%-36s machines  changed  refused   unseen  undeclared   faulty   mended     left    third     rows\n"
	table := func(title string, rows map[string]*row) {
		fmt.Fprintf(&b, head, title)
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(&b, "%-36s%s\n", name, rows[name])
		}
		b.WriteByte('\n')
	}
	table("form", t.forms)
	table("fault", t.faults)
	table("", map[string]*row{"all": &t.all, "all with a fault": &t.broken})
	for title, counts := range map[string]map[string]int{"Refused because:": t.reasons, "Undeclared differences, in machines:": t.kinds} {
		b.WriteString(title + "\n")
		names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int { return cmp.Or(counts[y]-counts[x], cmp.Compare(x, y)) })
		for _, name := range names {
			fmt.Fprintf(&b, "%6d %s", counts[name], name)
			if seeds := t.first[name]; seeds != nil {
				fmt.Fprintf(&b, " (seeds %v)", seeds)
			}
			b.WriteByte('\n')
			for _, text := range t.examples[name] {
				b.WriteString("    " + text + "\n")
			}
		}
	}
	return b.String()
}

func (t *tally) add(d *fixtruth.Drawn, declared fixtruth.Declared, j *fixtruth.Judgement) {
	rows := []*row{&t.all}
	for _, name := range d.Forms {
		rows = append(rows, place(t.forms, name))
	}
	for _, name := range d.Faults {
		rows = append(rows, place(t.faults, name))
	}
	if len(d.Faults) == 0 {
		rows = append(rows, place(t.faults, "no fault"))
	} else {
		rows = append(rows, &t.broken)
	}
	for _, r := range rows {
		r.machines++
		r.changed += one(j.Changed)
		r.refused += one(len(declared.Refused) > 0)
		r.unseen += one(!j.Changed && len(declared.Refused) == 0)
		r.undeclared += one(len(j.Undeclared) > 0)
		r.shown += one(j.Shown > 0)
		r.mended += one(j.Shown > 0 && j.Mended == j.Shown)
		r.left += one(j.Left > 0)
		r.third += one(j.Third > 0)
		r.rows += one(j.Rows > 0)
	}
	for _, reason := range declared.Refused {
		t.reasons[reason]++
	}
	for _, kind := range kindsOf(j) {
		t.kinds[kind]++
		if len(t.examples[kind]) < *shown {
			text := j.Undeclared[slices.IndexFunc(j.Undeclared, func(u fixtruth.Difference) bool { return string(u.Kind) == kind })].String()
			t.examples[kind] = append(t.examples[kind], fmt.Sprintf("seed %d: %s\n      %s", d.Seed, text, strings.Join(append(slices.Clone(d.Forms), d.Faults...), ", ")))
		}
		if len(t.first[kind]) < 8 {
			t.first[kind] = append(t.first[kind], d.Seed)
		}
	}
}

// kindsOf are the kinds of the undeclared differences, sorted.
func kindsOf(j *fixtruth.Judgement) []string {
	var kinds []string
	for _, u := range j.Undeclared {
		kinds = append(kinds, string(u.Kind))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
