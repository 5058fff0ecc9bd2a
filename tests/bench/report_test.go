package bench_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// benchPage is the page that shows what was measured.
const benchPage = "../../docs/bench.md"

var writePage = flag.Bool("page", false, "write what -ratios, -command and -lambdas measure into docs/bench.md")

// Sections of the page whose rows are measured.
const (
	sectionMachine   = "machine"
	sectionRatios    = "ratios"
	sectionCommand   = "command"
	sectionFunctions = "functions"
)

// row is something that was measured.
type row struct {
	what, figure string
	beside       string // what else was seen: of the peer, or how it was measured
	budget       string // empty for none
	missed       bool   // the budget
}

// report prints rows, keeps them for the page, and remembers whether a budget was missed.
type report struct {
	out    io.Writer
	rows   map[string][]row // by section
	missed bool
}

func newReport(out io.Writer) *report { return &report{out: out, rows: map[string][]row{}} }

// add takes a row of a section.
func (r *report) add(section string, w row) {
	r.rows[section] = append(r.rows[section], w)
	fmt.Fprintf(r.out, "%s: %s", w.what, w.figure)
	if w.beside != "" {
		fmt.Fprintf(r.out, " (%s)", w.beside)
	}
	if w.budget != "" {
		fmt.Fprintf(r.out, "; budget %s: %s", w.budget, w.verdict())
	}
	fmt.Fprintln(r.out)
	r.missed = r.missed || w.missed
}

func (w row) verdict() string {
	if w.missed {
		return "OVER BUDGET"
	}
	return "ok"
}

// write puts the rows of all sections, and the machine, into the page. A page with
// figures of two machines would tell nothing.
func (r *report) write(page string) error {
	sections := []string{sectionRatios, sectionCommand, sectionFunctions}
	for _, section := range sections {
		if len(r.rows[section]) == 0 {
			return fmt.Errorf("no %s were measured: the page takes -ratios, -command and -lambdas of one run; make bench-page gives them", section)
		}
	}
	for _, section := range sections {
		if err := writeSection(page, section, table(r.rows[section])); err != nil {
			return err
		}
	}
	machine := fmt.Sprintf("Measured on %s with %s on %s, %d cores.\n", time.Now().UTC().Format(time.DateOnly), runtime.Version(), processor(), runtime.NumCPU())
	return writeSection(page, sectionMachine, machine)
}

// table is the rows in Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| measured | figure | beside | budget |\n|---|---|---|---|\n")
	for _, w := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", w.what, w.figure, w.beside, w.budget)
	}
	return b.String()
}

// cutSection returns what stands between the marks of a section of a page, and around it.
func cutSection(page, section string) (before, found, after string, err error) {
	text, err := os.ReadFile(page)
	begin, end := "<!-- begin "+section+" -->\n\n", "<!-- end "+section+" -->"
	before, rest, begins := strings.Cut(string(text), begin)
	found, after, ends := strings.Cut(rest, end)
	if err == nil && (!begins || !ends) {
		err = errors.New(page + " has no section " + section)
	}
	return before + begin, strings.TrimSuffix(found, "\n"), "\n" + end + after, err
}

func writeSection(page, section, text string) error {
	before, _, after, err := cutSection(page, section)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(before+text+after), 0o600)
}

// processor is the name of the machine's processor, where Linux tells.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // there is none elsewhere
	for line := range bytes.Lines(text) {
		if name, value, _ := strings.Cut(string(line), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
