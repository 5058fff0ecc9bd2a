package conformance_test

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// sourceSuites are small inputs in the forms in which people keep definitions. A case is
// a row of tests/sources/expected.tsv.
var sourceSuites = []suite{{name: "field-sources", folder: "field/sources", cases: 61, run: runSources}}

// sourceCase is a row of the table.
type sourceCase struct {
	folder, name, read string
	machines, loops    int
	place, says        string
}

func readSourceCases(t *testing.T) []sourceCase {
	t.Helper()
	text, err := os.ReadFile("../sources/expected.tsv")
	require.NoError(t, err)
	var all []sourceCase
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(t, columns, 7, line)
		if columns[0] == "folder" {
			continue
		}
		c := sourceCase{folder: columns[0], name: columns[1], read: columns[2], place: columns[5], says: columns[6]}
		c.machines, err = strconv.Atoi(columns[3])
		require.NoError(t, err, line)
		c.loops, err = strconv.Atoi(columns[4])
		require.NoError(t, err, line)
		all = append(all, c)
	}
	return all
}

func runSources(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	for _, c := range readSourceCases(t) {
		r.total++
		if what := c.compare(t, folder); what != "" {
			r.failures[c.folder+" "+c.name] = what
		}
	}
	return r
}

// compare returns what is read otherwise than the row says.
func (c *sourceCase) compare(t *testing.T, folder string) string {
	t.Helper()
	folder = filepath.ToSlash(filepath.Join(folder, c.folder))
	definitions, err := source.Load(t.Context(), []string{path.Join(folder, c.name)}, source.Options{})
	said := ""
	if err != nil {
		said = err.Error()
	}
	got := sourceCase{folder: c.folder, name: c.name, read: "yes", place: "-", says: c.says}
	for _, d := range definitions {
		m, err := d.Parse()
		for _, p := range d.Validate(asl.Standard) {
			said += "\n" + p.String()
			if p.Severity == diag.Error && (err == nil || c.read != "error") {
				return "ERROR: " + p.String()
			}
		}
		if err != nil {
			continue
		}
		got.machines++
		got.addLoops(t, folder, d, m)
	}
	switch {
	case got.machines == len(definitions) && err == nil:
	case c.read == "error":
		got.read = "error"
	default:
		got.read = "message"
	}
	if c.says != "-" && !strings.Contains(said, c.says) {
		got.says = said
	}
	if got == *c {
		return ""
	}
	return fmt.Sprintf("expected %v, found %v", *c, got)
}

// addLoops counts the loops of a machine, and notes the place of the first poll.
func (c *sourceCase) addLoops(t *testing.T, folder string, d *source.Definition, m *asl.StateMachine) {
	t.Helper()
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	c.loops += len(lint.Loops(m, lint.Options{Types: types}))
	for s := range m.All {
		if s.Name == "Look" && c.place == "-" {
			p := d.Locate(m.Problem(s.Position.Pointer, ""))
			file := strings.TrimPrefix(cmp.Or(p.File, d.File), folder+"/")
			c.place = fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
		}
	}
}
