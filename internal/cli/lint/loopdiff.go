package lint

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// loopChange is a loop that another commit has otherwise, or only one of the two has; or a state
// machine that could not be read. Its JSON members are a contract: see docs/reference/json.md.
type loopChange struct {
	File    string    `json:"file"`
	Machine string    `json:"stateMachine,omitempty"`
	Before  *pollLoop `json:"before,omitempty"`
	After   *pollLoop `json:"after,omitempty"`
	Unread  side      `json:"unread,omitempty"`

	name  string
	lines []string // of both tables
}

// side is where a definition could not be read.
type side string

const (
	unreadNow    side = "after"
	unreadBefore side = "before"
	unreadApart  side = "submodule" // before
)

// pairs are the state machines of before and after that are the same.
type pairs struct {
	before, after []*machineLoops
	was           map[*machineLoops]*machineLoops
	taken         map[*machineLoops]bool // of before
	files         map[source.Home]bool   // of after: definitions that no other file names
}

// pairMachines finds what each state machine was: the one of its name in its template, else one
// with its definition. A definition that no other file named is that of all that name it now, and
// one that no file names any more is that of all that named it.
func pairMachines(before, after *loopTables) *pairs {
	p := &pairs{before.unique(), after.unique(), map[*machineLoops]*machineLoops{}, map[*machineLoops]bool{}, map[source.Home]bool{}}
	byKey := map[machineKey]*machineLoops{}
	byHome := map[source.Home][]*machineLoops{}
	for _, m := range p.before {
		byKey[keyOf(m.definition)] = m
		byHome[homeOf(m.definition)] = append(byHome[homeOf(m.definition)], m)
	}
	for _, m := range p.after {
		if old := byKey[keyOf(m.definition)]; old != nil {
			p.was[m], p.taken[old] = old, true
		}
		if m.definition.Template == "" {
			p.files[homeOf(m.definition)] = true
		}
	}
	for _, m := range p.after {
		for _, old := range byHome[homeOf(m.definition)] {
			if p.was[m] == nil && (!p.taken[old] || old.definition.Template == "" || m.definition.Template == "") {
				p.was[m], p.taken[old] = old, true
			}
		}
	}
	return p
}

// isGone tells whether a state machine of before is not there any more.
func (p *pairs) isGone(m *machineLoops) bool { return !p.taken[m] && !p.files[homeOf(m.definition)] }

// compareLoops returns the loops that differ: those of after in their order, then those that are
// gone. Of nil loopTables none do.
func compareLoops(before, after *loopTables) []loopChange {
	if before == nil || after == nil {
		return nil
	}
	changes := []loopChange{}
	p := pairMachines(before, after)
	for _, m := range p.after {
		was := p.was[m]
		if was == nil {
			was = &machineLoops{}
			switch {
			case len(m.loops) == 0:
				continue
			case before.isApart(m.definition):
				changes = append(changes, m.unread(unreadApart))
				continue
			case before.isUnread(m.definition):
				changes = append(changes, m.unread(unreadBefore))
			}
		}
		old, gone := pairLoops(pointers(was.loops), m.loops)
		for j := range m.loops {
			changes = addChange(changes, m, old[j], &m.loops[j])
		}
		for _, l := range gone {
			changes = addChange(changes, m, l, nil)
		}
	}
	for _, m := range p.before {
		switch {
		case !p.isGone(m) || len(m.loops) == 0:
		case after.isUnread(m.definition):
			changes = append(changes, m.unread(unreadNow))
		default:
			for j := range m.loops {
				changes = addChange(changes, m, &m.loops[j], nil)
			}
		}
	}
	return changes
}

func (m *machineLoops) unread(at side) loopChange {
	return loopChange{File: m.definition.File, Machine: m.definition.ID, Unread: at, name: m.name}
}

func pointers(loops []lint.Loop) []*lint.Loop {
	all := make([]*lint.Loop, len(loops))
	for i := range loops {
		all[i] = &loops[i]
	}
	return all
}

// pairLoops finds for each loop of a machine what it was: the loop at the same state, else one
// that asks the same. Those that are left are gone.
func pairLoops(before []*lint.Loop, after []lint.Loop) (old, gone []*lint.Loop) {
	old = make([]*lint.Loop, len(after))
	taken := make([]bool, len(before))
	for _, same := range []func(a, b *lint.Loop) bool{
		func(a, b *lint.Loop) bool { return loopKey(a) == loopKey(b) },
		func(a, b *lint.Loop) bool {
			return a.Operation != "" && a.Operation == b.Operation && a.Target == b.Target
		},
	} {
		for i := range after {
			for j := range before {
				if old[i] == nil && !taken[j] && same(before[j], &after[i]) {
					old[i], taken[j] = before[j], true
				}
			}
		}
	}
	for j, l := range before {
		if !taken[j] {
			gone = append(gone, l)
		}
	}
	return old, gone
}

