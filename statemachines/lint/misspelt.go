package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// isMisspelt tells whether a Choice that decides about a row reads a member that no answer has: in
// a rule, or in what the loop makes of its answers. Where a rule leads is then not known until that
// is right, which the rule unknown-member reports.
func (c *checker) isMisspelt(r *reading, row *Row) bool {
	wrong := c.misspelt()
	if len(wrong) == 0 {
		return false
	}
	for _, way := range r.routes[row.Values[0]] {
		for _, d := range way.chosen {
			if slices.ContainsFunc(wrong, func(pointer string) bool { return isBelow(pointer, d.choice.Position.Pointer+"/Choices") }) {
				return true
			}
			read := namesIn(d.choice)
			if slices.ContainsFunc(wrong, func(pointer string) bool {
				return slices.ContainsFunc(r.inner.states, func(s *asl.State) bool { return isBelow(pointer, s.Position.Pointer) }) &&
					read[strings.TrimSuffix(pointer[strings.LastIndex(pointer, "/")+1:], ".$")]
			}) {
				return true
			}
		}
	}
	return false
}

// misspelt are the places where the definition reads a member that no answer has.
func (c *checker) misspelt() []string {
	var all []string
	for _, f := range c.types.Findings() {
		if f.Rule == typecheck.UnknownMember {
			all = append(all, f.Pointer)
		}
	}
	return all
}

// meantBy are the statuses that a Choice of the loop means by a wrong word, as COMPLETED by "COMPLTED", and names
// nowhere: until the word is right they go another way than the author wrote.
func (c *checker) meantBy(r *reading) map[string]bool {
	meant := map[string]bool{}
	for _, f := range c.types.Findings() {
		if f.Rule == typecheck.EnumValue && f.Suggestion != "" && !r.named[f.Suggestion] {
			meant[f.Suggestion] = meant[f.Suggestion] || slices.ContainsFunc(r.Choices, func(s *asl.State) bool { return isBelow(f.Pointer, s.Position.Pointer) })
		}
	}
	return meant
}

// namesIn are the variables and members that the rules of a Choice look at.
func namesIn(choice *asl.State) map[string]bool {
	names := map[string]bool{}
	for i := range choice.Choice.Rules {
		for _, o := range operandsOfRule(&choice.Choice.Rules[i]) {
			for _, name := range append([]string{o.variable}, o.steps...) {
				names[name] = true
			}
		}
	}
	return names
}
