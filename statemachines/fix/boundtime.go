package fix

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// timeBound finds how long a loop waits that counts its polls, where its delays follow from the definition and are
// no numbers: a list of them, or a sum. A job that does not end shows it.
func (l *loop) timeBound(ctx context.Context, before *observed, o Options) error {
	if l.bound.Kind != lint.ByCount || l.bound.After > 0 || l.bound.Polls == 0 || !l.showsDelays() {
		return nil
	}
	i := slices.IndexFunc(before.seen, func(s seen) bool { return s.verdict == pollcore.Success })
	if i < 0 {
		return nil
	}
	r, asked, err := l.run(ctx, before.bench, before.seen[i].status, asl.MaxStandardTime, 0, o)
	if err != nil {
		return err
	}
	if asked.ended == 0 && asked.calls == l.bound.Polls && before.exit(r) == l.lateExit() {
		l.bound.After = r.Duration()
	}
	return nil
}

// showsDelays tells whether all Wait states of the loop wait for a time that follows from what the states before it,
// and its own, set from numbers.
func (l *loop) showsDelays() bool {
	known := object{}
	l.beginAs(known)
	follows := func(n *jsontree.Node) bool {
		text := string(n.Raw())
		return !unforeseen().MatchString(text) && !slices.ContainsFunc(readVariable().FindAllStringSubmatch(text, -1), func(found []string) bool {
			return found[3] == "" && known[found[1]] == nil
		})
	}
	for _, s := range l.states {
		if s.Type != asl.TypeWait {
			continue
		}
		node := l.node(s)
		if seconds := node.Get("Seconds"); seconds != nil && follows(seconds) {
			continue
		}
		if path := node.Get("SecondsPath"); path == nil || strings.HasPrefix(path.Text, "$.") || !follows(path) {
			return false
		}
	}
	for _, s := range l.states { // what a turn sets anew
		for _, part := range partsThatAssign(l.node(s)) {
			if assign := part.Get("Assign"); assign != nil && slices.ContainsFunc(assign.Members, func(m jsontree.Member) bool {
				return known[variableOf(m)] != nil && !follows(m.Value)
			}) {
				return false
			}
		}
	}
	return true
}

// unforeseen finds reads of the data, the context, the time or chance: the definition alone does not give their values.
var unforeseen = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\.|\$\$|\$states\b|\$(?:millis|now|random|shuffle|uuid|eval)\(|States\.(?:MathRandom|UUID)`)
})
