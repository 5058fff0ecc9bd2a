// Package ignore reads the comments of a definition that say which findings to leave out,
// and why: "jobpoller: ignore unbounded-loop, the job always ends".
package ignore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// The rules about the comments themselves.
const (
	Unused      = "unused-ignore"
	Invalid     = "invalid-ignore"
	Unexplained = "unexplained-ignore"
)

// Rules returns the rules about the comments.
func Rules() []lint.Rule {
	return []lint.Rule{
		{Name: Unused, About: "a comment that ignores a rule which finds nothing there"},
		{Name: Invalid, About: "a comment that should ignore a rule and names none"},
		{Name: Unexplained, About: "a comment that ignores a rule and gives no reason"},
	}
}

// Ignore is a comment that ignores rules at a part of a definition.
type Ignore struct {
	Rules  []string
	Reason string
	// Pointers are the parts, as source.Remark has them.
	Pointers []string
	// At is the place of the comment.
	At diag.Problem

	used map[string]bool // rules with a finding
}

// Options are the rules that comments may name.
type Options struct {
	// Known are all rules, and Fixed those that cannot be ignored, each with the reason.
	Known []string
	Fixed map[string]string
}

// Set are the comments of a definition. It serves one goroutine.
type Set struct {
	all []*Ignore
	at  map[place]*Ignore // the first of a rule at a part
	own []lint.Finding    // about the comments
}

// place is a part at which a rule is ignored.
type place struct{ rule, pointer string }

// Read reads the comments of a definition.
func Read(d *source.Definition, o Options) *Set {
	s := &Set{at: map[place]*Ignore{}}
	for _, r := range d.Remarks(mark) {
		for _, found := range parse(r.Text, o) {
			switch {
			case found.problem != "":
				s.report(diag.Warning, Invalid, r.At, r.Pointers, found.problem, found.suggestion)
				continue
			case found.reason == "":
				s.report(diag.Note, Unexplained, r.At, r.Pointers,
					fmt.Sprintf("the comment gives no reason: write it behind the rule, as in %q", mark+" ignore "+strings.Join(found.rules, ", ")+", ticket 12"), "")
			}
			s.add(&Ignore{Rules: found.rules, Reason: found.reason, Pointers: r.Pointers, At: r.At, used: map[string]bool{}})
		}
	}
	return s
}

// Find returns the comment that ignores a rule at a place of the definition, the innermost of
// several; nil if none does.
func (s *Set) Find(rule, pointer string) *Ignore {
	for {
		if i := s.at[place{rule, pointer}]; i != nil {
			i.used[rule] = true
			return i
		}
		end := strings.LastIndexByte(pointer, '/')
		if end < 0 {
			return nil
		}
		pointer = pointer[:end]
	}
}

// Findings are those about the comments: what is wrong with them, and which of the rules
// that are checked found nothing, as far as Find was asked.
func (s *Set) Findings(checks func(rule string) bool) []lint.Finding {
	found := slices.Clone(s.own)
	for _, i := range s.all {
		for _, rule := range i.Rules {
			if i.used[rule] || !checks(rule) || slices.ContainsFunc(Rules(), func(r lint.Rule) bool { return r.Name == rule }) {
				continue
			}
			at := i.At
			at.Severity, at.Pointer = diag.Note, i.Pointers[0]
			at.Message = rule + " finds nothing here: remove it from the comment"
			if len(i.Rules) == 1 {
				at.Message = rule + " finds nothing here: remove the comment"
			}
			found = append(found, lint.Finding{Problem: at, Rule: Unused})
		}
	}
	slices.SortStableFunc(found, func(a, b lint.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found
}

// Strays collects the comments of files that are about no state machine. Its zero value is ready.
type Strays struct {
	all     []source.Remark // of files that may have several state machines
	about   map[spot]bool   // those that are about one
	unknown map[string]bool // files of which not all state machines are known
}

// spot is the place of a comment.
type spot struct {
	file         string
	line, column int
}

// Add adds the comments of a definition's files. Known tells that all state machines of them are
// added.
func (s *Strays) Add(d *source.Definition, known bool) {
	if s.about == nil {
		s.about, s.unknown = map[spot]bool{}, map[string]bool{}
	}
	if d.Text == nil || !known {
		s.unknown[d.File], s.unknown[d.Template] = true, true
	}
	for _, r := range d.Remarks(mark) {
		s.about[spot{cmp.Or(r.At.File, d.File), r.At.Line, r.At.Column}] = true
	}
	s.all = append(s.all, d.Comments(mark)...)
}

// Findings are those of the comments that ignore a rule and are about no state machine. Their
// problems have the File.
func (s *Strays) Findings(o Options) []lint.Finding {
	var found []lint.Finding
	for _, r := range s.all {
		at := spot{r.At.File, r.At.Line, r.At.Column}
		if s.about[at] || s.unknown[at.file] || len(parse(r.Text, o)) == 0 {
			continue
		}
		s.about[at] = true // and another definition has it, too
		p := r.At
		p.Severity = diag.Note
		p.Message = "the comment stands at no state machine, so it ignores nothing: move it to the one that it is about, or remove it"
		found = append(found, lint.Finding{Problem: p, Rule: Unused})
	}
	slices.SortStableFunc(found, func(a, b lint.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found
}

// report adds a finding about a comment.
func (s *Set) report(severity diag.Severity, rule string, at diag.Problem, pointers []string, message, suggestion string) {
	at.Severity, at.Message, at.Suggestion, at.Pointer = severity, message, suggestion, pointers[0]
	s.own = append(s.own, lint.Finding{Problem: at, Rule: rule})
}

// add adds a comment.
func (s *Set) add(i *Ignore) {
	s.all = append(s.all, i)
	for _, rule := range i.Rules {
		for _, pointer := range i.Pointers {
			if s.at[place{rule, pointer}] == nil {
				s.at[place{rule, pointer}] = i
			}
		}
	}
}
