package fix

import (
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// addedNumber finds what a number is added to, or taken from: a variable, or a value of the data.
var addedNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\$[\w.]+)\s*[+-]\s*[1-9]|States\.MathAdd\(\s*(\$[\w.]+)`)
})

// brokenCount finds a Choice that leaves an unbounded loop by a count, and the count, which does not bound it: not each
// turn adds to it, or the comparison holds too seldom. Both are empty if there is none.
func (b *boundEdit) brokenCount() (choice, count string) {
	var counts []string
	for _, s := range b.loop.Flow.States {
		if !b.inside[s.Name] {
			continue
		}
		for _, field := range []string{"Assign", "Output", "Parameters"} {
			counts = append(counts, b.countsIn(s, field)...)
		}
	}
	for _, s := range b.loop.Flow.States {
		if s.Choice == nil || !b.inside[s.Name] {
			continue
		}
		byDefault := s.Choice.Default != "" && !b.inside[s.Choice.Default]
		for i, rule := range nodeAt(b.root, s.Position.Pointer).Get("Choices").Items {
			if b.inside[s.Choice.Rules[i].Next] && !byDefault {
				continue
			}
			if at := slices.IndexFunc(counts, func(count string) bool { return comparesValue(rule, count) }); at >= 0 {
				return s.Name, counts[at]
			}
		}
	}
	return "", ""
}

// countsIn are the variables and values that a field of a state, of its rules or of its catchers adds a number to.
func (b *boundEdit) countsIn(s *asl.State, field string) []string {
	var all []string
	for _, part := range partsThatAssign(nodeAt(b.root, s.Position.Pointer)) {
		if n := part.Get(field); n != nil {
			for _, m := range addedNumber().FindAllSubmatch(n.Raw(), -1) {
				all = append(all, string(m[1])+string(m[2]))
			}
		}
	}
	return all
}

// comparesValue tells whether a condition of a rule reads a variable or a value of the data.
func comparesValue(rule *jsontree.Node, path string) bool {
	found := regexp.MustCompile(regexp.QuoteMeta(path) + `(?:[^\w.]|$)`)
	return slices.ContainsFunc(rule.Members, func(m jsontree.Member) bool {
		return m.Name != "Assign" && m.Name != "Output" && found.Match(m.Value.Raw())
	})
}
