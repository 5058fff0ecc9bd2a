package terraform

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// textCalls are functions whose result is a text that has pieces of their arguments. They
// return false if the result is unknown.
var textCalls = map[string]func(args []*Value, b *budget) (Text, bool){
	"tostring":   func(args []*Value, _ *budget) (Text, bool) { return args[0].text() },
	"trimspace":  trimmed(func(s string, _ []string) string { return strings.TrimSpace(s) }),
	"chomp":      trimmed(func(s string, _ []string) string { return strings.TrimRight(s, "\r\n") }),
	"trim":       trimmed(func(s string, with []string) string { return strings.Trim(s, with[0]) }),
	"trimprefix": trimmed(func(s string, with []string) string { return strings.TrimPrefix(s, with[0]) }),
	"trimsuffix": trimmed(func(s string, with []string) string { return strings.TrimSuffix(s, with[0]) }),
	"replace":    replace,
	"format":     format,
	"join":       joinItems,
	"indent":     indent,
}

// textArguments are how many arguments each takes at least.
var textArguments = map[string]int{
	"tostring": 1, "trimspace": 1, "chomp": 1, "trim": 2, "trimprefix": 2, "trimsuffix": 2, "replace": 3, "format": 1, "join": 2, "indent": 2,
}

// trimmed is a function that takes something away at the ends of a text.
func trimmed(cut func(text string, with []string) string) func(args []*Value, b *budget) (Text, bool) {
	return func(args []*Value, b *budget) (Text, bool) {
		text, ok := args[0].text()
		with := make([]string, 0, 1)
		for _, arg := range args[1:] {
			t, isText := arg.text()
			known, whole := t.known()
			ok = ok && isText && whole
			with = append(with, known)
		}
		if !ok || !b.take(text.size()) {
			return nil, false
		}
		return text.trim(func(s string) string { return cut(s, with) }), true
	}
}

// replace puts a text in for parts of another: for a literal, or for what a pattern
// between slashes matches.
func replace(args []*Value, b *budget) (Text, bool) {
	subject, ok := args[0].text()
	search, isText := args[1].text()
	pattern, known := search.known()
	if !ok || !isText || !known || !b.take(subject.size()) {
		return nil, false
	}
	j := joinText(subject)
	matches, expand := literalMatches(j.whole, pattern), func(at Place, _ []int) (Text, bool) { return args[2].standsAt(at).text() }
	if len(pattern) > 1 && pattern[0] == '/' && pattern[len(pattern)-1] == '/' {
		re, err := regexp.Compile(pattern[1 : len(pattern)-1])
		by, isText := args[2].text()
		template, known := by.known()
		if err != nil || !isText || !known {
			return nil, false
		}
		matches = re.FindAllStringSubmatchIndex(j.whole, -1)
		expand = func(at Place, match []int) (Text, bool) {
			if !b.take(len(template) * len(match)) {
				return nil, false
			}
			return textValue(string(re.ExpandString(nil, template, j.whole, match)), at).text()
		}
	}
	var out Text
	at := 0
	for _, match := range matches {
		if j.hasHole(match[0], match[1]) {
			return nil, false
		}
		by, ok := expand(j.place(match[0], match[1]), match)
		if !ok || !b.take(by.size()) {
			return nil, false
		}
		out = append(append(out, j.slice(at, match[0])...), by...)
		at = match[1]
	}
	return append(out, j.slice(at, len(j.whole))...), true
}

func literalMatches(text, search string) [][]int {
	var all [][]int
	if search == "" { // before each character: nobody means that
		return nil
	}
	for at := 0; ; {
		i := strings.Index(text[at:], search)
		if i < 0 {
			return all
		}
		all = append(all, []int{at + i, at + i + len(search)})
		at += i + len(search)
	}
}

// verb is a verb of format: an index, flags, a width, a letter.
var verb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%(?:\[(\d{1,3})\])?([-+# 0]*\d{0,3}(?:\.\d{0,3})?)([a-zA-Z%])`)
})

// format puts values into a text.
func format(args []*Value, b *budget) (Text, bool) {
	spec, ok := args[0].text()
	if !ok {
		return nil, false
	}
	j := joinText(spec)
	var out Text
	at, next := 0, 1
	for _, m := range verb().FindAllStringSubmatchIndex(j.whole, -1) {
		out = append(out, j.slice(at, m[0])...)
		at = m[1]
		place := j.place(m[0], m[1])
		flags, letter := j.whole[m[4]:m[5]], j.whole[m[6]:m[7]]
		if letter == "%" {
			out = append(out, Piece{Text: "%", At: place})
			continue
		}
		if m[2] >= 0 {
			next, _ = strconv.Atoi(j.whole[m[2]:m[3]])
		}
		if next < 1 || next >= len(args) {
			return nil, false
		}
		text, ok := formatted(args[next], flags, letter, place, b)
		next++
		if !ok || !b.take(text.size()) {
			return nil, false
		}
		out = append(out, text...)
	}
	if strings.Contains(j.whole[at:], "%") {
		return nil, false
	}
	return append(out, j.slice(at, len(j.whole))...), true
}

// formatted is a value as a verb writes it.
func formatted(v *Value, flags, letter string, at Place, b *budget) (Text, bool) {
	if flags == "" {
		switch letter {
		case "s", "d", "t":
			return v.standsAt(at).text()
		case "v":
			if v.Kind < List && v.Kind != Null {
				return v.standsAt(at).text()
			}
		case "q":
			if text, ok := v.standsAt(at).text(); ok {
				return encode(&Value{Kind: String, Text: text, At: at}, b)
			}
			return nil, false
		}
	}
	known, ok := v.toCty(b)
	if !ok {
		return nil, false
	}
	made := callStandard(stdlib.FormatFunc, []cty.Value{cty.StringVal("%" + flags + letter), known}, "", at, b)
	return made.Text, made.Kind == String
}

// joinItems joins the texts of lists.
func joinItems(args []*Value, b *budget) (Text, bool) {
	separator, ok := args[0].text()
	if !ok {
		return nil, false
	}
	var out Text
	first := true
	for _, list := range args[1:] {
		if list.Kind != List {
			return nil, false
		}
		for _, item := range list.Items {
			text, ok := item.text()
			if !ok || !b.take(text.size()+separator.size()) {
				return nil, false
			}
			if !first {
				out = append(out, separator...)
			}
			out, first = append(out, text...), false
		}
	}
	return out, true
}

// indent puts blanks behind each line break.
func indent(args []*Value, b *budget) (Text, bool) {
	text, ok := args[1].text()
	blanks, err := strconv.Atoi(args[0].Literal)
	if !ok || err != nil || blanks < 0 || blanks > maxShort {
		return nil, false
	}
	var out Text
	for _, p := range text {
		if p.Hole != nil {
			out = append(out, p)
			continue
		}
		lines := joinText(Text{p})
		at := 0
		for at < len(p.Text) {
			end := len(p.Text)
			i := strings.IndexByte(p.Text[at:], '\n')
			if i >= 0 {
				end = at + i + 1
			}
			out = append(out, lines.slice(at, end)...)
			if !b.take(end - at + blanks) {
				return nil, false
			}
			if i >= 0 {
				out = append(out, Piece{Text: strings.Repeat(" ", blanks), At: lines.place(end-1, end)})
			}
			at = end
		}
	}
	return out, true
}
