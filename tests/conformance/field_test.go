package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	lintcommand "github.com/jobpoller/jobpoller/internal/cli/lint"
	"github.com/jobpoller/jobpoller/internal/schema/schematest"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// fieldSuites are small machines in the forms that people write. A case is one thing
// that a careful reader says of one of them: see tests/field.
var fieldSuites = []suite{{name: "field", folder: "field", cases: 967, run: runField}}

// openFile lists the cases that do not pass yet: machine, aspect, what comes instead.
const openFile = fieldFolder + "/open.tsv"

// laterFolders are folders of the corpus that nobody has judged: other sources.
var laterFolders = []string{"35", "36", "37", "sources"}

// aboutAllStates are the rules about a whole loop: a finding may stand at any of its
// states.
var aboutAllStates = []string{lint.UnboundedLoop, lint.LoopingDefault, lint.EventBudget, lint.HotLoop, lint.ShortInterval}

// saidFinding and saidLoop are what the command says, as docs/reference/json.md has it.
type (
	saidFinding struct{ Rule, Severity, Pointer string }
	saidLoop    struct {
		States           []string
		Operation, Entry string
		Rows             []saidRow
		Errors           []saidRow
		Bound            struct {
			Kind    string
			Polls   int
			Seconds float64
		}
	}
	saidRow struct {
		Values, Names, Routes []string
		Meaning               string
		Ends                  lint.End
	}
)

// runField compares what lint says with what must be said. It fails when a case of
// openFile passes, and when another does not.
func runField(t *testing.T, folder string) result {
	t.Helper()
	requireJudged(t, folder)
	said := map[string][]fieldCase{}
	for name, m := range readField(t) {
		said[name] = compareField(t, folder, m)
	}
	for _, p := range readPairs(t, folder) {
		if p.kind != "wrong" { // lint has nothing to say of the edit
			said["repairs/"+p.name] = p.lint(t)
		}
	}
	return compareOpen(t, openFile, said)
}

// requireJudged makes sure that each machine of the corpus has an expectation, but for
// laterFolders.
func requireJudged(t *testing.T, folder string) {
	t.Helper()
	judged := map[string]bool{}
	for _, m := range readField(t) {
		file, _, _ := strings.Cut(m.Machine, "#")
		judged[file] = true
	}
	for _, pattern := range []string{"*/*.asl.json", "*/*.asl.yaml", "*/*/template.yaml"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			name, err := filepath.Rel(folder, file)
			require.NoError(t, err)
			top, _, _ := strings.Cut(name, "/")
			require.NotEqual(t, judged[name], slices.Contains(laterFolders, top) || top == "repairs", name)
		}
	}
}

// compareField compares a machine.
func compareField(t *testing.T, folder string, m *fieldMachine) []fieldCase {
	t.Helper()
	cases := compareFindings(m, lintLines(t, folder+"/"+m.Machine))
	if m.Loops == nil {
		return cases
	}
	var loops []saidLoop
	runLint(t, &loops, "--loops", folder+"/"+m.Machine)
	for _, want := range *m.Loops {
		at := "loop " + want.States[0] + ": "
		i := slices.IndexFunc(loops, func(l saidLoop) bool { return sameElements(l.States, want.States) })
		if i < 0 {
			for _, aspect := range want.aspects() {
				cases = append(cases, fieldCase{at + aspect, "no such loop"})
			}
			continue
		}
		for _, c := range want.compare(t, &loops[i]) {
			cases = append(cases, fieldCase{at + c.aspect, c.instead})
		}
		loops = slices.Delete(loops, i, i+1)
	}
	var others []string
	for _, l := range loops {
		others = append(others, strings.Join(l.States, " "))
	}
	return append(cases, fieldCase{"no other loops", strings.Join(others, "; ")})
}

