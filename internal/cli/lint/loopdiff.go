package lint

import (
	"cmp"
	"fmt"
	"maps"
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

// loopChange is a loop that another commit has otherwise, or only one of the two has. Its JSON
// members are a contract: see docs/reference/json.md.
type loopChange struct {
	File    string    `json:"file"`
	Machine string    `json:"stateMachine,omitempty"`
	Before  *pollLoop `json:"before,omitempty"`
	After   *pollLoop `json:"after,omitempty"`

	name  string
	lines []string // of both tables
}

// rename gives the files other names. A nil loopTables has none.
func (t *loopTables) rename(nameOf func(file string) string) {
	if t == nil {
		return
	}
	for i, m := range t.machines {
		now := *m.definition
		if now.File = nameOf(now.File); now.Template != "" {
			now.Template = nameOf(now.Template)
		}
		t.machines[i].definition = &now
	}
}

// machineKey is what makes a state machine the same before and after: its place in the template,
// if one names its file.
func machineKey(d *source.Definition) string {
	return kit.RelativeName(".", cmp.Or(d.Template, d.File)) + "#" + d.ID
}

// skip notes that nobody knows the loops of a machine: its definition cannot be parsed.
func (t *loopTables) skip(d *source.Definition) {
	if t != nil {
		t.unread[machineKey(d)] = true
	}
}

// compareLoops returns the loops that differ: those of after in their order, then those that are
// gone. Of nil loopTables none do.
func compareLoops(before, after *loopTables) []loopChange {
	if before == nil || after == nil {
		return nil
	}
	was := map[string][]*lint.Loop{}
	for i := range before.machines {
		m := &before.machines[i]
		if key := machineKey(m.definition); was[key] == nil {
			was[key] = pointers(m.loops)
		}
	}
	changes := []loopChange{}
	seen := maps.Clone(after.unread) // and a machine that several names give counts once
	for i := range after.machines {
		m := &after.machines[i]
		key := machineKey(m.definition)
		if seen[key] {
			continue
		}
		seen[key] = true
		old, gone := pairLoops(was[key], m.loops)
		for j := range m.loops {
			changes = addChange(changes, m, old[j], &m.loops[j])
		}
		for _, l := range gone {
			changes = addChange(changes, m, l, nil)
		}
	}
	for i := range before.machines {
		m := &before.machines[i]
		if key := machineKey(m.definition); !seen[key] {
			seen[key] = true
			for j := range m.loops {
				changes = addChange(changes, m, &m.loops[j], nil)
			}
		}
	}
	return changes
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

// describeChanges writes the loops that differ, each under the name of its state machine.
func describeChanges(changes []loopChange) string {
	var b strings.Builder
	for i, change := range changes {
		if i > 0 {
			b.WriteString("\n")
		}
		terminal.Fprintf(&b, "%s\n", change.name)
		for _, line := range change.lines {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return b.String()
}

// writeChanges writes the loops that differ as JSON, or as tables.
func writeChanges(c *cobra.Command, output string, changes []loopChange) error {
	if output == "json" {
		if err := kit.WriteJSON(c.OutOrStdout(), changes); err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
		return nil
	}
	terminal.Fprintf(c.OutOrStdout(), "%s", kit.PaintVerdicts(terminal.ColoursOf(c.OutOrStdout()), describeChanges(changes)))
	return nil
}
