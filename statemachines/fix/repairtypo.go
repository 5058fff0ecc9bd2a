package fix

import (
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

var quotedWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"]+)"`) })

// correct puts the word that lint suggests in the place of the wrong one, wherever it stands:
// it is one mistake, and a loop that is right in one place alone may fail by itself where it
// broke.
func (c *checked) correct(f lint.Finding) []candidate {
	var found []candidate
	for _, quoted := range quotedWord().FindAllStringSubmatch(f.Message, -1) {
		wrong := quoted[1]
		own := c.correction(f, wrong)
		if own == nil {
			continue
		}
		one := candidate{class: Offered, about: "\"" + f.Suggestion + "\" for \"" + wrong + "\"", mended: func(*trial.Run) bool { return true }, excuses: isExcused}
		if f.Rule == typecheck.EnumValue { // both words go another way
			one.frame = []trial.Kind{{Sort: trial.Status, Value: wrong}, {Sort: trial.Status, Value: f.Suggestion}, {Sort: trial.Never, Value: f.Suggestion}}
		}
		one.edits = []edit.Edit{*own}
		for _, other := range c.findings {
			same := other.Rule == f.Rule && other.Suggestion == f.Suggestion && other.Pointer != f.Pointer && strings.Contains(other.Message, quoted[0])
			if made := c.correction(other, wrong); same && made != nil {
				one.edits = append(one.edits, *made)
			}
		}
		found = append(found, one)
	}
	return found
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
	places := regexp.MustCompile(`\b`+regexp.QuoteMeta(wrong)+`\b`).FindAllStringIndex(node.Text, -1)
	if len(places) != 1 {
		return nil
	}
	text := node.Text[:places[0][0]] + f.Suggestion + node.Text[places[0][1]:]
	return &edit.Edit{Op: edit.Replace, At: f.Pointer, Value: jsontree.Quote(text)}
}
