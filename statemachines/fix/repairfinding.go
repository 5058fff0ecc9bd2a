package fix

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// near are the states in whose loops an edit for a finding can mend it, or bring others: its
// own, those before and behind it, and those that the edits are in.
func (c *checked) near(f lint.Finding, edits ...edit.Edit) []string {
	s := c.stateAt(f)
	names := []string{s.Name}
	for other := range c.machine.All {
		for _, way := range other.Transitions() {
			switch s.Name {
			case other.Name:
				names = append(names, way.To)
			case way.To:
				names = append(names, other.Name)
			}
		}
	}
	for _, e := range edits {
		if at := c.machine.StateAt(e.At); at != nil {
			names = append(names, at.Name)
		}
	}
	return names
}

// errStillFound is of an edit that does not mend.
var errStillFound = errors.New("the smallest edit does not mend it: lint still finds it")

// errRuleStays is of an edit that leaves as many rules that never apply as there were, or brings one.
var errRuleStays = errors.New("the smallest edit does not mend it: with it, a rule never applies")

// nameEdit says in a reason that is about the smallest edit which edit that is.
func nameEdit(reason string, edits []edit.Edit) string {
	if len(edits) == 0 || !strings.Contains(reason, "the smallest edit") {
		return reason
	}
	e, more := edits[0], ""
	if len(edits) > 1 {
		more = fmt.Sprintf(" and %d more", len(edits)-1)
	}
	value := clip(string(e.Value))
	var what string
	switch e.Op {
	case edit.Replace:
		what = fmt.Sprintf("%s in the place of %s", value, e.At)
	case edit.Rename:
		what = fmt.Sprintf("the name %q for %s", e.Name, e.At)
	case edit.Remove:
		what = "without " + e.At
	case edit.Before, edit.Behind:
		what = fmt.Sprintf("%s %s %s", value, map[edit.Op]string{edit.Before: "in front of", edit.Behind: "behind"}[e.Op], e.At)
	case edit.Move:
		what = fmt.Sprintf("%s in front of %s", e.At, e.To)
	case edit.Append:
		what = fmt.Sprintf("%s at the end of %s", value, e.At)
	}
	return fmt.Sprintf("%s (the edit: %s%s)", reason, what, more)
}

