package lint

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// slashed is a regular expression in one of JSONata, with its flags.
var slashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/((?:[^/\\]|\\.)+)/([im]*)`) })

// around are texts that a word is a part of.
func around(word string) []string { return []string{"x" + word, word + "x", "x" + word + "x"} }

// mostTexts are how many texts are made for a regular expression.
const mostTexts = 8

// textsMatched are texts that the regular expressions of an expression match, alone and with a letter in
// front or behind, as far as they do.
func textsMatched(expression string) []string {
	return textsOfRegexes(expression, func(text string) []string { return append(around(text), text) })
}

// textsFitting are texts that fit some patterns of typecheck.Compared, as short as may be.
func textsFitting(patterns []string) []string {
	var all []string
	for _, pattern := range patterns {
		fitting := []string{strings.NewReplacer(`\*`, "*", `\\`, `\`, "*", "").Replace(pattern)}
		if strings.HasPrefix(pattern, "/") {
			fitting = textsOfRegexes(pattern, func(text string) []string { return []string{text} })
		}
		all = append(all, slices.DeleteFunc(fitting, func(text string) bool { return text == "" })...)
	}
	return all
}

// textsOfRegexes are the texts that are made of those of the regular expressions of an expression and that these match.
func textsOfRegexes(expression string, variants func(text string) []string) []string {
	var all []string
	for _, m := range slashed().FindAllStringSubmatch(expression, -1) {
		flags := ""
		if m[2] != "" {
			flags = "(?" + m[2] + ")"
		}
		matcher, err := regexp.Compile(flags + m[1])
		if err != nil {
			continue // JavaScript's own, or no regular expression
		}
		tree, err := syntax.Parse(flags+m[1], syntax.Perl)
		if err != nil {
			continue
		}
		for _, text := range textsOf(tree) {
			all = append(all, slices.DeleteFunc(variants(text), func(text string) bool { return !matcher.MatchString(text) })...)
		}
	}
	return all
}

// textsOf are texts of a regular expression: each of its alternatives, with as little as may be.
func textsOf(r *syntax.Regexp) []string {
	switch r.Op {
	case syntax.OpLiteral:
		return []string{string(r.Rune)}
	case syntax.OpCharClass:
		if len(r.Rune) == 0 {
			return nil
		}
		return []string{string(r.Rune[0])}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []string{"x"}
	case syntax.OpCapture, syntax.OpPlus:
		return textsOf(r.Sub[0])
	case syntax.OpAlternate:
		var all []string
		for _, part := range r.Sub {
			all = append(all, textsOf(part)...)
		}
		return all[:min(len(all), mostTexts)]
	case syntax.OpConcat:
		all := []string{""}
		for _, part := range r.Sub {
			var longer []string
			for _, text := range all {
				for _, more := range textsOf(part) {
					longer = append(longer, text+more)
				}
			}
			all = longer[:min(len(longer), mostTexts)]
		}
		return all
	default: // which an empty text fits, or that stands between texts
		return []string{""}
	}
}