// loopKey is where a loop is, as the place of a finding in a baseline.
func loopKey(l *lint.Loop) baseline.Key {
	return baseline.Finding{Pointer: l.TurnsAt().Position.Pointer}.Key()
}

// addChange adds a loop that differs. One of the two may be nil.
func addChange(changes []loopChange, m *machineLoops, before, after *lint.Loop) []loopChange {
	lines := compareLines(linesOf(before), linesOf(after))
	if lines == nil {
		return changes
	}
	return append(changes, loopChange{
		File: m.definition.File, Machine: m.definition.ID, Before: loopOf(m, before), After: loopOf(m, after), name: m.name, lines: lines,
	})
}

// loopOf is a loop as JSON has it; nil for none.
func loopOf(m *machineLoops, l *lint.Loop) *pollLoop {
	if l == nil {
		return nil
	}
	out := newPollLoop(m.definition, l)
	return &out
}

// linesOf are the lines of a loop's table, and what its polls cost and how late they are.
func linesOf(l *lint.Loop) []string {
	if l == nil {
		return nil
	}
	return append(strings.Split(strings.TrimSuffix(l.String(), "\n"), "\n"), describeFigures(l)...)
}

// describeFigures says what a day of polls costs, and how late the loop sees an end.
func describeFigures(l *lint.Loop) []string {
	var parts []string
	if usd := cents(l.Turn.DollarsPerDay()); usd > 0 && !l.Express {
		parts = append(parts, fmt.Sprintf("a day of polls costs $%.2f", usd))
	}
	if late := max(l.Turn.Wait, l.Turn.Longest); late > 0 {
		parts = append(parts, fmt.Sprintf("sees the end up to %s late", kit.ShortDuration(late.Round(time.Millisecond))))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"  " + strings.Join(parts, "; ")}
}

// gaps are those between columns, which are as wide as the longest cell wants.
var gaps = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` {2,}`) })

// compareLines writes what differs as a diff does, with all lines; nil if nothing differs but the
// widths of columns.
func compareLines(before, after []string) []string {
	same := func(i, j int) bool {
		return gaps().ReplaceAllString(before[i], "  ") == gaps().ReplaceAllString(after[j], "  ")
	}
	// common[i][j] is how many lines the two have in common from i and j on.
	common := make([][]int, len(before)+1)
	for i := len(before); i >= 0; i-- {
		common[i] = make([]int, len(after)+1)
		for j := len(after) - 1; j >= 0 && i < len(before); j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); same(i, j) {
				common[i][j] = max(common[i][j], common[i+1][j+1]+1)
			}
		}
	}
	if common[0][0] == len(before) && len(before) == len(after) {
		return nil
	}
	var lines []string
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && same(i, j):
			lines = append(lines, "  "+after[j])
			i, j = i+1, j+1
		case i < len(before) && (j == len(after) || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, "- "+before[i])
			i++
		default:
			lines = append(lines, "+ "+after[j])
			j++
		}
	}
	return lines
}

// describeChanges writes the loops that differ from those of base, each under the name of its state machine.
func describeChanges(changes []loopChange, base string) string {
	var b strings.Builder
	for i, change := range changes {
		if i > 0 {
			b.WriteString("\n")
		}
		terminal.Fprintf(&b, "%s\n", change.name)
		switch change.Unread {
		case unreadNow:
			b.WriteString("! not compared: lint cannot read the definition\n")
		case unreadBefore:
			terminal.Fprintf(&b, "! lint cannot read the definition of %s: all loops count as new\n", base)
		case unreadApart:
			terminal.Fprintf(&b, "! not compared: git does not have the submodule as %s has it\n", base)
		}
		for _, line := range change.lines {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return b.String()
}

// writeChanges writes the loops that differ from those of base as JSON, or as tables.
func writeChanges(c *cobra.Command, output, base string, changes []loopChange) error {
	if output == "json" {
		if err := kit.WriteJSON(c.OutOrStdout(), changes); err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
		return nil
	}
	terminal.Fprintf(c.OutOrStdout(), "%s", kit.PaintVerdicts(terminal.ColoursOf(c.OutOrStdout()), describeChanges(changes, base)))
	return nil
}
