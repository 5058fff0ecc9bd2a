package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/lint/sarif"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Finding is what lint found in a file.
type Finding struct {
	file    string // or the ARN of what AWS has
	machine string // of a template: its logical ID
	of      seat   // the state machine that has it; empty of a waiter
	weight  int    // of a version: its share of the alias, in percent
	Rule    string
	Problem diag.Problem
	// subjects are what it is about in its place: statuses, texts or members, or else what its message says.
	subjects []string
	// unread tells that the definition cannot be parsed, and unchecked that nothing of the definition was checked.
	unread, unchecked bool
	body              any // the finding with all its members
	// ignored is the comment for which it does not count; nil for none.
	ignored *ignore.Ignore
}

// splitIgnored takes the findings out that comments ignore.
func splitIgnored(all []Finding) (found, ignored []Finding) {
	found = []Finding{}
	for _, f := range all {
		if f.ignored != nil {
			ignored = append(ignored, f)
		} else {
			found = append(found, f)
		}
	}
	return found, ignored
}

// MarshalJSON writes the finding and where it is.
func (f Finding) MarshalJSON() ([]byte, error) {
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
		if holder := f.of.key.file; holder != "" && holder != homeFile(f.file) {
			members["template"] = holder
		}
	}
	if f.weight > 0 {
		members["weight"] = f.weight
	}
	return json.Marshal(members)
}

// Place is the file, line and column of a finding, which stand before its text.
func (f Finding) Place() string {
	switch {
	case f.Problem.Line > 0 && source.IsARN(f.file): // behind which a number would be a version
		return fmt.Sprintf("%s, line %d, column %d", f.file, f.Problem.Line, f.Problem.Column)
	case f.Problem.Line > 0:
		return fmt.Sprintf("%s:%d:%d", f.file, f.Problem.Line, f.Problem.Column)
	}
	return f.file
}

// Message is what the finding says, without its place and severity.
func (f Finding) Message() string {
	p := f.Problem
	p.Line, p.Severity, p.Pointer = 0, diag.Error, ""
	return p.String()
}

// isFile tells whether the finding is in a file.
func (f Finding) isFile() bool { return f.file != source.Stdin && !source.IsARN(f.file) }

// pointer is where the finding is in the definition, behind the state machine of a
// template that it is of.
func (f Finding) pointer() string {
	if strings.HasPrefix(f.Problem.Pointer, "/Resources/") { // in the template
		return f.Problem.Pointer
	}
	return f.machine + f.Problem.Pointer
}

// entry is the finding as a baseline has it. It is the same however lint got to the definition.
// NameOf names files.
func (f Finding) entry(nameOf func(file string) string) baseline.Finding {
	file, pointer := f.file, f.pointer()
	if home := f.of.home; home.File != "" && pointer == f.machine+f.Problem.Pointer {
		file, pointer = home.File, home.ID+f.Problem.Pointer
	}
	return baseline.Finding{File: nameOf(file), Rule: f.Rule, Pointer: pointer, Message: f.Problem.Message}
}

// nameInRepository is the name of the finding's file for a program that shows it beside
// the repository: GitHub takes names relative to its root, wherever a step runs.
func (f Finding) nameInRepository() string { return nameInRepository(f.file) }

func nameInRepository(file string) string {
	if file == source.Stdin || source.IsARN(file) {
		return file
	}
	name := filepath.ToSlash(filepath.Clean(file))
	if root := os.Getenv("GITHUB_WORKSPACE"); root != "" {
		if relative := kit.RelativeName(root, file); filepath.IsLocal(filepath.FromSlash(relative)) {
			return relative
		}
	}
	return name
}

// printFindings prints what was found. Of what comments ignore, SARIF tells as suppressed.
func printFindings(out io.Writer, format string, found, ignored []Finding) error {
	switch format {
	case "json":
		return kit.WriteJSON(out, found)
	case "sarif":
		return kit.WriteJSON(out, newSARIF(slices.Concat(found, ignored)))
	case "github":
		return printAnnotations(out, found)
	}
	var b strings.Builder
	colours := terminal.ColoursOf(out)
	for _, f := range found {
		p := f.Problem
		p.Line, p.Severity, p.Pointer = 0, diag.Error, f.pointer() // line and severity stand before the rule
		severity := f.Problem.Severity.String()
		terminal.Fprintf(&b, "%s: %s %s: %s\n", f.Place(), colours.Paint(kit.StyleOf(severity), strings.ToLower(severity)), f.Rule, p.String())
		if s := f.Problem.Snippet(); s != "" {
			terminal.Fprintf(&b, "%s\n", terminal.Lines(s)) // of one line of the source
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// newSARIF is the log of the findings for code scanning.
func newSARIF(found []Finding) *sarif.Log {
	known := []lint.Rule{{Name: kit.DefinitionRule, About: "AWS rejects the definition"}}
	for _, r := range kit.Rules() {
		known = append(known, lint.Rule{Name: r.Name, About: r.About})
	}
	known = append(known, lint.Rule{Name: kit.AWSRule, About: "what AWS says of the definition"})
	all := make([]sarif.Finding, len(found))
	for i, f := range found {
		all[i] = sarif.Finding{File: f.nameInRepository(), Rule: f.Rule, Pointer: f.pointer(), Problem: f.Problem, Message: f.Message()}
		if key := f.entry(nameInRepository).Key(); f.isFile() {
			all[i].Key = &key
		}
		if f.ignored != nil {
			all[i].Suppressed = &sarif.Suppression{Reason: f.ignored.Reason}
		}
		switch {
		case f.file == source.Stdin:
			all[i].File, all[i].About = "stdin", "the standard input"
		case source.IsARN(f.file):
			all[i].About = "the definition at AWS"
		}
	}
	return sarif.New(kit.Version(), known, all)
}