// clip shortens a text for a line.
func clip(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// editError is of an edit that cannot be made, or whose text cannot be read or run.
type editError struct {
	what string
	err  error
}

func (e *editError) Error() string { return e.what + onOneLine(e.err) }

func (e *editError) Unwrap() error { return e.err }

// rejectedError is of a definition that breaks a rule of the language: nothing leads to a state any more, for example.
type rejectedError struct{ error }

func (e *rejectedError) Unwrap() error { return e.error }

func isRejected(err error) bool {
	_, rejected := errors.AsType[*rejectedError](err)
	return rejected
}

// rejects is the error of an edit whose text fix does not read.
func rejects(err error) error {
	if isRejected(err) {
		return &editError{"AWS rejects the definition with the smallest edit: ", err}
	}
	return &editError{"fix cannot read the definition with the smallest edit: ", err}
}

// foundError is of an edit that brings a finding.
type foundError struct{ rule, message string }

func (e *foundError) Error() string {
	return fmt.Sprintf("with the smallest edit, lint finds %s in the new text: %s", e.rule, e.message)
}

// newFinding is the error of a finding that edits bring, or do not take away.
func newFinding(before, after *checked, mended lint.Finding, edits []edit.Edit) error {
	at := before.stateAt(mended)
	hides := mended.Suggestion != "" || mended.Rule == lint.HotLoop // see isUncovered
	if was, is := before.unreachableRules(at.Name), after.unreachableRules(at.Name); is > was && !hides || is == was && mended.Rule == typecheck.UnreachableRule {
		return errRuleStays // whatever their numbers are now
	}
	for _, f := range after.findings {
		s := after.stateAt(f)
		if s == nil {
			continue
		}
		if f.Rule == mended.Rule && f.Rule != typecheck.UnreachableRule && s.Name == at.Name && f.Message == mended.Message {
			return errStillFound
		}
		known := slices.ContainsFunc(before.findings, func(old lint.Finding) bool {
			o := before.stateAt(old)
			return old.Rule == f.Rule && o != nil && (o.Name == s.Name || strings.HasPrefix(f.Rule, "status-") && isPartOf(f, old))
		})
		// The exit of a bound lets lint look at Default, which leads where it led, and a rule for a success at a bound
		// beside it.
		shows := f.Rule == lint.HiddenFailure && isOfBound(f) && !before.isTouched(s.Name, edits) ||
			mended.Rule == lint.UnboundedLoop && f.Rule == lint.LoopingDefault ||
			(mended.Suggestion != "" || mended.Rule == lint.HotLoop) && isUncovered(f, mended, !before.isTouched(s.Name, edits))
		if !known && !shows && f.Severity != diag.Note {
			return &foundError{f.Rule, f.Message}
		}
	}
	return nil
}

// unreachableRules counts the rules of a Choice, and their texts, that never apply.
func (c *checked) unreachableRules(state string) (n int) {
	for _, f := range c.findings {
		if s := c.stateAt(f); f.Rule == typecheck.UnreachableRule && s != nil && s.Name == state {
			n++
		}
	}
	return n
}

// isUncovered tells of a finding whether it was there before a repair, and hidden: lint reads no further than a wrong word,
// and no loop without a pause. Neither repair adds a route, so what a loop does with answers was hidden, and so was what lint
// finds in a state that stays as it is. New is what is about the right word, or about a value that the word gives.
func isUncovered(f, mended lint.Finding, stays bool) bool {
	switch {
	case f.Suggestion != "", f.Rule == typecheck.AbsentMember:
		return true
	case slices.Contains(f.Subjects, mended.Suggestion):
		return false
	default:
		return stays && !isOfValues(f.Rule) || isOfAnswers(f.Rule) || f.Rule == typecheck.NeverHolds && f.Subjects != nil // none comes here
	}
}

// isTouched tells whether one of some edits is in a state. A state in front of it is none.
func (c *checked) isTouched(name string, edits []edit.Edit) bool {
	return slices.ContainsFunc(edits, func(e edit.Edit) bool {
		s := c.machine.StateAt(e.At)
		return s != nil && s.Name == name && (e.Op != edit.Before || e.At != s.Position.Pointer)
	})
}

// isOfValues tells whether a rule finds that a value does not fit where it is read.
func isOfValues(rule string) bool {
	return slices.Contains([]string{typecheck.ArgumentType, typecheck.EnumValue, typecheck.NeverHolds, typecheck.UnknownMember}, rule)
}

// isOfAnswers tells whether a rule finds what a loop does with answers, which a wrong word hid.
func isOfAnswers(rule string) bool {
	return strings.HasPrefix(rule, "status-") || rule == lint.UnboundedLoop || rule == lint.LoopingDefault || rule == lint.RepeatedStart ||
		rule == typecheck.UnreachableRule
}

// isPartOf tells whether a finding is about no other statuses than another one.
func isPartOf(f, other lint.Finding) bool {
	return f.Subjects != nil && !slices.ContainsFunc(f.Subjects, func(status string) bool { return !slices.Contains(other.Subjects, status) })
}

// alsoMended are the other findings beside edits that lint does not find with them, there or in a
// state that they add.
func (c *checked) alsoMended(after *checked, mended lint.Finding, edits []edit.Edit) []string {
	name := func(c *checked, f lint.Finding) string {
		if s := c.stateAt(f); s != nil {
			return f.Rule + "@" + s.Name
		}
		return ""
	}
	near, own := c.near(mended, edits...), name(c, mended)
	var all []string
	for _, f := range c.findings {
		one := name(c, f)
		if one == "" || one == own || !isRepairable(f) || slices.Contains(all, one) || !slices.Contains(near, c.stateAt(f).Name) {
			continue
		}
		if !slices.ContainsFunc(after.findings, func(left lint.Finding) bool {
			at := after.stateAt(left)
			return name(after, left) == one || left.Rule == f.Rule && at != nil && stateOf(c.machine, at.Name) == nil
		}) {
			all = append(all, one)
		}
	}
	return all
}
