package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// fieldFolder has what must be said of each machine of the corpus; its README has the
// form.
const fieldFolder = "../field"

// fieldMachine is what must be said of a machine.
type fieldMachine struct {
	Machine  string        `json:"machine"`
	About    string        `json:"about"`
	Findings []string      `json:"findings"`
	Allowed  []string      `json:"allowed"`
	Loops    *[]fieldLoop  `json:"loops"` // nil: not compared
	Repairs  []fieldRepair `json:"repairs"`
	Keeps    []string      `json:"keeps"`
}

// fieldLoop is a poll loop of a machine.
type fieldLoop struct {
	States []string `json:"states"`
	Polls  string   `json:"polls"`
	Entry  string   `json:"entry"` // empty: not compared
	Rows   []string `json:"rows"`
	Bound  string   `json:"bound"`
}

// fieldRepair is how a finding is repaired.
type fieldRepair struct {
	Finding string   `json:"finding"`
	Class   string   `json:"class"`
	Edit    string   `json:"edit"`
	Why     string   `json:"why"`
	Frame   []string `json:"frame"`
}

// fieldRow is a row of a table.
type fieldRow struct {
	values  []string // "any other", or "error" and a name, is one
	meaning string
	ways    []fieldWay
	on      string // what the way depends on, if there are several
}

// fieldWay is a way that a row goes.
type fieldWay struct {
	ends  lint.End
	state string // empty: it polls on
}

const anyOther = "any other"

var (
	rowForm     = regexp.MustCompile(`^(.+?) = (success|failure|running|ending|unclear|unknown|-): (.+?)(?: \((.+)\))?$`)
	wayForm     = regexp.MustCompile(`^(?:polls on|(success|failure|goes on) -> (.+))$`)
	boundForm   = regexp.MustCompile(`^(?:none|time|timeout \d+ s|count \d+ polls)$`)
	findingForm = regexp.MustCompile(`^(?:ERROR|DANGER|WARNING|NOTE) [a-z-]+ .+$`)
	frameForm   = regexp.MustCompile(`^.+?: .+ => .+$`)
)

// unrepaired are the rules whose findings fix need not repair.
var unrepaired = []string{lint.PollNeedless, lint.EventBudget, lint.RepeatedStart}

// parseRow reads a row: values = meaning: ways.
func parseRow(t *testing.T, text string) fieldRow {
	t.Helper()
	parts := rowForm.FindStringSubmatch(text)
	require.NotNil(t, parts, text)
	row := fieldRow{values: strings.Split(parts[1], ", "), meaning: parts[2], on: parts[4]}
	for way := range strings.SplitSeq(parts[3], " or ") {
		w := wayForm.FindStringSubmatch(way)
		require.NotNil(t, w, text)
		ends := lint.PollsOn
		if w[1] != "" {
			ends = lint.End(strings.ReplaceAll(w[1], " ", "-"))
		}
		row.ways = append(row.ways, fieldWay{ends, w[2]})
	}
	require.Equal(t, len(row.ways) > 1, row.on != "", "%s: what do several ways depend on?", text)
	return row
}

// readField reads all expectations, by the names of their files.
func readField(t *testing.T) map[string]*fieldMachine {
	t.Helper()
	files, err := filepath.Glob(fieldFolder + "/*.json")
	require.NoError(t, err)
	out := map[string]*fieldMachine{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		m := &fieldMachine{}
		require.NoError(t, d.Decode(m), file)
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = m
	}
	return out
}

// readTable reads a file of values between tabs, without its first line.
func readTable(t *testing.T, file string, columns int) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var out [][]string
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		values := strings.Split(line, "\t")
		require.Len(t, values, columns, "%s:%d", file, i+1)
		if i > 0 {
			out = append(out, values)
		}
	}
	return out
}

// What must be said of the machines in the field is complete: each finding that fix
// repairs has a repair, each repair a finding, and a frame or a reason.
func TestFieldExpectations(t *testing.T) {
	t.Parallel()
	all := readField(t)
	require.NotEmpty(t, all)
	for name, m := range all {
		require.NotEmpty(t, m.Machine, name)
		require.NotEmpty(t, m.About, name)
		repairs := map[string]bool{}
		for _, r := range m.Repairs {
			repairs[r.Finding] = true
			requireRepair(t, name, r)
		}
		for _, f := range slices.Concat(m.Findings, m.Allowed) {
			require.Regexp(t, findingForm, f, name)
		}
		for _, f := range m.Findings {
			_, what, _ := strings.Cut(f, " ")
			rule, _, _ := strings.Cut(what, " ")
			require.Equal(t, !slices.Contains(unrepaired, rule), repairs[what], "%s: the repair of %s", name, what)
			delete(repairs, what)
		}
		require.Empty(t, repairs, "%s: repairs without a finding", name)
		if m.Loops == nil {
			continue
		}
		for _, l := range *m.Loops {
			require.NotEmpty(t, l.States, name)
			require.Regexp(t, boundForm, l.Bound, name)
			seen := map[string]bool{}
			for _, text := range l.Rows {
				for _, value := range parseRow(t, text).values {
					require.False(t, seen[value], "%s: %s stands twice", name, value)
					seen[value] = true
				}
			}
		}
	}
	for _, f := range readFrames(t) {
		require.NotEqual(t, f.before, f.after, f.pair)
	}
}

func requireRepair(t *testing.T, name string, r fieldRepair) {
	t.Helper()
	at := fmt.Sprintf("%s: %s", name, r.Finding)
	require.Contains(t, []string{"sure", "offered", "refused"}, r.Class, at)
	refused := r.Class == "refused"
	require.Equal(t, refused, r.Why != "", at)
	require.Equal(t, refused, r.Edit == "", at)
	require.Equal(t, refused, len(r.Frame) == 0, at)
	for _, line := range r.Frame {
		require.Regexp(t, frameForm, line, at)
	}
}
