package typecheck

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// The rules.
const (
	UnknownOperation = "unknown-operation"
	UnknownArgument  = "unknown-argument"
	MissingArgument  = "missing-argument"
	ArgumentType     = "argument-type"
	EnumValue        = "enum-value"
	UnknownMember    = "unknown-member"
	NeverHolds       = "never-holds"
	UnreachableRule  = "unreachable-rule"
	UnsetVariable    = "unset-variable"
	AbsentMember     = "absent-member" // see Checker.FindAbsent
)

// Finding is a mistake in a definition.
type Finding struct {
	diag.Problem

	Rule string
	// Word is the text, or the pattern, of a comparison that EnumValue is about, and NeverHolds and UnreachableRule where
	// the value is the text elsewhere; or the name of the member or argument. Of EnumValue, Enum lists the texts that are
	// compared with it.
	Word string
	Enum *catalog.Shape
}

// add keeps a finding, unless it is known: a condition may be looked at twice.
func (c *Checker) add(f Finding) {
	key := [3]string{f.Rule, f.Pointer, f.Message}
	if !c.told[key] {
		c.told[key] = true
		c.findings = append(c.findings, f)
	}
}

// Findings returns the mistakes in the order of the text.
func (c *Checker) Findings() []Finding {
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.findings
}
