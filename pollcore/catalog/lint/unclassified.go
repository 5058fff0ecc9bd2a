package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// failures reports values that no acceptor classifies, and a waiter that has
// no acceptor for a failure.
func (c *checker) failures() {
	var failing []string
	for _, l := range c.statuses() {
		e := c.valuesOf(l)
		var open, ended []Value
		for _, value := range e.values {
			if c.takesValue(l, value) {
				continue
			}
			switch says := c.says(e, value); says.Verdict {
			case pollcore.Retry:
				open = append(open, says)
			case pollcore.Failure:
				failing = append(failing, value)
				ended = append(ended, says)
			case pollcore.Success:
				ended = append(ended, says)
			}
		}
		c.reportUnhandled(l, e, ended, open)
	}
	c.noFailure(failing)
}

// says is what a value means for the waiter. CREATE_FAILED is not an end
// of a waiter for something to be deleted: the resource was so before.
func (c *checker) says(e enum, value string) Value {
	v := e.says(value)
	if !v.Known && len(wordsOf(value)) > 1 && apart(deeds(wordsOf(value)), c.findDeeds()) {
		v.Verdict = pollcore.Retry
	}
	return v
}

// findDeeds returns the deeds whose end the waiter waits for, by its name and by the
// values that it takes for success.
func (c *checker) findDeeds() []string {
	words := wordsOf(c.waiter.Name)
	for _, a := range c.waiter.Acceptors {
		if m, _ := pathOf(a); m != nil && a.State == pollcore.Success && m.Comparator != pollcore.BooleanEquals {
			words = append(words, wordsOf(m.Expected)...)
		}
	}
	return deeds(words)
}

// apart tells whether both lists have something, and nothing in common.
func apart(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// statuses are the leaves of enums that acceptors test by themselves, in the
// order of the acceptors. What is tested only together with others, such as the
// reason of a state, is not a status.
func (c *checker) statuses() []*leaf {
	var found []*leaf
	for _, p := range c.probes {
		if p == nil || len(p.leaves) != 1 {
			continue
		}
		if l := p.leaves[0]; len(c.valuesOf(l).values) > 0 && !slices.Contains(found, l) {
			found = append(found, l)
		}
	}
	return found
}

// takesValue tells whether some acceptor takes a response because the leaf has
// the value: with other values of the leaf, and all else equal, it may not.
func (c *checker) takesValue(l *leaf, value string) bool {
	wanted := any(value)
	if l.typ.Kind == jsontype.Array {
		wanted = []any{value}
	}
	for _, p := range c.probes {
		if p == nil || !slices.Contains(p.leaves, l) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(p.leaves), func(o *leaf) bool { return o == l })
		takes := false
		tried := each(others, func(a assignment) bool {
			a[l] = wanted
			if p.matches(a) {
				takes = slices.ContainsFunc(l.candidates, func(other any) bool {
					if other == nil || other == "" {
						return false
					}
					a[l] = other
					return !p.matches(a)
				})
			}
			return !takes
		})
		if takes || !tried {
			return true // too much to try: say nothing
		}
	}
	return false
}

func (c *checker) reportUnhandled(l *leaf, e enum, ended, open []Value) {
	pointer := c.firstReader(l)
	alone := len(c.statuses()) == 1
	until := "until the deadline"
	if !alone {
		until = "until another value ends the wait, or the deadline"
	}
	if len(ended) > 0 {
		slices.SortStableFunc(ended, func(a, b Value) int { return cmp.Compare(a.Verdict, b.Verdict) })
		f := c.report(Unclassified, diag.Warning, pointer, fmt.Sprintf(
			"no acceptor handles %d of %s's %d values, %s: %s. %s %s: %s", len(ended), e.name, len(e.values),
			either(ended, "which looks like an end", "which look like an end"), describeValues(ended),
			either(ended, "It keeps polling", "They keep polling"), until, either(ended, "add an acceptor", "add acceptors")))
		f.Values = ended
	}
	if len(open) > 0 {
		var names []string
		for _, v := range open {
			names = append(names, v.Value)
		}
		f := c.report(Unclassified, diag.Note, pointer, fmt.Sprintf(
			"no acceptor handles %d of %s's %d values: %s. %s %s",
			len(open), e.name, len(e.values), list(names), either(open, "It keeps polling", "They keep polling"), until))
		f.Values = open
	}
}

// either is the form for one value or that for more.
func either(values []Value, one, more string) string {
	if len(values) == 1 {
		return one
	}
	return more
}

// firstReader is the pointer of the first path that reads a leaf.
func (c *checker) firstReader(l *leaf) string {
	for i, p := range c.probes {
		if p != nil && slices.Contains(p.leaves, l) {
			return c.readings[i].Pointer
		}
	}
	return ""
}

// describeValues groups values by what they look like: "FAILED, TIMEOUT (failure)".
func describeValues(values []Value) string {
	var groups []string
	for len(values) > 0 {
		first := values[0]
		n := slices.IndexFunc(values, func(v Value) bool { return v.Verdict != first.Verdict })
		if n < 0 {
			n = len(values)
		}
		var names []string
		known := true
		for _, v := range values[:n] {
			names = append(names, v.Value)
			known = known && v.Known
		}
		by := "by name a "
		if known {
			by = "a "
		}
		groups = append(groups, fmt.Sprintf("%s (%s%s)", strings.Join(names, ", "), by, first.Verdict))
		values = values[n:]
	}
	return strings.Join(groups, ", ")
}

func (c *checker) noFailure(failing []string) {
	if slices.ContainsFunc(c.waiter.Acceptors, func(a pollcore.Acceptor) bool { return a.State == pollcore.Failure }) {
		return
	}
	slices.Sort(failing)
	failing = slices.Compact(failing)
	if len(failing) > 0 {
		c.report(NoFailure, diag.Warning, "/acceptors", fmt.Sprintf(
			"no acceptor has the state failure, so no response can make the waiter fail, though these look like failures: %s; add failure acceptors", list(failing)))
		return
	}
	c.report(NoFailure, diag.Note, "/acceptors",
		"no acceptor has the state failure: only an error makes the waiter fail, and a job that cannot succeed is polled until the deadline")
}
