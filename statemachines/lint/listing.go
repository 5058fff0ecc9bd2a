package lint

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// listing is how the answers of a poll list the jobs that a loop looks at together.
type listing struct {
	*reading

	status *status
	types  *typecheck.Checker
	counts []int    // of jobs that answers list
	asked  *operand // the list by which the poll asks for the jobs; nil if that is not known
}

// anItem stands in the steps of a path for an item of a list.
const anItem = "0"

// listJobs is how the poll lists jobs with a status; nil if an answer is about one job.
func (c *checker) listJobs(l *loop, r *reading, s *status) *listing {
	if !slices.Contains(s.steps, anItem) || r.Retries {
		return nil
	}
	g := &listing{reading: r, status: s, types: c.types}
	_, template, count := c.askedJobs(r.Poll)
	if count > 0 {
		g.counts = []int{count}
	} else {
		g.counts = c.likelyCounts(l)
	}
	in, whole := scope{state: r.Poll}, true
	if r.Poll.InputPath != nil {
		in.doc, whole = stepsOf(r.Poll.InputPath)
	}
	if template != nil && whole {
		if f := in.template(template, nil); f.copies {
			g.asked = &f.operands[0]
		}
	}
	return g
}

// likelyCounts are how many jobs an answer may list, if nobody knows: few, and about as many as the loop compares a
// count with.
func (c *checker) likelyCounts(l *loop) []int {
	counts := []int{1, 2, 3}
	for _, n := range numbersCompared(l.states, c.boundsOf(l).counters) {
		if n > 1 && n < mostListed {
			counts = append(counts, n, n+1, n+2) // n, and more than n, beside one that has another status
		}
	}
	slices.Sort(counts)
	return slices.Compact(counts)
}

// numbersCompared are the whole numbers that states compare with, but for the rules that look at counters, and for times.
func numbersCompared(states []*asl.State, counters map[string]bool) []int {
	var expressions []string
	var all []int
	for _, s := range states {
		for _, t := range templatesOf(s) {
			expressions = appendExpressions(expressions, t)
		}
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule := &s.Choice.Rules[i]
			switch counts := func(o operand) bool { return counters[lastName(o.String())] }; {
			case slices.ContainsFunc(operandsOfRule(rule), counts):
			case rule.Expression == nil:
				all = appendNumbers(all, &rule.Condition)
			case rule.Expression.Expression != nil:
				expressions = append(expressions, rule.Expression.Expression.String())
			}
		}
	}
	for _, e := range expressions {
		for _, comparison := range joined().Split(e, -1) {
			if clock().MatchString(comparison) {
				continue
			}
			for _, m := range numberCompared().FindAllStringSubmatch(comparison, -1) {
				if n, err := strconv.Atoi(m[1] + m[2]); err == nil {
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// joined is what joins comparisons in JSONata.
var joined = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:and|or)\b`) })

// numberCompared is a whole number on a side of a comparison in JSONata.
var numberCompared = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[<>=]\s*(\d+)\b|\b(\d+)\s*[<>!=]`) })

// appendNumbers appends the whole numbers that a condition compares with.
func appendNumbers(all []int, c *asl.Condition) []int {
	if number, isNumber := c.Value.(json.Number); isNumber {
		if n, err := strconv.Atoi(number.String()); err == nil {
			all = append(all, n)
		}
	}
	if c.Not != nil {
		all = appendNumbers(all, c.Not)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		all = appendNumbers(all, part)
	}
	return all
}

// alike are several jobs with the same known members.
func alike(one job, count int) []job { return slices.Repeat([]job{one}, count) }

// narrow is an answer with a value of a status, and with what its flags say then. Where it lists several jobs, all
// have the value.
func (r *reading) narrow(answer typecheck.Value, s *status, value string) typecheck.Value {
	one := job{{s.steps, value}}
	if g := r.listing; g != nil {
		return g.answer(answer, 0, alike(one, g.usualCount()))
	}
	return r.narrowJob(answer, s, one, nil)
}

