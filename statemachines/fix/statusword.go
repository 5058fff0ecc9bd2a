package fix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// correctWords put a value in the place of a word that begins like it, and that no status is: first wherever the word
// stands, as that is one mistake, and then in one rule.
func (e *statusEdit) correctWords() {
	if len(e.values) != 1 {
		return
	}
	var words []string
	places := map[string][]edit.Edit{}
	add := func(n *jsontree.Node, wrong, text string) {
		switch at := n.Pointer(); {
		case places[wrong] == nil:
			words = append(words, wrong)
		case slices.ContainsFunc(places[wrong], func(made edit.Edit) bool { return made.At == at }): // an expression with the word twice
			return
		}
		places[wrong] = append(places[wrong], edit.Edit{Op: edit.Replace, At: n.Pointer(), Value: jsontree.Quote(text)})
	}
	for _, s := range e.loop.Choices {
		if rules := nodeAt(e.root, s.Position.Pointer).Get("Choices"); rules != nil {
			for _, rule := range rules.Items {
				e.correctWord(rule, add)
			}
		}
	}
	for _, wrong := range words {
		if made := places[wrong]; len(made) > 1 {
			e.all = append(e.all, statusChange{values: e.values, edits: made, wrong: wrong})
		}
	}
	for _, wrong := range words {
		for _, made := range places[wrong] {
			e.all = append(e.all, statusChange{values: e.values, edits: []edit.Edit{made}, wrong: wrong})
		}
	}
}

// correctWord calls add with the value for each word of a rule that may be meant to be it.
func (e *statusEdit) correctWord(rule *jsontree.Node, add func(n *jsontree.Node, wrong, text string)) {
	if condition := rule.Get("Condition"); condition != nil {
		for _, found := range quotedWords().FindAllStringSubmatch(condition.Text, -1) {
			if wrong := found[1]; e.mayMean(wrong) {
				add(condition, wrong, strings.ReplaceAll(condition.Text, found[0], found[0][:1]+e.values[0]+found[0][:1]))
			}
		}
		return
	}
	for _, leaf := range leaves(rule) {
		if equals := leaf.Get("StringEquals"); equals != nil && e.mayMean(equals.Text) {
			add(equals, equals.Text, e.values[0])
		}
	}
}

var quotedWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"](\w+)['"]`) })

// mayMean tells whether a word is meant to be the value: it is no status, and begins like it.
func (e *statusEdit) mayMean(word string) bool {
	const alike = 4 // "SUCCEEDED" and "SUCCESS"
	known := slices.ContainsFunc(e.loop.Rows, func(r lint.Row) bool { return !r.Compared && slices.Contains(r.Values, word) })
	return !known && len(word) >= alike && strings.HasPrefix(strings.ToLower(e.values[0]), strings.ToLower(word[:alike]))
}

// isNever tells whether lint says that a value is never a word.
func (c *checked) isNever(word string) bool {
	return slices.ContainsFunc(c.findings, func(f lint.Finding) bool {
		return f.Rule == typecheck.EnumValue && slices.Contains(f.Subjects, word)
	})
}

// isSynonym tells whether a suggested status means the same as the wrong word, and is no near one.
func (c *checked) isSynonym(f lint.Finding) bool {
	wrong := c.wrongWords(f)
	return f.Rule == typecheck.EnumValue && len(wrong) > 0 &&
		nearest.Word(wrong[0], []string{f.Suggestion}) == "" && nearest.Synonym(wrong[0], []string{f.Suggestion}) != ""
}

func wordsOf(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}

// narrowRules take the values, or one of them, out of a rule that names others, too: a later
// rule may be for them.
func (e *statusEdit) narrowRules() {
	e.narrowTo(e.values)
	if len(e.values) > 1 {
		for _, v := range e.values {
			e.narrowTo([]string{v})
		}
	}
	e.dropRules()
}

// dropRules take away the rules that are for no other values: a later rule, or Default, may be for them.
func (e *statusEdit) dropRules() {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		var edits []edit.Edit
		for _, rule := range rules.Items {
			words := wordsIn(rule)
			other := slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(e.values, word) })
			if len(words) > 0 && !other {
				edits = append(edits, edit.Edit{Op: edit.Remove, At: rule.Pointer()})
			}
		}
		if 0 < len(edits) && len(edits) < len(rules.Items) {
			e.all = append(e.all, statusChange{values: e.values, edits: edits, drops: true})
		}
	}
}

// wordsIn are the texts that a rule compares with; nil if it compares something else, too.
func wordsIn(rule *jsontree.Node) []string {
	var words []string
	if condition := rule.Get("Condition"); condition != nil {
		if !onlyWords().MatchString(condition.Text) {
			return nil
		}
		for _, found := range quotedWords().FindAllStringSubmatch(condition.Text, -1) {
			words = append(words, found[1])
		}
		return words
	}
	for _, leaf := range leaves(rule) {
		switch equals := leaf.Get("StringEquals"); {
		case equals != nil:
			words = append(words, equals.Text)
		case leaf.Get("IsPresent") == nil:
			return nil
		}
	}
	return words
}

// onlyWords matches a condition that compares one thing with a text, or with a list of them, and may look
// whether it is there.
var onlyWords = sync.OnceValue(func() *regexp.Regexp {
	operand, word := `\$[\w.\[\]]+`, `['"]\w+['"]`
	list := `\[\s*` + word + `(?:\s*,\s*` + word + `)*\s*\]`
	return regexp.MustCompile(`^\{%\s*(?:\$exists\(` + operand + `\)\s+and\s+)?` + operand + `\s*(?:=\s*` + word + `|in\s*` + list + `)\s*%\}$`)
})

// narrowTo takes values out of each rule that names others, too.
func (e *statusEdit) narrowTo(values []string) {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for i, rule := range rules.Items {
			at := fmt.Sprintf("%s/Choices/%d", s.Position.Pointer, i)
			if or := orIn(rule); or != nil {
				e.shortenOr(or, values)
			} else if condition := rule.Get("Condition"); condition != nil {
				e.shortenList(condition.Text, at, values)
			}
		}
	}
}

// orIn is the Or of a rule, also of one that asks first whether the status is there; nil if there is none, or more than one.
func orIn(rule *jsontree.Node) *jsontree.Node {
	found := rule.Get("Or")
	if and := rule.Get("And"); and != nil {
		for _, part := range and.Items {
			switch or := part.Get("Or"); {
			case or != nil && found != nil:
				return nil
			case or != nil:
				found = or
			}
		}
	}
	return found
}

// shortenOr takes the values out of an Or.
func (e *statusEdit) shortenOr(or *jsontree.Node, values []string) {
	var edits []edit.Edit
	for _, item := range or.Items {
		if equals := item.Get("StringEquals"); equals != nil && slices.Contains(values, equals.Text) {
			edits = append(edits, edit.Edit{Op: edit.Remove, At: item.Pointer()})
		}
	}
	if len(edits) == len(values) && len(edits) < len(or.Items) {
		e.all = append(e.all, statusChange{values: values, edits: edits})
	}
}

// shortenList takes the values out of a list in a condition.
func (e *statusEdit) shortenList(condition, at string, values []string) {
	text := condition
	for _, v := range values {
		shorter := withoutWord(text, v)
		if shorter == text {
			return
		}
		text = shorter
	}
	e.all = append(e.all, statusChange{values: values, edits: []edit.Edit{{Op: edit.Replace, At: at + "/Condition", Value: jsontree.Quote(text)}}})
}

// withoutWord is a condition without a word of a list.
func withoutWord(condition, word string) string {
	quoted := `['"]` + regexp.QuoteMeta(word) + `['"]`
	return regexp.MustCompile(`,\s*`+quoted+`|`+quoted+`\s*,\s*`).ReplaceAllString(condition, "")
}
