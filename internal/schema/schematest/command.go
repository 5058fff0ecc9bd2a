package schematest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Row is a row of the page of the schemas.
type Row struct {
	// Schema is the name of the schema; empty for JSON of another form.
	Schema string
	// About is what has that form.
	About string
	// Commands are the command lines that print it.
	Commands []CommandLine
}

// CommandLine is a command with what it needs to print JSON of a form.
type CommandLine struct {
	Path   string // "jobpoller records list"
	Flags  []string
	Output string // the value of -o; empty for a command that has no other
}

var (
	tableRow    = regexp.MustCompile(`(?m)^\| (?:\[([a-z-]+)\.schema\.json\]\(([a-z-]+)\.schema\.json\)|none: [^|]*) \| (.*) \|$`)
	commandLine = regexp.MustCompile("`(jobpoller [^`]*)`")
	pageLink    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// Rows reads the tables of the page in the module at root.
func Rows(root string) ([]Row, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(Folder), "README.md")) //nolint:gosec // of the module
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, match := range tableRow.FindAllStringSubmatch(string(text), -1) {
		if match[1] != match[2] {
			return nil, fmt.Errorf("the row of %s leads to %s", match[1], match[2])
		}
		row := Row{Schema: match[1], About: strings.ReplaceAll(pageLink.ReplaceAllString(match[3], "$1"), "`", "")}
		for _, command := range commandLine.FindAllStringSubmatch(match[3], -1) {
			row.Commands = append(row.Commands, parseCommand(command[1]))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func parseCommand(text string) CommandLine {
	var c CommandLine
	before, output, _ := strings.Cut(text, " -o ")
	c.Output = output
	for word := range strings.FieldsSeq(before) {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			c.Flags = append(c.Flags, name)
		} else {
			c.Path = strings.TrimSpace(c.Path + " " + word)
		}
	}
	return c
}

// Printed is what a command has printed.
type Printed struct {
	Path    string                 // of the command
	Changed func(flag string) bool // whether a flag is given
	Output  string                 // the value of -o; empty if there is no such flag
	Text    []byte
}

// linesOutput is the format that has a document a line.
const linesOutput = "jsonl"

// Check compares what a command has printed with the schemas that the page has for it: those of
// the rows with the most flags.
func (p *Printed) Check(root string) error {
	rows, err := rowsOf(root)
	if err != nil {
		return err
	}
	var fitting []Row
	most := -1
	for _, row := range rows {
		for _, c := range row.Commands {
			if c.Path != p.Path || c.Output != p.Output || !all(c.Flags, p.Changed) {
				continue
			}
			if len(c.Flags) > most {
				fitting, most = nil, len(c.Flags)
			}
			if len(c.Flags) == most {
				fitting = append(fitting, row)
			}
		}
	}
	if len(fitting) == 0 {
		if p.Output == "json" || p.Output == linesOutput {
			return fmt.Errorf("%s/README.md has no row for %s -o %s", Folder, p.Path, p.Output)
		}
		return nil
	}
	var problems []error
	for _, row := range fitting {
		if row.Schema == "" {
			return nil
		}
		v, err := validatorOf(root, row.Schema)
		if err != nil {
			return err
		}
		if p.Output == linesOutput {
			err = v.CheckLines(p.Text)
		} else {
			err = v.Check(p.Text)
		}
		if err == nil {
			return nil
		}
		problems = append(problems, fmt.Errorf("%s is not as %s: %w", cmp.Or(p.Output, p.Path), row.Schema, err))
	}
	return errors.Join(problems...)
}

// The rows and the validators of what commands print, as a test runs many.
var knownRows, knownValidators sync.Map // []Row and *Validator, by the root and the schema

func rowsOf(root string) ([]Row, error) {
	if known, ok := knownRows.Load(root); ok {
		return known.([]Row), nil
	}
	rows, err := Rows(root)
	if err == nil {
		knownRows.Store(root, rows)
	}
	return rows, err
}

func validatorOf(root, name string) (*Validator, error) {
	if known, ok := knownValidators.Load(root + "\n" + name); ok {
		return known.(*Validator), nil
	}
	v, err := NewValidator(root, name, true)
	if err == nil {
		knownValidators.Store(root+"\n"+name, v)
	}
	return v, err
}

func all(flags []string, changed func(string) bool) bool {
	return !slices.ContainsFunc(flags, func(flag string) bool { return !changed(flag) })
}
