package fix

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// lowerCounts are the edits by which a loop ends by its own count before its history is full: a smaller number where it
// compares one.
func (c *checked) lowerCounts(l *lint.Loop, r *repairer) []candidate {
	most := r.all.roomOf(l.Poll.Name).events / longestLap(l)
	var all []candidate
	for _, s := range l.States {
		if s.Choice == nil {
			continue
		}
		for _, rule := range nodeAt(c.root, s.Position.Pointer).Get("Choices").Items {
			for _, e := range countsAbove(rule, most) {
				all = append(all, candidate{
					class: Offered, edits: []edit.Edit{e}, mended: endsByItself, excuses: pollsOn,
					about: fmt.Sprintf("a job that has not ended when the count is %s", thousands(most)),
					also:  "only you know how long a job may run",
					frame: []trial.Kind{{Task: l.Poll.Name, Sort: trial.Never}},
				})
			}
		}
	}
	return all
}

// comparedCount is a number that an expression compares from below.
var comparedCount = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`>=?\s*(\d+)\b`) })

// countsAbove are the edits that put a number in the place of those that a rule compares from below, and that are larger.
func countsAbove(rule *jsontree.Node, most int) []edit.Edit {
	var all []edit.Edit
	for _, leaf := range leaves(rule) {
		for _, member := range leaf.Members {
			if n, err := strconv.Atoi(string(member.Value.Raw())); err == nil && n > most && strings.HasPrefix(member.Name, "NumericGreaterThan") {
				all = append(all, edit.Edit{Op: edit.Replace, At: member.Value.Pointer(), Value: jsonOf(most)})
			}
		}
	}
	condition := rule.Get("Condition")
	if condition == nil || condition.Kind != jsontree.String || asl.HasPlaceholder(condition.Text) {
		return all
	}
	for _, at := range comparedCount().FindAllStringSubmatchIndex(condition.Text, -1) {
		if n, err := strconv.Atoi(condition.Text[at[2]:at[3]]); err == nil && n > most {
			text := condition.Text[:at[2]] + strconv.Itoa(most) + condition.Text[at[3]:]
			all = append(all, edit.Edit{Op: edit.Replace, At: condition.Pointer(), Value: jsontree.Quote(text)})
		}
	}
	return all
}
