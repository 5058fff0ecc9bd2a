package fix

import (
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

var quotedWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"]+)"`) })

// correct puts the word that lint suggests in the place of the wrong one.
func (c *checked) correct(f lint.Finding) []candidate {
	node := nodeAt(c.root, f.Pointer)
	name := f.Pointer[strings.LastIndex(f.Pointer, "/")+1:]
	var all []candidate
	for _, found := range quotedWord().FindAllStringSubmatch(f.Message, -1) {
		wrong := found[1]
		if wrong == f.Suggestion {
			continue
		}
		one := candidate{class: Offered, about: "\"" + f.Suggestion + "\" for \"" + wrong + "\"", mended: func(*trial.Run) bool { return true }, excuses: isExcused}
		one.frame = []trial.Kind{{Sort: trial.Status, Value: wrong}}
		switch {
		case strings.TrimSuffix(name, ".$") == wrong:
			one.edits = []edit.Edit{{Op: edit.Rename, At: f.Pointer, Name: strings.Replace(name, wrong, f.Suggestion, 1)}}
		case node != nil && node.Kind == jsontree.String:
			places := regexp.MustCompile(`\b`+regexp.QuoteMeta(wrong)+`\b`).FindAllStringIndex(node.Text, -1)
			if len(places) != 1 {
				continue
			}
			text := node.Text[:places[0][0]] + f.Suggestion + node.Text[places[0][1]:]
			one.edits = []edit.Edit{{Op: edit.Replace, At: f.Pointer, Value: jsontree.Quote(text)}}
		default:
			continue
		}
		all = append(all, one)
	}
	return all
}
