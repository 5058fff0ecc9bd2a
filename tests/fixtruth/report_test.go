package fixtruth_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/tests/fixtruth"
)

// way is how a machine is changed.
type way string

const (
	repaired way = "repair"
	replaced way = "replace"
)

// row counts what became of machines.
type row struct {
	machines int
	// A table of lint is right or wrong in all that the runs show, or there is none.
	right, wrong, none int
	// Machines are repaired, or refused, or nothing is found in them. Of those that are
	// repaired and whose faults show in a frame, mended do there what their twins do. In
	// machines that are left a fault shows in no frame.
	repaired, refused, unseen, mended, missed, left int
	// Of the machines with a fault, changed are repaired.
	faulty, changed int
	// Of the machines that are tried, replaced are replaced.
	tried, replaced int
	undeclared      int
}

var columns = []string{"machines", "true", "false", "none", "repaired", "mended", "missed", "left", "refused", "unseen", "faulty", "changed", "tried", "replaced", "undeclared"}

func (r *row) String() string {
	var b strings.Builder
	for i, n := range []int{r.machines, r.right, r.wrong, r.none, r.repaired, r.mended, r.missed, r.left, r.refused, r.unseen, r.faulty, r.changed, r.tried, r.replaced, r.undeclared} {
		fmt.Fprintf(&b, " %*d", len(columns[i]), n)
	}
	return b.String()
}

// count counts texts, and keeps the seeds and examples of some.
type count struct {
	number   map[string]int
	seeds    map[string][]uint64
	examples map[string][]string
}

func newCount() *count {
	return &count{map[string]int{}, map[string][]uint64{}, map[string][]string{}}
}

func (c *count) add(text string, d *fixtruth.Drawn, example string) {
	const mostSeeds = 8
	c.number[text]++
	if len(c.seeds[text]) < mostSeeds {
		c.seeds[text] = append(c.seeds[text], d.Seed)
	}
	if example != "" && len(c.examples[text]) < *shown {
		c.examples[text] = append(c.examples[text], fmt.Sprintf("seed %d: %s\n      %s", d.Seed, example, strings.Join(append(slices.Clone(d.Forms), d.Faults...), ", ")))
	}
}

// report is what became of machines, form by form.
type report struct {
	all, broken   row // broken are the machines with a fault
	forms, faults map[string]*row
	reasons       map[way]*count // of refusals
	differences   *count
	wrong         []string // what must not be

	drawn *fixtruth.Drawn // the last
	rows  []*row          // of the last
}

func newReport() *report {
	return &report{
		forms: map[string]*row{}, faults: map[string]*row{}, differences: newCount(),
		reasons: map[way]*count{repaired: newCount(), replaced: newCount()},
	}
}

func (r *report) String() string {
	var b strings.Builder
	table := func(title string, rows map[string]*row) {
		fmt.Fprintf(&b, "%-38s %s\n", title, strings.Join(columns, " "))
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(&b, "%-38s%s\n", name, rows[name])
		}
		b.WriteByte('\n')
	}
	list := func(title string, c *count) {
		b.WriteString(title + "\n")
		for _, text := range slices.SortedFunc(maps.Keys(c.number), func(x, y string) int { return cmp.Or(c.number[y]-c.number[x], cmp.Compare(x, y)) }) {
			fmt.Fprintf(&b, "%6d %s (seeds %v)\n", c.number[text], text, c.seeds[text])
			for _, example := range c.examples[text] {
				b.WriteString("    " + example + "\n")
			}
		}
		b.WriteByte('\n')
	}
	table("form", r.forms)
	table("fault", r.faults)
	table("", map[string]*row{"all": &r.all, "all with a fault": &r.broken})
	fmt.Fprintf(&b, "%d machines are drawn: fix repairs each, and replaces the loops of a copy of %d.\n", r.all.machines, r.all.tried)
	fmt.Fprintf(&b, "Of %d with a fault %d are changed; the fault shows in a frame of %d, of which %d do there what the intact twin does.\n\n",
		r.broken.machines, r.broken.repaired, r.broken.mended+r.broken.missed, r.broken.mended)
	list("Findings that no repair mends, because:", r.reasons[repaired])
	list("Loops that are not replaced, because:", r.reasons[replaced])
	list("Wrong:", r.differences)
	return b.String()
}