// enter is the environment of the poll if it asks for so many jobs.
func (g *listing) enter(env typecheck.Env, count int) typecheck.Env {
	if g.asked == nil {
		return env
	}
	if narrowed := env.WithItems(g.asked.variable, g.asked.path(), count); narrowed.IsReachable() {
		return narrowed
	}
	return env
}

// answer is an answer with some jobs, in the list of that number of those that the path of the status goes through.
func (g *listing) answer(answer typecheck.Value, list int, jobs []job) typecheck.Value {
	return g.list(answer, nil, g.status.steps, list, jobs)
}

// list is what an answer has behind some steps, with some jobs in it.
func (g *listing) list(v typecheck.Value, before, steps []string, list int, jobs []job) typecheck.Value {
	i := slices.Index(steps, anItem)
	if i < 0 {
		return g.narrowJob(v, g.status, jobs[0], before)
	}
	before = slices.Concat(before, steps[:i+1])
	each := [][]job{jobs}
	if list == 0 {
		each = slices.Collect(slices.Chunk(jobs, 1))
	}
	named := namesOfItem(g.itemAt(before))
	return typecheck.WithItems(v, steps[:i], len(each), func(n int, item typecheck.Value) typecheck.Value {
		for _, name := range named {
			item = typecheck.NarrowPresent(item, []string{name})
		}
		return g.list(item, before, steps[i+1:], list-1, each[n])
	})
}

// itemAt is the shape of the items of a list that the answer has at some steps; nil if the model does not know it.
func (g *listing) itemAt(steps []string) *catalog.Shape {
	operation := g.types.Operation(g.Poll)
	if operation == nil {
		return nil
	}
	return shapeAt(operation.Output, steps)
}

// namesOfItem are the members that tell an item of a list from the others, such as JobId of a JobDetail: a service
// always answers them, though few models say so.
func namesOfItem(item *catalog.Shape) []string {
	if item == nil {
		return nil
	}
	var names []string
	for i := range item.Members {
		name := item.Members[i].Name
		of := nameOfItem().FindStringSubmatch(name)
		if of != nil && strings.HasPrefix(strings.ToLower(item.Name), strings.ToLower(of[1])) {
			names = append(names, javasdk.MemberName(name))
		}
	}
	return names
}

