package ignore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// mark begins what a comment says to jobpoller, and verb is the word behind it.
const (
	mark = "jobpoller:"
	verb = "ignore"
)

// directive is what a comment says: rules and a reason, or what is wrong with it.
type directive struct {
	rules               []string
	reason              string
	problem, suggestion string
}

// parse reads a comment:
//
//	jobpoller: ignore RULE[, RULE]... [,|:] REASON
//
// The mark stands at the beginning or behind a blank. A directive ends with the line or at
// the next mark. A word behind a comma is a rule if there is one of that name, or if it is
// misspelt; all else begins the reason. Behind a colon there is no rule.
func parse(text string, o Options) []directive {
	var all []directive
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			break
		}
		from := at + i
		at = from + len(mark)
		if from > 0 && !isBlank(text[from-1]) {
			continue
		}
		body := text[at:]
		if end := strings.IndexAny(body, "\r\n"); end >= 0 {
			body = body[:end]
		}
		if next := strings.Index(body, " "+mark); next >= 0 {
			body = body[:next]
		}
		at += len(body)
		if d, is := parseOne(strings.TrimSpace(body), o); is {
			all = append(all, d)
		}
	}
	return all
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// parseOne reads what stands behind a mark. Other words than the verb are no directive,
// unless they look like one.
func parseOne(body string, o Options) (d directive, is bool) {
	word, rest := cutWord(body)
	if word != verb {
		rule, _ := cutWord(strings.TrimLeft(rest, " \t,:"))
		suggestion := nearest.Word(word, []string{verb})
		if suggestion == "" && !o.knows(rule) {
			return d, false
		}
		return directive{problem: fmt.Sprintf("expected %q behind %q, found %q", verb+" RULE, REASON", mark, excerpt(word)), suggestion: suggestion}, true
	}
	for rest = strings.TrimSpace(rest); ; {
		rule, behind := cutWord(rest)
		known := o.knows(rule)
		switch {
		case !known && len(d.rules) == 0:
			return o.refuse(rule), true
		case !known && strings.Contains(rule, "-") && nearest.Word(rule, o.Known) != "":
			return o.refuse(rule), true
		case !known:
			d.reason = trimReason(rest)
			return d, true
		case o.Fixed[rule] != "":
			return directive{problem: fmt.Sprintf("%s cannot be ignored: %s", rule, o.Fixed[rule])}, true
		}
		d.rules = append(d.rules, rule)
		next := strings.TrimSpace(behind)
		if !strings.HasPrefix(next, ",") {
			d.reason = trimReason(next)
			return d, true
		}
		rest = strings.TrimSpace(next[1:])
	}
}

// knows tells whether there is a rule of a name.
func (o Options) knows(rule string) bool {
	return slices.Contains(o.Known, rule) || o.Fixed[rule] != ""
}

// refuse is the directive of a word that is no rule.
func (o Options) refuse(word string) directive {
	if word == "" {
		return directive{problem: fmt.Sprintf("the comment names no rule: write %q", mark+" "+verb+" RULE, REASON")}
	}
	return directive{problem: fmt.Sprintf("there is no rule %q; list them: jobpoller lint --rules", excerpt(word)), suggestion: nearest.Word(word, o.Known)}
}

// cutWord cuts a word of letters, digits and hyphens off a text.
func cutWord(text string) (word, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// trimReason takes the sign before a reason away.
func trimReason(text string) string {
	text = strings.TrimLeft(text, " \t,:")
	for _, dash := range []string{"--", "-", "–", "—"} {
		if rest, ok := strings.CutPrefix(text, dash); ok {
			text = rest
			break
		}
	}
	return strings.TrimSpace(text)
}

// excerpt shortens a word for a message.
func excerpt(word string) string {
	const most = 40
	if len(word) > most {
		return word[:most] + "..."
	}
	return word
}
