package fix

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

var quotedWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"]+)"`) })

// correct puts the word that lint suggests in the place of the wrong one, wherever it stands:
// it is one mistake, and a loop that is right in one place alone may fail by itself where it
// broke. A call with two wrong arguments breaks until both are right, and a run may break at
// another wrong word behind it, so the last edits mend all of the state, and all of the machine.
func (c *checked) correct(f lint.Finding) []candidate {
	var found []candidate
	for _, wrong := range c.wrongWords(f) {
		one := c.putWords(func(other lint.Finding, word string) bool {
			return word == wrong && other.Rule == f.Rule && other.Suggestion == f.Suggestion
		})
		all := one
		all.edits = withEdits(one.edits, c.putElsewhere(f, wrong))
		if len(all.edits) > len(one.edits) {
			found = append(found, all)
		}
		found = append(found, one)
	}
	if found == nil {
		return nil
	}
	for _, takes := range []func(other lint.Finding, word string) bool{
		func(other lint.Finding, _ string) bool { return c.stateAt(other) == c.stateAt(f) },
		func(lint.Finding, string) bool { return true },
	} {
		if more := c.putWords(takes); len(more.edits) > len(found[len(found)-1].edits) {
			found = append(found, more)
		}
	}
	if f.Rule == typecheck.EnumValue { // no run may show a word that changes nothing
		idle := found[0]
		idle.about += ": no other answer ends otherwise"
		idle.idle, idle.frame = true, framesOfWord(c.wrongWords(f)[0])
		found = append(found, idle)
	}
	return found
}

// withEdits are edits with others, but for those at a place that one of them changes.
func withEdits(edits, others []edit.Edit) []edit.Edit {
	edits = slices.Clone(edits)
	for _, other := range others {
		if !slices.ContainsFunc(edits, func(e edit.Edit) bool { return e.At == other.At }) {
			edits = append(edits, other)
		}
	}
	return edits
}

// framesOfWord are the answers with a word that no service says.
func framesOfWord(word string) []trial.Kind {
	return []trial.Kind{{Sort: trial.Status, Value: word}, {Sort: trial.Never, Value: word}}
}

// wrongWords are the words of a finding that can be replaced by the one that lint suggests.
func (c *checked) wrongWords(f lint.Finding) []string {
	var words []string
	for _, quoted := range quotedWord().FindAllStringSubmatch(f.Message, -1) {
		if f.Suggestion != "" && c.correction(f, quoted[1]) != nil {
			words = append(words, quoted[1])
		}
	}
	return words
}

// putWords puts the words that lint suggests in the place of wrong ones.
func (c *checked) putWords(takes func(f lint.Finding, wrong string) bool) candidate {
	one := candidate{class: Offered, respells: true, mended: func(*trial.Run) bool { return true }, excuses: isExcused}
	var words []string
	for _, f := range c.findings {
		i := slices.IndexFunc(c.wrongWords(f), func(wrong string) bool { return takes(f, wrong) })
		if i < 0 {
			continue
		}
		wrong := c.wrongWords(f)[i]
		if f.Severity == diag.Note {
			continue // the right word stands beside it
		}
		made := c.correction(f, wrong)
		if at := slices.IndexFunc(one.edits, func(e edit.Edit) bool { return e.At == f.Pointer }); at < 0 {
			one.edits = append(one.edits, *made)
		} else if text, ok := unquote(one.edits[at].Value); ok { // an expression with two wrong words
			text, _ = putWord(text, wrong, f.Suggestion)
			one.edits[at].Value = jsontree.Quote(text)
		}
		if word := strconv.Quote(f.Suggestion) + " for " + strconv.Quote(wrong); !slices.Contains(words, word) {
			words = append(words, word)
		}
		one.blinded = one.blinded || f.Rule == typecheck.UnknownMember
		if f.Rule == typecheck.EnumValue { // both words go another way
			one.misspelt = append(one.misspelt, wrong)
			of := []trial.Kind{{Sort: trial.Status, Value: f.Suggestion}, {Sort: trial.Never, Value: f.Suggestion}}
			one.frame = append(append(one.frame, trial.Kind{Sort: trial.Status, Value: wrong}), of...)
			if one.wrong == "" {
				one.of, one.wrong = of, wrong
			}
		}
	}
	if one.about = strings.Join(words, ", "); len(words) > 1 {
		one.of, one.wrong = nil, ""
	}
	return one
}

// correction is the edit that puts the word that lint suggests in the place of a wrong one;
// nil if the place does not have it once.
func (c *checked) correction(f lint.Finding, wrong string) *edit.Edit {
	node := nodeAt(c.root, f.Pointer)
	name := f.Pointer[strings.LastIndex(f.Pointer, "/")+1:]
	switch {
	case wrong == f.Suggestion:
		return nil
	case strings.TrimSuffix(name, ".$") == wrong:
		return &edit.Edit{Op: edit.Rename, At: f.Pointer, Name: strings.Replace(name, wrong, f.Suggestion, 1)}
	case node == nil || node.Kind != jsontree.String:
		return nil
	}
	put := putWord
	if f.Rule == typecheck.UnknownMember && pathTo(node.Text, wrong) != "" {
		put = putMember
	}
	text, ok := put(node.Text, wrong, f.Suggestion)
	if !ok {
		return nil
	}
	return &edit.Edit{Op: edit.Replace, At: f.Pointer, Value: jsontree.Quote(text)}
}

// putWord puts a word in the place of another, which a text has once.
func putWord(text, wrong, right string) (string, bool) {
	places := regexp.MustCompile(`\b`+regexp.QuoteMeta(wrong)+`\b`).FindAllStringIndex(text, -1)
	if len(places) != 1 {
		return text, false
	}
	return text[:places[0][0]] + right + text[places[0][1]:], true
}
