package trial

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// words are the texts that conditions compare with: literals, and texts made up to fit a pattern.
type words struct {
	texts    []string
	literals map[string]bool
	patterns map[string]string // by the text
}

func newWords() *words { return &words{literals: map[string]bool{}, patterns: map[string]string{}} }

// add adds the texts that another state compares with.
func (w *words) add(other *words) {
	for _, text := range other.texts {
		if !slices.Contains(w.texts, text) {
			w.texts = append(w.texts, text)
		}
	}
	maps.Copy(w.literals, other.literals)
	maps.Copy(w.patterns, other.patterns)
}

// patternOf is the pattern that a text was made up to fit; empty for a literal.
func (w *words) patternOf(text string) string {
	if w.literals[text] {
		return ""
	}
	return w.patterns[text]
}

var (
	comparedText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"(StringEquals|StringMatches|StringLessThan\w*|StringGreaterThan\w*)":\s*("(?:[^"\\]|\\.)*")`)
	})
	quotedText     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'([^']*)'|"([^"]*)"`) })
	expressionText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"\{%((?:[^"\\]|\\.)*)%\}"`) })
)

// read adds the texts that a state compares with.
func (w *words) read(text []byte, language asl.QueryLanguage) {
	if language == asl.JSONPath {
		for _, m := range comparedText().FindAllSubmatch(text, -1) {
			var word string
			if json.Unmarshal(m[2], &word) == nil {
				w.addText(word, string(m[1]) == "StringMatches")
			}
		}
		return
	}
	for _, m := range expressionText().FindAllSubmatch(text, -1) {
		var expression string
		if json.Unmarshal(slices.Concat([]byte(`"`), m[1], []byte(`"`)), &expression) != nil {
			continue
		}
		e, err := jsonata.Compile(expression)
		if err != nil {
			continue
		}
		whole := e.Part()
		w.readPart(&whole, expression, false)
	}
}

// addText adds a text, or one that fits a pattern in which * stands for any text.
func (w *words) addText(word string, isPattern bool) {
	pattern := word
	if isPattern {
		word = strings.NewReplacer(`\*`, "*", "*", "x").Replace(word)
	}
	if word == "" || len(word) >= 64 {
		return
	}
	if !slices.Contains(w.texts, word) {
		w.texts = append(w.texts, word)
	}
	if isPattern && pattern != word {
		w.patterns[word] = pattern
	} else {
		w.literals[word] = true
	}
}

// readPart adds the texts of an expression that it may compare a status with. A text that it gives or
// joins to others, as a message has them, is not compared here.
func (w *words) readPart(p *jsonata.Part, text string, compares bool) {
	for i := range p.Filters {
		w.readPart(&p.Filters[i], text, true)
	}
	switch p.Kind {
	case jsonata.PartLiteral:
		if word, ok := p.Value.(string); ok && compares {
			w.addText(word, false)
		}
	case jsonata.PartRegex:
		w.addRegex(p.Text)
	case jsonata.PartLambda:
		w.readPart(&p.Lambda.Body, text, false)
	case jsonata.PartOther: // nobody knows its parts
		for _, m := range quotedText().FindAllStringSubmatch(text[p.Offset:], -1) {
			w.addText(m[1]+m[2], false)
		}
	default:
		if p.Kind == jsonata.PartCall && p.Text == "contains" && len(p.Parts) > 1 {
			if word, ok := p.Parts[1].Value.(string); ok && word != "" {
				w.addText("*"+word+"*", true)
				p.Parts = p.Parts[:1]
			}
		}
		for i := range p.Parts {
			w.readPart(&p.Parts[i], text, comparesPart(p, i, compares))
		}
	}
}

// textFunctions are those of JSONata that make a text for people.
var textFunctions = []string{"join", "replace", "pad", "formatNumber", "formatInteger", "formatBase", "fromMillis", "error"}

// comparesPart tells whether a text may be compared that is the i-th part of another, which compares its own
// value or does not.
func comparesPart(p *jsonata.Part, i int, compares bool) bool {
	switch p.Kind {
	case jsonata.PartBinary:
		return p.Text != "&"
	case jsonata.PartObject:
		return i%2 == 0 // a name, that $lookup finds
	case jsonata.PartCondition:
		return compares && i > 0 // the values that it gives
	case jsonata.PartArray, jsonata.PartBlock:
		return compares
	case jsonata.PartCall:
		return !slices.Contains(textFunctions, p.Text)
	default:
		return true
	}
}

// addRegex adds texts that a regular expression takes.
func (w *words) addRegex(pattern string) {
	end := strings.LastIndexByte(pattern, '/')
	expression, flags := pattern[1:end], pattern[end+1:]
	takes, err := regexp.Compile(strings.Replace("(?"+flags+")", "(?)", "", 1) + expression)
	if err != nil {
		return
	}
	for _, word := range fitting(expression) {
		if !takes.MatchString(word) {
			continue
		}
		if !slices.Contains(w.texts, word) {
			w.texts = append(w.texts, word)
		}
		w.patterns[word] = pattern
	}
}

// fitting are texts that a regular expression of plain words may take, one for each of its words.
func fitting(expression string) []string {
	var all []string
	for word := range strings.SplitSeq(strings.NewReplacer("(?:", "", "(", "", ")", "", ".*", "").Replace(expression), "|") {
		if !strings.HasPrefix(expression, "^") {
			word = "x" + strings.TrimPrefix(word, "^")
		}
		if !strings.HasSuffix(expression, "$") {
			word = strings.TrimSuffix(word, "$") + "x"
		}
		if word = strings.Trim(word, "^$"); !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// compared is a value that a member may be compared with, and what people call it.
type compared struct {
	name  string
	value any
}

// valuesOf are the values to try of a part that a machine compares: those that it names, texts that fit the patterns
// that it is compared with, and the neighbours of its numbers.
func (w *words) valuesOf(part typecheck.Compared) []compared {
	var all []compared
	for _, text := range part.Texts {
		all = append(all, compared{text, text})
	}
	for _, text := range w.texts {
		pattern := w.patternOf(text)
		if pattern != "" && (slices.Contains(part.Patterns, pattern) || slices.Contains(part.Patterns, "")) {
			all = append(all, compared{"like " + pattern, text})
		}
	}
	for _, n := range part.Numbers {
		for _, near := range []float64{n - 1, n, n + 1} {
			number := json.Number(strconv.FormatFloat(near, 'f', -1, 64))
			all = append(all, compared{number.String(), number})
		}
	}
	if part.Flag {
		all = append(all, compared{"true", true}, compared{"false", false})
	}
	return all
}