// nameOfItem matches the name of a member that names something, and what.
var nameOfItem = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*?)(?i:id|arn|name|identifier)$`) })

// lists is how many lists the path of the status goes through.
func (g *listing) lists() int {
	return len(slices.DeleteFunc(slices.Clone(g.status.steps), func(step string) bool { return step != anItem }))
}

// usualCount is how many jobs an answer lists where one count stands for all: several, if that may be.
func (g *listing) usualCount() int { return g.counts[min(1, len(g.counts)-1)] }

// most is how many jobs an answer lists at most, of those that are followed.
func (g *listing) most() int { return g.counts[len(g.counts)-1] }

// together are the ways of some jobs of one answer; nil if they are not known.
func (g *listing) together(follows *router, answer typecheck.Value, jobs []job) []route {
	var all []route
	for list := range g.lists() {
		if !follows.work.spend(len(jobs) - 1) {
			return nil
		}
		found := follows.followFrom(g.enter(g.types.Input(g.Poll), len(jobs)), g.answer(answer, list, jobs))
		if len(found) == 0 {
			return nil
		}
		all = append(all, found...)
		if len(jobs) == 1 {
			break // the same in each list
		}
	}
	return all
}

// followAlike follows answers whose jobs are all alike: the ways of each; nil if they are not known, and if more than
// the statuses decides whether jobs that have succeeded leave the loop.
func (g *listing) followAlike(follows *router, answer typecheck.Value, of job) [][]route {
	var all [][]route
	succeeds := slices.ContainsFunc(g.judges, func(j *judge) bool { return j.meanings[of[0].text] == MeansSuccess })
	for _, count := range g.counts {
		found := g.together(follows, answer, alike(of, count))
		if found == nil || succeeds && endOf(g.written([][]route{found})) == EndsUnknown {
			return nil
		}
		all = append(all, found)
	}
	return all
}

// mix is how a job leads on beside others.
type mix struct {
	others Meaning // of the others
	routes []route
}

// addMixed follows a job with each value beside others that run, that have succeeded and that have failed. It is false
// where some ways are not known.
func (g *listing) addMixed(follows *router, answer typecheck.Value) bool {
	g.mixed = map[string][]mix{}
	if g.most() == 1 {
		return true
	}
	beside, named := g.beside(), g.namedValues()
	for _, value := range slices.Concat(g.status.values, g.compared, []string{otherValue}) {
		for _, other := range beside {
			if other == value {
				continue
			}
			one := g.followBeside(follows, answer, value, other)
			several := g.followBeside(follows, answer, other, value)
			if one == nil || several == nil {
				return false
			}
			g.mixed[value] = append(g.mixed[value], mix{g.status.meaning(g.judges, other), one}, mix{MeansUnknown, several})
		}
		all := g.followAmong(follows, answer, value, named)
		if all == nil {
			return false
		}
		g.mixed[value] = append(g.mixed[value], mix{MeansUnknown, all})
	}
	return true
}

// jobWith is a job with a value of the status.
func (g *listing) jobWith(value string) job { return job{{g.status.steps, value}} }

// followBeside follows a job with a value that is the first or the last of several, where all others have another value;
// nil if a way is not known.
func (g *listing) followBeside(follows *router, answer typecheck.Value, value, other string) []route {
	var all []route
	one := []job{g.jobWith(value)}
	for i, count := range g.counts {
		if count == 1 {
			continue
		}
		others := alike(g.jobWith(other), count-1)
		answers := [][]job{slices.Concat(one, others), slices.Concat(others, one)}
		if len(g.counts) > 1 { // one after the other, as the place counts where single items are read alone
			answers = answers[i%2 : i%2+1]
		}
		for _, jobs := range answers {
			if all = g.addAnswer(all, follows, answer, jobs); all == nil {
				return nil
			}
		}
	}
	return all
}

// followAmong follows a job with a value beside jobs with each of some values: one of each, and as many as the loop compares
// a count with; nil if a way is not known.
func (g *listing) followAmong(follows *router, answer typecheck.Value, value string, values []string) []route {
	each := []job{g.jobWith(value)}
	for _, other := range values {
		if other != value {
			each = append(each, g.jobWith(other))
		}
	}
	var all []route
	for _, times := range []int{1, g.most()} {
		jobs := slices.Repeat(each, times)
		if n := len(g.counts); n == 1 { // as many as the poll asks for
			jobs = slices.Repeat(each, g.most())[:g.most()]
		}
		if all = g.addAnswer(all, follows, answer, jobs[:min(len(jobs), mostListed)]); all == nil {
			return nil
		}
	}
	return all
}

// addAnswer adds the ways of some jobs of one answer; nil if they are not known.
func (g *listing) addAnswer(all []route, follows *router, answer typecheck.Value, jobs []job) []route {
	routes := g.written([][]route{g.together(follows, answer, jobs)})
	if len(routes) == 0 {
		return nil
	}
	return addRoutes(all, routes)
}

// namedValues are the values of the status that the loop names.
func (g *listing) namedValues() []string {
	return slices.DeleteFunc(slices.Concat(g.status.values, g.compared), func(value string) bool { return !g.named[value] })
}

// beside are values of other jobs: one of each meaning and way on, those that the loop names, and any other where none
// of these is of a job that runs.
func (g *listing) beside() []string {
	var all []string
	for _, value := range slices.Concat(g.status.values, g.compared) {
		if g.named[value] || !slices.ContainsFunc(all, func(other string) bool {
			return g.status.meaning(g.judges, other) == g.status.meaning(g.judges, value) && pathsOf(g.routes[other]) == pathsOf(g.routes[value])
		}) {
			all = append(all, value)
		}
	}
	if g.ByName && !g.status.complete && !slices.ContainsFunc(all, func(value string) bool { return g.status.meaning(g.judges, value) == MeansRunning }) {
		all = append(all, otherValue)
	}
	return all
}