// changedOf are how many machines of some forms have a fault, and how many of these are changed.
func (r *report) changedOf(forms []string) (faulty, changed int) {
	for _, name := range forms {
		if of := r.forms[name]; of != nil {
			faulty, changed = faulty+of.faulty, changed+of.changed
		}
	}
	return faulty, changed
}

// begin counts a machine.
func (r *report) begin(d *fixtruth.Drawn) {
	at := func(rows map[string]*row, name string) {
		if rows[name] == nil {
			rows[name] = &row{}
		}
		r.rows = append(r.rows, rows[name])
	}
	r.drawn, r.rows = d, []*row{&r.all}
	for _, name := range d.Forms {
		at(r.forms, name)
	}
	for _, name := range d.Faults {
		at(r.faults, name)
	}
	if len(d.Faults) == 0 {
		at(r.faults, "no fault")
	} else {
		r.rows = append(r.rows, &r.broken)
	}
	r.count(func(to *row) { to.machines++ })
	if len(d.Faults) > 0 {
		r.count(func(to *row) { to.faulty++ })
	}
}

func (r *report) count(add func(*row)) {
	for _, to := range r.rows {
		add(to)
	}
}

// fail notes what must not be.
func (r *report) fail(kind, text string) {
	r.differences.add(kind, r.drawn, text)
	r.wrong = append(r.wrong, fmt.Sprintf("seed %d: %s", r.drawn.Seed, kind))
}

// addTable counts what lint's table of the machine says that is not so.
func (r *report) addTable(rows int, untrue []string) {
	switch {
	case len(untrue) > 0:
		r.count(func(to *row) { to.wrong++ })
		r.fail("a table that is not true", strings.Join(untrue, "; "))
	case rows == 0:
		r.count(func(to *row) { to.none++ })
	default:
		r.count(func(to *row) { to.right++ })
	}
}

// addTwin counts what lint says of the twin that is not so.
func (r *report) addTwin(untrue []string) {
	if len(untrue) > 0 {
		r.fail("what lint says of a machine without a fault", strings.Join(untrue, "; "))
	}
}

// addChange counts what became of the machine.
func (r *report) addChange(w way, o outcome) {
	switch {
	case w == replaced:
		r.count(func(to *row) { to.tried++ })
		if o.Changed {
			r.count(func(to *row) { to.replaced++ })
		}
	case o.Changed:
		r.count(func(to *row) { to.repaired++ })
		if len(r.drawn.Faults) > 0 {
			r.count(func(to *row) { to.changed++ })
		}
		if o.Framed > 0 && len(o.Missed) == 0 {
			r.count(func(to *row) { to.mended++ })
		}
	case len(o.declared.Refused) > 0:
		r.count(func(to *row) { to.refused++ })
	default:
		r.count(func(to *row) { to.unseen++ })
	}
	for _, reason := range o.declared.Refused {
		r.reasons[w].add(reason, r.drawn, "")
	}
	if len(o.untrue) > 0 {
		r.fail("a reason that is not true", strings.Join(o.untrue, "; "))
	}
	if w == repaired && o.Shown > o.Framed {
		r.count(func(to *row) { to.left++ })
	}
	if w == repaired && o.Changed && len(o.Missed) > 0 {
		r.count(func(to *row) { to.missed++ })
		r.fail("a repaired machine that does not do what its twin does", o.Missed[0].String())
	}
	if len(o.Undeclared) > 0 {
		r.count(func(to *row) { to.undeclared++ })
		r.fail(fmt.Sprintf("undeclared in a %s: %s", w, o.Undeclared[0].Kind), o.Undeclared[0].String())
	}
}
