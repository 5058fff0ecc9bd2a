package typecheck

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/nearest"
)

// maxSought is how many texts of a regular expression are looked at.
const maxSought = 64

// checkWritten reports the texts in a part of an expression that an enum never has: of a list, of $split on a
// text, or of the table that $each reads.
func (x *scene) checkWritten(v Value, p *jsonata.Part) {
	if !x.reports || len(p.Filters) > 0 || v.without(missing).words().enum == nil {
		return
	}
	switch {
	case p.Kind == jsonata.PartLiteral:
		x.checkLiteral(v, p)
	case p.Kind == jsonata.PartArray:
		for i := range p.Parts {
			x.checkWritten(v, &p.Parts[i])
		}
	case p.Kind == jsonata.PartVariable:
		if written := x.writtenAs(p.Text); written != nil {
			x.checkWritten(v, written)
		}
	case p.Kind == jsonata.PartCall && p.Text == "split" && len(p.Parts) == 2: //nolint:mnd // the text, and what is between its words
		text, isText := p.Parts[0].Value.(string)
		between, isBetween := p.Parts[1].Value.(string)
		if !isText || !isBetween {
			return
		}
		for word := range strings.SplitSeq(text, between) {
			literal := p.Parts[0]
			literal.Value = word
			x.checkLiteral(v, &literal)
		}
	}
}

// writtenAs is the part of the expression that a variable of it stands for; nil if it is not known.
func (x *scene) writtenAs(name string) *jsonata.Part {
	for _, l := range slices.Backward(x.locals) {
		if l.name == name {
			return l.written
		}
	}
	return nil
}

// checkTable checks the function that $each calls with each value, and the name of it, of a table in the expression.
func (x *scene) checkTable(p *jsonata.Part, context Value) {
	if !x.reports || x.calls >= maxCalls || len(p.Parts) != 2 || p.Parts[0].Kind != jsonata.PartObject ||
		p.Parts[1].Kind != jsonata.PartLambda { //nolint:mnd // the table and the function
		return
	}
	f, table := x.closureOf(&p.Parts[1], context), &p.Parts[0]
	if f == nil {
		return
	}
	for i := 0; i+1 < len(table.Parts); i += 2 {
		here := *x
		here.calls, here.wordsOnly, here.locals = x.calls+1, true, slices.Clip(f.locals)
		for n, name := range f.lambda.Params {
			l := local{field: field{name: name}}
			if n < 2 { //nolint:mnd // the value, and then its name
				l.written = &table.Parts[i+1-n]
			}
			here.locals = append(here.locals, l)
		}
		here.eval(&f.lambda.Body, f.context)
	}
}

// checkPattern reports the texts for which $contains or $match looks and that no value of an enum has. Of those that
// may be a part of a value, it reports only one that is nearly a value.
func (x *scene) checkPattern(v Value, pattern *jsonata.Part) {
	w := v.without(missing).words()
	if !x.reports || v.IsUnknown() || w.enum == nil {
		return
	}
	values := slices.Concat(w.list(), w.except)
	for _, a := range soughtBy(pattern) {
		if a.open || a.text == "" || slices.ContainsFunc(values, a.isIn) {
			continue
		}
		p := x.problemIn(pattern, "%s never matches %q", w.enum.Name, a.text)
		if a.starts && a.ends || nearest.Spelling(a.text, w.list()) != "" {
			x.reportWord(p, a.text, w)
		}
	}
}

// sought is one of the texts for which a pattern looks.
type sought struct {
	text         string
	starts, ends bool // it is at the start of the value, and at its end
	open         bool // the pattern has more than a text
	fold         bool // in any case
}

// isIn tells whether a value has the text where the pattern looks for it.
func (a sought) isIn(value string) bool {
	text := a.text
	if a.fold {
		text, value = strings.ToLower(text), strings.ToLower(value)
	}
	switch {
	case a.starts && a.ends:
		return value == text
	case a.starts:
		return strings.HasPrefix(value, text)
	case a.ends:
		return strings.HasSuffix(value, text)
	default:
		return strings.Contains(value, text)
	}
}

// soughtBy are the texts for which a pattern looks: a literal, or a regular expression.
func soughtBy(pattern *jsonata.Part) []sought {
	if text, isText := pattern.Value.(string); isText && pattern.Kind == jsonata.PartLiteral {
		return []sought{{text: text}}
	}
	end := strings.LastIndex(pattern.Text, "/")
	if pattern.Kind != jsonata.PartRegex || end < 1 {
		return nil
	}
	body, flags := pattern.Text[1:end], syntax.Perl
	fold := strings.Contains(pattern.Text[end:], "i")
	if fold {
		flags |= syntax.FoldCase
	}
	re, err := syntax.Parse(body, flags)
	if err != nil {
		return nil
	}
	all := expand(re)
	for i := range all {
		if all[i].fold = fold; fold { // as it is written
			written := regexp.MustCompile("(?i)" + regexp.QuoteMeta(all[i].text)).FindString(body)
			if all[i].open = all[i].open || written == ""; written != "" {
				all[i].text = written
			}
		}
	}
	return all
}

// expand are the texts that a regular expression stands for. Several spellings of one, as CANCELL?ED, are no text.
func expand(re *syntax.Regexp) []sought {
	all := []sought{{}}
	switch re.Op {
	case syntax.OpEmptyMatch:
	case syntax.OpBeginText, syntax.OpBeginLine:
		all[0].starts = true
	case syntax.OpEndText, syntax.OpEndLine:
		all[0].ends = true
	case syntax.OpLiteral:
		all[0].text = string(re.Rune)
	case syntax.OpCapture:
		all = expand(re.Sub[0])
	case syntax.OpAlternate:
		all = nil
		for _, sub := range re.Sub {
			if all = append(all, expand(sub)...); len(all) > maxSought {
				return []sought{{open: true}}
			}
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if all = joinSought(all, expand(sub)); len(all) > maxSought {
				return []sought{{open: true}}
			}
		}
	default:
		all[0].open = true
	}
	if len(all) > maxSought {
		return []sought{{open: true}}
	}
	return all
}

// joinSought are the texts of a first part of a pattern, each before those of a second.
func joinSought(first, second []sought) []sought {
	var all []sought
	for _, a := range first {
		for _, b := range second {
			all = append(all, sought{
				text: a.text + b.text, open: a.open || b.open,
				starts: a.starts || a.text == "" && b.starts, ends: b.ends || b.text == "" && a.ends,
			})
		}
	}
	return all
}
