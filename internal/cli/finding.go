package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// finding is what lint found in a file.
type finding struct {
	file    string
	machine string // of a template: its logical ID
	rule    string
	problem diag.Problem
	body    any // the finding with all its members
}

// MarshalJSON writes the finding and where it is.
func (f finding) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(f.body)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	members["file"] = f.file
	if f.machine != "" {
		members["stateMachine"] = f.machine
	}
	return json.Marshal(members)
}

// place is where a finding is, in front of what it says.
func (f finding) place() string {
	if f.problem.Line > 0 {
		return fmt.Sprintf("%s:%d:%d", f.file, f.problem.Line, f.problem.Column)
	}
	return f.file
}

// pointer is where the finding is in the definition, behind the state machine of a
// template that it is of.
func (f finding) pointer() string {
	if strings.HasPrefix(f.problem.Pointer, "/Resources/") { // in the template
		return f.problem.Pointer
	}
	return f.machine + f.problem.Pointer
}

// nameInRepository is the name of the finding's file for a program that shows it beside
// the repository: GitHub takes names relative to its root, wherever a step runs.
func (f finding) nameInRepository() string {
	name := filepath.ToSlash(filepath.Clean(f.file))
	if root := os.Getenv("GITHUB_WORKSPACE"); root != "" {
		if relative := relativeName(root, f.file); filepath.IsLocal(filepath.FromSlash(relative)) {
			return relative
		}
	}
	return name
}

// message is what the finding says, without its place and severity.
func (f finding) message() string {
	p := f.problem
	p.Line, p.Severity, p.Pointer = 0, diag.Error, ""
	return p.String()
}

func printFindings(out io.Writer, format string, found []finding) error {
	switch format {
	case "json":
		return writeJSON(out, found)
	case "sarif":
		return writeJSON(out, sarifOf(found))
	case "github":
		return printAnnotations(out, found)
	}
	var b strings.Builder
	colours := terminal.ColoursOf(out)
	for _, f := range found {
		p := f.problem
		p.Line, p.Severity, p.Pointer = 0, diag.Error, f.pointer() // line and severity stand before the rule
		severity := f.problem.Severity.String()
		terminal.Fprintf(&b, "%s: %s %s: %s\n", f.place(), colours.Paint(styleOf(severity), strings.ToLower(severity)), f.rule, p.String())
		if s := f.problem.Snippet(); s != "" {
			terminal.Fprintf(&b, "%s\n", terminal.Lines(s)) // of one line of the source
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
