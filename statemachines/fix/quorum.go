package fix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// least is how many of the jobs in an answer have to end in a way until that counts for all.
type least int

const (
	leastFirst least = iota // the first job
	leastAny                // any job, at once
	leastEnded              // any job, when all have ended
	leastAll                // all jobs
)

// quorum is how a loop judges several jobs of one answer.
type quorum struct{ success, failure least }

// firstAlone looks at the first job.
var firstAlone = quorum{leastFirst, leastFirst}

// quorums are those that loops are tried with, the most usual first.
var quorums = []quorum{{leastAll, leastAny}, {leastAll, leastEnded}, {leastEnded, leastAll}, {leastAny, leastAll}, firstAlone}

// text says how the new loop judges the jobs of a list.
func (q quorum) text(list string) string {
	all, one := "all jobs in "+list+" have to succeed", "one of the jobs in "+list+" has to succeed"
	switch q {
	case quorum{leastAll, leastAny}:
		return all + ", and one that fails ends the wait"
	case quorum{leastAll, leastEnded}:
		return all + ", and the wait goes on until all have ended"
	case quorum{leastEnded, leastAll}:
		return one + ", and the wait goes on until all have ended"
	case quorum{leastAny, leastAll}:
		return one + ", and that ends the wait"
	default:
		return "the first job in " + list + " decides, as in the old loop"
	}
}

// verdict is that on an answer, by those on its jobs.
func (q quorum) verdict(jobs ...pollcore.Verdict) pollcore.Verdict {
	for _, v := range []pollcore.Verdict{pollcore.Success, pollcore.Failure} {
		if q.leastOf(v).isMet(v, jobs) {
			return v
		}
	}
	return pollcore.Retry
}

func (q quorum) leastOf(v pollcore.Verdict) least {
	if v == pollcore.Success {
		return q.success
	}
	return q.failure
}

func (s least) isMet(v pollcore.Verdict, jobs []pollcore.Verdict) bool {
	switch s {
	case leastFirst:
		return jobs[0] == v
	case leastAny:
		return slices.Contains(jobs, v)
	case leastEnded:
		return slices.Contains(jobs, v) && !slices.Contains(jobs, pollcore.Retry)
	default:
		return !slices.ContainsFunc(jobs, func(job pollcore.Verdict) bool { return job != v })
	}
}

// panel makes the waiter of several jobs of one that looks at the first.
type panel struct {
	// incomplete are the verdicts that wait until the answer lists as many jobs as the argument asked does.
	incomplete map[pollcore.Verdict]bool
	asked      string

	entry *catalog.Entry
	list  string                        // the path of the list, as the waiter spells it: "jobs"
	first *regexp.Regexp                // its first item in a path
	ends  map[int]string                // conditions on one job, by the acceptors that they are of
	all   map[pollcore.Verdict][]string // and by their verdicts
}

// newPanel reads the waiter of an entry that looks at the first item of a list; nil if it reads something else, too.
func newPanel(e *catalog.Entry, list string) *panel {
	p := &panel{entry: e, ends: map[int]string{}, all: map[pollcore.Verdict][]string{}}
	var known []string
	at := regexp.MustCompile(`(?i)^(` + regexp.QuoteMeta(list) + `)\[0\]`)
	for i, a := range e.Waiter.Acceptors {
		m := a.Matcher.Output
		if success := a.Matcher.Success; success != nil && *success && known != nil { // any other status
			p.add(i, a.State, "!("+strings.Join(known, " || ")+")")
		}
		if m == nil {
			continue
		}
		found := at.FindStringSubmatch(m.Path)
		if found == nil {
			return nil
		}
		p.list = found[1]
		p.first = regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(p.list) + `\[0\](\.)?`)
		condition, ok := p.condition(i, m)
		if !ok {
			return nil
		}
		known = append(known, condition)
		p.add(i, a.State, condition)
	}
	if p.list == "" {
		return nil
	}
	return p
}

// add adds the condition of an acceptor that ends the wait.
func (p *panel) add(acceptor int, v pollcore.Verdict, condition string) {
	if v != pollcore.Retry {
		p.ends[acceptor] = condition
		p.all[v] = append(p.all[v], condition)
	}
}

