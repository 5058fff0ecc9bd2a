package lint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// reach reports acceptors that nothing reaches, and those that add nothing.
func (c *checker) reach() {
	for i, a := range c.waiter.Acceptors {
		if c.reportRepetition(i, a) || c.contradictory(i) {
			continue
		}
		if by := c.findShadows(i); len(by) > 0 {
			c.reportShadow(i, by)
		}
	}
}

// reportRepetition reports an acceptor whose matcher an earlier one has.
func (c *checker) reportRepetition(i int, a pollcore.Acceptor) bool {
	for j, earlier := range c.waiter.Acceptors[:i] {
		if !reflect.DeepEqual(earlier.Matcher, a.Matcher) {
			continue
		}
		if earlier.State == a.State {
			c.report(Duplicate, diag.Warning, at(i, ""), fmt.Sprintf("acceptor %d says the same (%s is %s); remove one", j+1, a.Matcher, a.State))
		} else {
			c.report(Never, diag.Danger, at(i, ""), fmt.Sprintf("can never match: acceptor %d matches the same (%s) for %s; one of the two is wrong",
				j+1, a.Matcher, earlier.State))
		}
		return true
	}
	return false
}

// contradictory reports an acceptor that no response matches, whatever is
// before it.
func (c *checker) contradictory(i int) bool {
	p := c.probes[i]
	if p == nil || !p.finite || len(p.leaves) == 0 {
		return false
	}
	possible := false
	if tried := each(p.leaves, func(a assignment) bool {
		possible = p.matches(a)
		return !possible
	}); !tried || possible {
		return false
	}
	m, pointer := pathOf(c.waiter.Acceptors[i])
	c.report(Never, diag.Danger, at(i, pointer+"/path"), fmt.Sprintf("can never match: no value of %s makes it %q", c.leafNames(p), m.Expected))
	return true
}

func (*checker) leafNames(p *probe) string {
	var names []string
	for _, l := range p.leaves {
		names = append(names, writePath(l.path[1:]))
	}
	return strings.Join(names, " and ")
}

// findShadows are the earlier acceptors that together leave an acceptor nothing.
func (c *checker) findShadows(i int) []int {
	// The engine's own rule knows errors, any response, and lists.
	for j := range i {
		pair := &pollcore.Waiter{Name: "Pair", Acceptors: []pollcore.Acceptor{
			{State: pollcore.Success, Matcher: c.waiter.Acceptors[j].Matcher}, {State: pollcore.Success, Matcher: c.waiter.Acceptors[i].Matcher},
		}}
		if slices.ContainsFunc(pollcore.AnalyzeTypes(pair, nil, nil), func(p diag.Problem) bool {
			return p.Pointer == at(1, "") && p.Severity == diag.Warning
		}) {
			return []int{j}
		}
	}
	p := c.probes[i]
	if p == nil || !p.finite {
		return nil
	}
	leaves := slices.Clone(p.leaves)
	var earlier []int
	for j, q := range c.probes[:i] {
		if q != nil && q.finite {
			earlier = append(earlier, j)
			for _, l := range q.leaves {
				if !slices.Contains(leaves, l) {
					leaves = append(leaves, l)
				}
			}
		}
	}
	var by []int
	reached := len(earlier) == 0
	tried := each(leaves, func(a assignment) bool {
		if !p.matches(a) {
			return true
		}
		first := slices.IndexFunc(earlier, func(j int) bool { return c.probes[j].matches(a) })
		if reached = first < 0; !reached && !slices.Contains(by, earlier[first]) {
			by = append(by, earlier[first])
		}
		return !reached
	})
	if !tried || reached {
		return nil
	}
	slices.Sort(by)
	return by
}

// reportShadow reports an acceptor that earlier ones leave nothing.
func (c *checker) reportShadow(i int, by []int) {
	a := c.waiter.Acceptors[i]
	var names []string
	same := true
	for _, j := range by {
		e := c.waiter.Acceptors[j]
		names = append(names, fmt.Sprintf("%d (%s is %s)", j+1, e.Matcher, e.State))
		same = same && e.State == a.State
	}
	who := "acceptor " + names[0] + " takes"
	if len(names) > 1 {
		who = "acceptors " + strings.Join(names, ", ") + " take"
	}
	if same {
		c.report(Duplicate, diag.Warning, at(i, ""), fmt.Sprintf("%s all that this one would match, for the same state; remove it", who))
		return
	}
	c.report(Never, diag.Danger, at(i, ""), fmt.Sprintf("can never match: %s all that this one would match; move it up, or remove it", who))
}
