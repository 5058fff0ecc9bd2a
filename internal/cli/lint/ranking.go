package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// ranking are the poll loops of an account, the most dangerous first, and of those the
// ones that cost most.
type ranking struct{ loops []rankedLoop }

// rankedLoop is a loop and what it is ranked by.
type rankedLoop struct {
	name       string // of the definition
	definition *source.Definition
	loop       lint.Loop
	out        pollLoop
	worst      diag.Severity // noFinding if no rule found something
	rules      []string
}

// noFinding is behind all severities.
const noFinding = diag.Note + 1

// worstOf is the severity of the worst that was found in a loop.
func worstOf(l *lint.Loop) diag.Severity {
	worst := noFinding
	for _, f := range l.Findings {
		worst = min(worst, f.Severity)
	}
	for _, row := range l.Rows {
		if row.Rule != "" {
			worst = min(worst, row.Severity)
		}
	}
	return worst
}

// String is a line for each loop.
func (r *ranking) String() string {
	if r == nil || len(r.loops) == 0 {
		return ""
	}
	r.sort()
	var b strings.Builder
	terminal.Fprintf(&b, "%s, the most dangerous first, with what one job costs that is polled for a day:\n", kit.Plural(len(r.loops), "poll loop"))
	for _, one := range r.loops {
		severity := "-"
		if one.worst < noFinding {
			severity = one.worst.String()
		}
		terminal.Fprintf(&b, "  %-7s  %8s  %s  %s", severity, one.cost(), one.name, one.poll())
		said := one.rules
		if len(one.loop.Rows) == 0 {
			said = append(slices.Clip(said), "statuses not judged")
		}
		if len(said) > 0 {
			b.WriteString("  " + strings.Join(said, ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// add adds the loops of a definition. A nil ranking takes none.
func (r *ranking) add(d *source.Definition, m *asl.StateMachine, o lint.Options) {
	if r == nil {
		return
	}
	for _, l := range lint.Loops(m, o) {
		one := rankedLoop{name: d.Name, definition: d, loop: l, out: newPollLoop(d, &l), worst: worstOf(&l)}
		one.rules = append(one.rules, one.out.Rules...)
		for _, row := range l.Rows {
			if row.Rule != "" {
				one.rules = append(one.rules, row.Rule)
			}
		}
		slices.Sort(one.rules)
		one.rules = slices.Compact(one.rules)
		r.loops = append(r.loops, one)
	}
}

// sort puts the loops into their order.
func (r *ranking) sort() {
	slices.SortStableFunc(r.loops, func(a, b rankedLoop) int {
		return cmp.Or(cmp.Compare(a.worst, b.worst), cmp.Compare(b.out.USDPerDay, a.out.USDPerDay), cmp.Compare(a.name, b.name))
	})
}

// cost is that of a day of polling; nothing where it is not known.
func (l *rankedLoop) cost() string {
	if l.loop.Express || l.out.USDPerDay == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.2f", l.out.USDPerDay)
}

// poll names the loop in its state machine.
func (l *rankedLoop) poll() string {
	if l.loop.Poll != nil {
		return l.loop.Poll.Name
	}
	return strings.Join(l.out.States, " -> ")
}