// condition is what a matcher asks of the first item, of an item of the list.
func (p *panel) condition(acceptor int, m *pollcore.PathMatcher) (string, bool) {
	inList := regexp.MustCompile(`^` + regexp.QuoteMeta(strings.ReplaceAll(p.list, ".", "\x00")) + `(\x00\[\](\x00|$)|$)`)
	for _, r := range readingsOf(p.entry) {
		if r.Acceptor != acceptor {
			continue
		}
		for _, read := range r.Members {
			path := strings.Join(read.Path, "\x00")
			if !inList.MatchString(path) && !strings.HasPrefix(strings.ReplaceAll(p.list, ".", "\x00"), path+"\x00") {
				return "", false
			}
		}
	}
	text := p.first.ReplaceAllStringFunc(m.Path, func(found string) string {
		before := p.first.FindStringSubmatch(found)[1]
		if strings.HasSuffix(found, ".") {
			return before
		}
		return before + "@"
	})
	switch m.Comparator {
	case pollcore.StringEquals:
		return text + " == " + literal(m.Expected), true
	case pollcore.BooleanEquals:
		if strings.EqualFold(m.Expected, "true") {
			return "(" + text + ") == `true`", true
		}
		return "(" + text + ") == `false`", true
	default:
		return "", false
	}
}

// literal is a text in JMESPath.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" }

// readingsOf are what the acceptors of an entry's waiter read.
func readingsOf(e *catalog.Entry) []pollcore.Reading {
	return pollcore.Readings(e.Waiter, nil, e.Operation.Output.Describe())
}

// waiter judges all jobs of an answer. from is which acceptor of the entry's waiter each of its own is.
func (p *panel) waiter(q quorum) (w *pollcore.Waiter, from []int) {
	changed := *p.entry.Waiter
	changed.Acceptors = nil
	for i, a := range p.entry.Waiter.Acceptors {
		condition := p.ends[i]
		switch {
		case condition != "":
			a.Matcher = p.matcher(q, a, condition)
			if a.Message != "" {
				one := p.list + "[?" + condition + "] | [0]"
				a.Message = p.first.ReplaceAllString(a.Message, "${1}"+strings.ReplaceAll(one, "$", "$$")+"${2}")
			}
		case a.Matcher.Output != nil:
			continue // another job may have ended
		}
		changed.Acceptors, from = append(changed.Acceptors, a), append(from, i)
	}
	return &changed, from
}

// matcher asks for the jobs that have to end at least as an acceptor says.
func (p *panel) matcher(q quorum, a pollcore.Acceptor, condition string) pollcore.Matcher {
	m, least := a.Matcher.Output, q.leastOf(a.State)
	simple := m != nil && m.Comparator == pollcore.StringEquals
	each := func(c pollcore.Comparator) pollcore.Matcher {
		path := p.first.ReplaceAllString(m.Path, "${1}"+p.list+"[]${2}")
		return pollcore.Matcher{Output: &pollcore.PathMatcher{Path: path, Expected: m.Expected, Comparator: c}}
	}
	list := p.list
	if p.incomplete[a.State] {
		list = "output." + list
	}
	some := fmt.Sprintf("length(%s[?%s]) > `0`", list, condition)
	others := func(conditions []string) string {
		return some + fmt.Sprintf(" && length(%s[?!(%s)]) == `0`", list, strings.Join(conditions, " || "))
	}
	isTrue := func(path string) pollcore.Matcher {
		return pollcore.Matcher{Output: &pollcore.PathMatcher{Path: path, Expected: "true", Comparator: pollcore.BooleanEquals}}
	}
	switch {
	case p.incomplete[a.State]:
		conditions := p.all[a.State]
		if least == leastEnded {
			conditions = slices.Concat(p.all[pollcore.Success], p.all[pollcore.Failure])
		}
		complete := isTrue(fmt.Sprintf("length(%s) == length(input.%s) && %s", list, p.asked, others(conditions)))
		return pollcore.Matcher{InputOutput: complete.Output}
	case least == leastAny && simple:
		return each(pollcore.AnyStringEquals)
	case least == leastAny:
		return isTrue(some)
	case least == leastEnded:
		return isTrue(others(slices.Concat(p.all[pollcore.Success], p.all[pollcore.Failure])))
	case simple && len(p.all[a.State]) == 1:
		return each(pollcore.AllStringEquals)
	default:
		return isTrue(others(p.all[a.State]))
	}
}
