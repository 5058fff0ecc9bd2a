package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// noteSpare makes a NOTE of a word that the model does not list, where the state works without it.
func (c *checker) noteSpare(f typecheck.Finding) typecheck.Finding {
	beside := c.findBeside(f)
	if beside == nil {
		return f
	}
	f.Severity, f.Suggestion = diag.Note, ""
	f.Message, _, _ = strings.Cut(f.Message, ": its values are")
	f.Message += fmt.Sprintf(", and the word does nothing beside %s; remove it", quoteAll(beside))
	return f
}

// findBeside are right values, one for each way of a state, that lead the same way as the wrong word of a finding; nil if
// there is none, or if the word may stand for a value that the state does not name.
func (c *checker) findBeside(f typecheck.Finding) []string {
	if f.Rule != typecheck.EnumValue || f.Enum == nil || f.Word == "" {
		return nil
	}
	spellers := c.spellers()
	i := slices.IndexFunc(spellers, func(s *asl.State) bool { return isBelow(f.Pointer, s.Position.Pointer) })
	if i < 0 {
		return nil
	}
	beside := besideWord(alternativesIn(spellers[i]), f.Word, f.Enum.Enum)
	if beside == nil || c.hidesValue(spellers[i], f) {
		return nil
	}
	return beside
}

// spellers are the states whose texts may stand beside each other, those of inner flows first.
func (c *checker) spellers() []*asl.State {
	var all []*asl.State
	for s := range c.machine.All {
		if s.Choice != nil || s.Assign != nil || s.Output != nil {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *asl.State) int { return len(b.Position.Pointer) - len(a.Position.Pointer) })
	return all
}

// besideWord are the first right values in the lists of alternatives that have a word; nil if one has none, or none has the word.
func besideWord(alternatives [][]string, word string, right []string) []string {
	var beside []string
	for _, words := range alternatives {
		if !slices.Contains(words, word) {
			continue
		}
		i := slices.IndexFunc(words, func(other string) bool { return slices.Contains(right, other) })
		switch {
		case i < 0:
			return nil
		case !slices.Contains(beside, words[i]):
			beside = append(beside, words[i])
		}
	}
	return beside
}

// hidesValue tells whether the wrong word of a finding may stand for a value that its state names nowhere.
func (c *checker) hidesValue(s *asl.State, f typecheck.Finding) bool {
	named := wordsAt(s)
	isMeant := func(value string) bool {
		return nearest.Word(f.Word, []string{value}) != "" || nearest.Synonym(f.Word, []string{value}) != ""
	}
	sure := slices.ContainsFunc(f.Enum.Enum, func(value string) bool { return named[value] && isMeant(value) })
	sameSort := func(value string) bool { return c.sortOf(s, f.Enum, value) == c.sortOf(s, f.Enum, f.Word) }
	if named[f.Suggestion] && sameSort(f.Suggestion) && !slices.ContainsFunc(alternativesIn(s), func(words []string) bool {
		return slices.Contains(words, f.Word) && slices.Contains(words, f.Suggestion)
	}) {
		return true // it leads another way than the value that it stands for
	}
	others := map[string]bool{} // that other wrong words of the state are meant for
	for _, other := range c.types.Findings() {
		if other.Rule == typecheck.EnumValue && other.Word != f.Word && isBelow(other.Pointer, s.Position.Pointer) {
			others[other.Suggestion] = true
		}
	}
	return slices.ContainsFunc(f.Enum.Enum, func(value string) bool {
		if named[value] {
			return false
		}
		return isMeant(value) || !sure && !others[value] && sameSort(value)
	})
}

// sortOf is what a value means to the loop of a Choice, or else by its name.
func (c *checker) sortOf(s *asl.State, enum *catalog.Shape, value string) Meaning {
	for _, l := range c.tables {
		for i := range l.Rows {
			row := &l.Rows[i]
			known := row.Meaning == MeansSuccess || row.Meaning == MeansFailure || row.Meaning == MeansRunning
			if known && slices.Contains(l.Choices, s) && slices.Contains(enum.Enum, value) && slices.Contains(row.Values, value) {
				return row.Meaning
			}
		}
	}
	switch {
	case isGoing(value):
		return MeansRunning
	case endName().MatchString(value), meaningOfName(value) == MeansFailure:
		return MeansFailure
	default:
		return MeansSuccess
	}
}

// wordsAt are the texts that a state compares with or has in a table.
func wordsAt(s *asl.State) map[string]bool {
	named := map[string]bool{}
	if s.Choice != nil {
		nameValues(s, named)
	}
	for _, words := range alternativesIn(s) {
		for _, word := range words {
			named[word] = true
		}
	}
	return named
}

// alternativesIn are the texts of a state, in lists of those that lead the same way.
func alternativesIn(s *asl.State) [][]string {
	a := &alternatives{}
	a.template(s.Assign)
	a.template(s.Output)
	if s.Choice == nil {
		return a.lists
	}
	byNext := map[string][]string{}
	var order []string
	for i := range s.Choice.Rules {
		rule := &s.Choice.Rules[i]
		inner := &alternatives{}
		key := ""
		if rule.Expression == nil {
			key = inner.condition(&rule.Condition)
		} else if rule.Expression.Expression != nil {
			whole := rule.Expression.Expression.Part()
			key = inner.expression(&whole)
		}
		if key == "" || len(inner.lists) != 1 || rule.Assign != nil || rule.Output != nil {
			a.lists = append(a.lists, inner.lists...)
			a.template(rule.Assign)
			a.template(rule.Output)
			continue
		}
		way := strconv.Quote(rule.Next) + key
		if byNext[way] == nil {
			order = append(order, way)
		}
		byNext[way] = append(byNext[way], inner.lists[0]...)
	}
	for _, way := range order {
		a.lists = append(a.lists, byNext[way])
	}
	return a.lists
}
