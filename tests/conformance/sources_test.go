package conformance_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	lintcommand "github.com/jobpoller/jobpoller/internal/cli/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// sourceSuites are definitions in the forms of other tools. A case is a file or a folder
// that is named: see tests/sources.
var sourceSuites = []suite{{name: "field-sources", folder: "field/sources", cases: 35, run: runSources}}

// sourcesFile says what must be read.
const sourcesFile = "../sources/expected.tsv"

// expectedSource is a row of sourcesFile.
type expectedSource struct {
	path, read             string
	machines, known, loops int
	place                  string
}

func runSources(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	for _, want := range readSources(t, folder) {
		r.total++
		if what := want.compare(t); what != "" {
			name, err := filepath.Rel(folder, want.path)
			require.NoError(t, err)
			r.failures[name] = what
		}
	}
	return r
}

func readSources(t *testing.T, folder string) []expectedSource {
	t.Helper()
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	var all []expectedSource
	for _, v := range readTable(t, sourcesFile, 6) {
		machines, known, some := strings.Cut(v[3], ", ")
		want := expectedSource{path: filepath.Join(folder, v[0], v[1]), read: v[2], machines: number(machines), known: number(machines), loops: number(v[4])}
		if some {
			want.known = number(strings.TrimSuffix(known, " known"))
		}
		if v[5] != "-" {
			want.place = filepath.Join(folder, v[0]) + "/" + v[5]
		}
		all = append(all, want)
	}
	return all
}

// compare says what is read otherwise than it must be; empty if nothing is.
func (want *expectedSource) compare(t *testing.T) string {
	t.Helper()
	definitions, err := source.Load(t.Context(), []string{want.path}, source.Options{})
	if err != nil {
		return err.Error()
	}
	known, loops, places := 0, 0, []string{}
	for _, d := range definitions {
		findings, err := lintcommand.CheckDefinition(t.Context(), d, false)
		require.NoError(t, err)
		refused := slices.ContainsFunc(findings, func(f lintcommand.Finding) bool { return f.Problem.Severity == diag.Error })
		switch {
		case refused != (want.read == "error"):
			return fmt.Sprintf("ERROR: %t: %s", refused, d.Problems.Brief())
		case d.Text == nil && want.read != "error" && (len(d.Problems) != 1 || len(findings) != 1):
			return fmt.Sprintf("%d messages: %s", len(d.Problems), d.Problems.Brief())
		case d.Text == nil:
			continue
		}
		known++
		m, err := d.Parse()
		require.NoError(t, err)
		n, at := pollPlaces(m, d)
		loops, places = loops+n, append(places, at...)
	}
	switch got := len(definitions); {
	case known != want.known, want.read == "yes" && got != want.machines:
		return fmt.Sprintf("%d machines, %d known; expected %d and %d", got, known, want.machines, want.known)
	case loops != want.loops:
		return fmt.Sprintf("%d loops, expected %d", loops, want.loops)
	case want.place != "" && !slices.Contains(places, want.place):
		return fmt.Sprintf("polls at %v, expected %s", places, want.place)
	}
	return ""
}

// pollPlaces counts the loops of a machine, and returns where their polls stand.
func pollPlaces(m *asl.StateMachine, d *source.Definition) (loops int, places []string) {
	for _, l := range lint.Loops(m, lint.Options{}) {
		loops++
		for s := range m.All {
			if s.Name == "Look" && slices.Contains(l.Turn.States, s.Name) {
				p := d.LocatePosition(s.Position)
				places = append(places, fmt.Sprintf("%s:%d:%d", d.File, p.Line, p.Column))
			}
		}
	}
	return loops, places
}