// lintLines are the findings of a file: severity, rule, state.
func lintLines(t *testing.T, file string) []string {
	t.Helper()
	var findings []saidFinding
	runLint(t, &findings, file)
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s %s %s", f.Severity, f.Rule, stateAt(f.Pointer)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// runLint runs the command, and reads what it says.
func runLint(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, complaints bytes.Buffer
	command := lintcommand.New()
	command.SilenceUsage, command.SilenceErrors = true, true // as the root command has it
	code := kit.Execute(t.Context(), command, append([]string{"-o", "json"}, args...), &out, &complaints)
	require.Contains(t, []int{0, 1}, code, "%v: %s", args, complaints.String())
	printed := schematest.Printed{Path: "jobpoller lint", Changed: command.Flags().Changed, Output: "json", Text: out.Bytes()}
	require.NoError(t, printed.Check("../.."), "%v", args)
	require.NoError(t, json.Unmarshal(out.Bytes(), into), "%v: %s", args, complaints.String())
}

// compareFindings compares the findings: each that must be there, and that there is
// no other.
func compareFindings(m *fieldMachine, said []string) []fieldCase {
	var cases []fieldCase
	for _, want := range m.Findings {
		places, found := m.places(want), fieldCase{aspect: want}
		i := slices.IndexFunc(said, func(line string) bool { return slices.Contains(places, line) })
		if i < 0 {
			found.instead = "not found"
		} else {
			said = slices.Delete(said, i, i+1)
		}
		cases = append(cases, found)
	}
	others := slices.DeleteFunc(said, func(line string) bool { return slices.Contains(m.Allowed, line) })
	return append(cases, fieldCase{"no other findings", strings.Join(others, "; ")})
}

// places are a finding as it stands, and one about a whole loop at each of its states.
func (m *fieldMachine) places(finding string) []string {
	out := []string{finding}
	parts := strings.SplitN(finding, " ", 3)
	if !slices.Contains(aboutAllStates, parts[1]) || m.Loops == nil {
		return out
	}
	for _, l := range *m.Loops {
		if slices.Contains(l.States, parts[2]) {
			for _, state := range l.States {
				out = append(out, parts[0]+" "+parts[1]+" "+state)
			}
		}
	}
	return out
}

// aspects are the names of what is compared of a loop.
func (l *fieldLoop) aspects() []string {
	out := []string{"polls " + l.Polls}
	if l.Entry != "" {
		out = append(out, "as "+l.Entry)
	}
	return append(append(out, l.Rows...), "bound "+l.Bound)
}

// compare compares a loop, aspect by aspect.
func (l *fieldLoop) compare(t *testing.T, said *saidLoop) []fieldCase {
	t.Helper()
	differs := func(same bool, instead string) string {
		if same {
			return ""
		}
		return instead
	}
	cases := []fieldCase{{"polls " + l.Polls, differs(said.Operation == l.Polls, "polls "+said.Operation)}}
	if l.Entry != "" {
		cases = append(cases, fieldCase{"as " + l.Entry, differs(said.Entry == l.Entry, "as "+said.Entry)})
	}
	named := map[string]bool{}
	for _, text := range l.Rows {
		for _, value := range parseRow(t, text).values {
			named[value] = true
		}
	}
	for _, text := range l.Rows {
		row := parseRow(t, text)
		var instead []string
		for _, value := range row.values {
			if s := l.compareValue(value, &row, said); s != "" && !slices.Contains(instead, s) {
				instead = append(instead, s)
			}
		}
		if slices.Contains(row.values, anyOther) {
			instead = append(instead, l.compareUnnamed(&row, named, said)...)
		}
		cases = append(cases, fieldCase{text, strings.Join(instead, "; ")})
	}
	bound := said.Bound.Kind
	switch lint.BoundKind(bound) {
	case lint.ByCount:
		bound += fmt.Sprintf(" %d polls", said.Bound.Polls)
	case lint.ByTimeout:
		bound += fmt.Sprintf(" %g s", said.Bound.Seconds)
	case lint.Unbounded, lint.ByTime, lint.ByBranch, lint.ByOther:
	}
	return append(cases, fieldCase{"bound " + l.Bound, differs(bound == l.Bound, "bound "+bound)})
}

// compareValue compares what the loop does with a value, and returns what it says
// instead.
func (l *fieldLoop) compareValue(value string, want *fieldRow, said *saidLoop) string {
	rows := said.Rows
	name, isError := strings.CutPrefix(value, "error ")
	if isError {
		rows = said.Errors
	}
	i := slices.IndexFunc(rows, func(r saidRow) bool {
		switch {
		case isError:
			return slices.Contains(r.Names, name)
		case value == anyOther:
			return len(r.Values) == 0
		}
		return slices.Contains(r.Values, value)
	})
	if i < 0 {
		return value + ": no row"
	}
	row := rows[i]
	if (want.meaning == "-" || row.Meaning == want.meaning) && l.goes(want.ways, &row) {
		return ""
	}
	return fmt.Sprintf("%s: %s, %s -> %s", value, row.Meaning, row.Ends, strings.Join(row.Routes, ", "))
}

// compareUnnamed compares values that no row names with any other value.
func (l *fieldLoop) compareUnnamed(want *fieldRow, named map[string]bool, said *saidLoop) []string {
	var out []string
	for _, r := range said.Rows {
		for _, value := range r.Values {
			if !named[value] && !l.goes(want.ways, &r) {
				out = append(out, fmt.Sprintf("%s: %s, %s -> %s", value, r.Meaning, r.Ends, strings.Join(r.Routes, ", ")))
			}
		}
	}
	return out
}

// goes tells whether a row goes these ways and no other.
func (l *fieldLoop) goes(ways []fieldWay, row *saidRow) bool {
	outside := slices.DeleteFunc(slices.Clone(row.Routes), func(s string) bool { return slices.Contains(l.States, s) })
	var states []string
	var ends []lint.End
	for _, w := range ways {
		if w.state != "" {
			states = append(states, w.state)
		}
		if !slices.Contains(ends, w.ends) {
			ends = append(ends, w.ends)
		}
	}
	if !sameElements(outside, states) {
		return false
	}
	if len(ends) == 1 {
		return row.Ends == ends[0]
	}
	if slices.Contains(ends, lint.PollsOn) {
		return row.Ends == lint.EndsUnknown
	}
	return row.Ends == lint.GoesOn
}

// stateAt is the state that a JSON pointer leads to.
func stateAt(pointer string) string {
	const inStates = "/States/"
	state, _, _ := strings.Cut(pointer[strings.LastIndex(pointer, inStates)+len(inStates):], "/")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(state)
}

func sameElements(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
