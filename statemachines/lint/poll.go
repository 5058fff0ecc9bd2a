package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// bound checks that something ends a poll loop, and does so before its history
// is full.
func (c *checker) bound(l *loop, tables []*reading) {
	limit := c.limitOf(l.flow)
	ends := asl.MaxStandardTime // whatever the history has room for
	if limit.after > 0 {
		ends = min(ends, limit.after)
	}
	b := c.boundsOf(l)
	endless, turning := false, b.open()
	if reset := c.findReset(l); reset != nil && len(turning) == 0 {
		turning = []*loop{reset}
	}
	for _, open := range turning {
		wait := open.first(asl.TypeWait)
		if wait == nil {
			continue
		}
		endless = true
		open.findCatch()
		turn := settledTurn(tables, open, c.turn(open, wait))
		if !limit.isOpen() {
			c.interval(l.flow, wait, turn, limit.after)
		}
		switch lasts := c.lasts(l.flow, turn); {
		case limit.isOpen():
		case limit.after == 0:
			c.reportUnbounded(l, wait, open, turn, tables)
		case lasts > 0 && ends > lasts:
			c.report(EventBudget, wait, delayField(wait), "%s allows the loop %s %s, but at %d events a turn the history of %d events is full after %s: "+
				"wait longer between polls, or go on in a new execution", limit, turn.path(), span(limit.after), turn.Events, asl.MaxEvents, span(lasts))
		}
	}
	if endless || limit.isOpen() {
		return
	}
	wait := l.first(asl.TypeWait)
	turn := settledTurn(tables, l, c.turn(l, wait))
	full := c.fill(l.flow, nil, turn, asl.MaxStandardTime)
	lasts := full.After
	c.boundRounds(wait, tables, ends)
	if b.tried == nil {
		if ends = min(ends, b.lasts()); lasts > 0 && ends > lasts {
			c.report(EventBudget, wait, delayField(wait), "the loop %s may poll for %s, but at %d events a turn the history of %d events is full after %s: "+
				"wait longer between polls, or go on in a new execution", turn.path(), span(ends), turn.Events, asl.MaxEvents, span(lasts))
		}
		return
	}
	if !c.hasRoom(l, b.tried) && (lasts == 0 || ends > lasts) {
		after := ""
		if lasts > 0 {
			after = ", " + span(lasts)
		}
		c.report(EventBudget, wait, delayField(wait), "the loop %s may poll %d times, but at %d events a turn the history of %d events is full after %d turns%s: "+
			"wait longer between polls, or go on in a new execution", turn.path(), b.tried.polls, turn.Events, asl.MaxEvents, full.Polls, after)
	}
	seconds := min(b.tried.lasts().Seconds(), lasts.Seconds(), ends.Seconds())
	c.interval(l.flow, wait, turn, time.Duration(seconds*float64(time.Second)))
}

// boundRounds checks that a history has room for all rounds of an outer loop, if their number
// is known and each counts its polls anew.
func (c *checker) boundRounds(wait *asl.State, tables []*reading, ends time.Duration) {
	for _, r := range tables {
		if r.Bound.Rounds > 0 && r.Bound.fillsInRounds() && (r.Lasts == 0 || ends > r.Lasts) {
			c.report(EventBudget, wait, delayField(wait), "an outer loop comes to the loop %s up to %d times, and each time it may poll %d times: "+
				"at %d events a turn the history of %d events is full after %d turns in all; count the polls of all rounds together, "+
				"wait longer between polls, or go on in a new execution",
				r.Turn.path(), r.Rounds, r.Bound.Polls, r.Turn.Events, asl.MaxEvents, r.Turns)
		}
	}
}

// reportUnbounded reports a loop without a bound. Where laps of its table are longer than
// the turn, it lasts as long as the table says.
func (c *checker) reportUnbounded(l *loop, wait *asl.State, open *loop, turn Turn, tables []*reading) {
	const set = "set \"TimeoutSeconds\" of the state machine, or count the"
	if catches := open.catches; catches != nil {
		failing := turn
		for _, lap := range c.failingLapsOf(open) {
			if lap.task == catches.Name { // with its retries
				failing = lap.turn
			}
		}
		c.report(UnboundedLoop, wait, "", "nothing bounds the loop %s, which a Catch closes: while %q fails, it is called %s; "+
			set+" turns on this way, too, and leave the loop", turn.path(), catches.Name, until(c.lasts(open.flow, failing)))
		return
	}
	polled := until(c.lasts(open.flow, turn))
	if i := slices.IndexFunc(tables, func(r *reading) bool {
		said := r.Bound.AtMost || r.Bound.Kind == Unbounded && r.Bound.Failing == "" && r.Bound.After > 0
		return said && slices.ContainsFunc(r.States, func(s *asl.State) bool { return open.inside[s.Name] })
	}); i >= 0 {
		polled = until(tables[i].Bound.After) + map[bool]string{true: " at most"}[tables[i].Bound.AtMost]
	}
	if c.machine.Histories().ForItems(wait) {
		polled = strings.TrimSuffix(polled, " at most") + " at most, as all items of the Map share the history"
	}
	if open.resets != nil {
		c.report(UnboundedLoop, wait, "", "nothing bounds the loop %s: %q sets %s anew in each turn, and while the answers lead around it, the loop turns %s; "+
			set+" polls of all turns and leave the loop", turn.path(), open.resets.Name, list(open.counts), polled)
		return
	}
	idle, advice := c.sayIdle(c.boundsOf(l), open, tables)
	if idle != "" {
		idle += ", and "
	}
	c.report(UnboundedLoop, wait, "", "nothing bounds the loop %s: %sa job that never ends is polled %s; %s",
		turn.path(), idle, polled, cmp.Or(advice, set+" polls and leave the loop"))
}

// delayField is the field of a Wait that says how long it waits.
func delayField(wait *asl.State) string {
	if wait.Wait.Seconds != nil {
		return "/" + wait.Wait.Seconds.Field
	}
	return "/" + wait.Wait.Timestamp.Field
}

// ShortestInterval is how long a loop that lasts waits between two polls at least.
const ShortestInterval = 5 * time.Second

// interval checks that a loop that may last, as long as its history if the limit is 0, does
// not poll every few seconds.
func (c *checker) interval(f *asl.Flow, wait *asl.State, turn Turn, limit time.Duration) {
	const long = time.Hour
	if turn.Wait == 0 || turn.Wait >= ShortestInterval || limit > 0 && limit <= long {
		return
	}
	turn.perTransition = c.perTransition
	c.report(ShortInterval, wait, delayField(wait), "the loop polls every %s, at %d transitions a poll: that costs $%.2f a day, "+
		"and the history of %d events is full after %s; wait longer between polls, or let the delay grow",
		turn.Wait, turn.Transitions, turn.DollarsPerDay(), asl.MaxEvents, span(c.lasts(f, turn)))
}

// hot checks that time passes in a loop on a status.
func (c *checker) hot(l *loop) {
	for _, s := range l.states {
		if c.types.NeverWaits(s) {
			field := s.Wait.Seconds.Field
			c.report(HotLoop, s, "/"+field, "%q is 0: the loop polls without a pause and fills the history within minutes; wait between polls", field)
		}
	}
	c.hotAfterTimestamp(l)
	for _, r := range rushes(l.flow, l.states) {
		i := slices.IndexFunc(r.states, goesOnForStatus(r))
		if i >= 0 && c.pollsAgain(r) {
			c.report(HotLoop, r.states[i], "", "the loop %s checks a status and has no Wait: it polls without a pause; add a Wait state",
				c.turn(r, r.states[i]).path())
		}
	}
}

// hotAfterTimestamp checks that a loop does not wait only for a time that stays the same.
func (c *checker) hotAfterTimestamp(l *loop) {
	waitsForTime := func(s *asl.State) bool { return s.Wait != nil && s.Wait.Timestamp != nil }
	for _, r := range loops(l.flow, unchanging(l.states), func(s *asl.State, _ asl.Transition) bool { return !passesTime(s) || waitsForTime(s) }) {
		fixed := r.first(asl.TypeWait)
		if fixed == nil || slices.ContainsFunc(r.states, func(s *asl.State) bool { return passesTime(s) && !c.isFixed(r, s) }) ||
			!slices.ContainsFunc(r.states, goesOnForStatus(r)) {
			continue
		}
		c.report(HotLoop, fixed, "/"+fixed.Wait.Timestamp.Field, "%q is the same in each turn: once that time has passed, the loop polls without a pause "+
			"and fills the history within minutes; wait with \"Seconds\", or compute the time anew", fixed.Wait.Timestamp.Field)
	}
}

// isHot tells whether no time passes in a loop, from the second lap on.
func (c *checker) isHot(l *loop) bool {
	waits := false
	for _, s := range l.states {
		if passesTime(s) {
			if waits = c.types.NeverWaits(s) || s.Wait != nil && c.isFixed(l, s); !waits {
				return false
			}
		}
	}
	return waits
}

// goesOnForStatus returns a test for Choices that look at a status.
func goesOnForStatus(l *loop) func(*asl.State) bool {
	return func(s *asl.State) bool {
		if s.Choice == nil {
			return false
		}
		for i := range s.Choice.Rules {
			if r := &s.Choice.Rules[i]; (l.inside[r.Next] || l.inside[s.Choice.Default]) && readRule(r).looksAtStatus() {
				return true
			}
		}
		return false
	}
}

// defaultOf checks that a status that is not known does not go on polling.
func (c *checker) defaultOf(l *loop, s *asl.State, express bool) {
	next := l.flow.State(s.Choice.Default)
	if next == nil || !l.inside[next.Name] || next.Choice != nil || c.limitOf(l.flow).kind != Unbounded || keepsRecords(l) {
		return
	}
	status := false
	var named []string
	for i := range s.Choice.Rules {
		t := readRule(&s.Choice.Rules[i])
		if t.has(func(t *test) bool { return t.number || t.time }) {
			return
		}
		status = status || t.looksAtStatus()
		named = append(named, s.Choice.Rules[i].Next)
	}
	leaves := func(name string) bool { return !l.inside[name] }
	fails := func(name string) bool { return leaves(name) && c.waysOf(l.flow).end(l.flow.State(name)) == EndsFailure }
	if !status || !slices.ContainsFunc(named, leaves) || namesBoth(named, leaves, fails) || c.looksBesideStatus(l, s) || c.namesEnds(s) {
		return
	}
	ends := until(c.lasts(l.flow, c.turn(l, s)))
	switch {
	case express:
		ends = "until the execution ends, after " + span(asl.MaxExpressTime)
	case len(c.boundsOf(l).open()) == 0:
		ends = "until something else ends the loop"
	}
	c.report(LoopingDefault, s, "/Default", "every status that no rule names leads back to %q: a failure that is not listed is polled %s; "+
		"name the statuses that keep polling, and let \"Default\" lead to a Fail state", s.Choice.Default, ends)
}

// namesBoth tells whether rules leave the loop for a failure and for something else:
// then every end is named, as far as the definition shows.
func namesBoth(named []string, leaves, fails func(string) bool) bool {
	return slices.ContainsFunc(named, fails) && slices.ContainsFunc(named, func(name string) bool { return leaves(name) && !fails(name) })
}

// keepsRecords tells whether a loop calls nothing but a table, and tells somebody: the
// status in the table is the caller's own, as that of a lock.
func keepsRecords(l *loop) bool {
	called := false
	for _, s := range l.states {
		if s.Task == nil {
			continue
		}
		r := asl.ParseResource(s.Task.Resource)
		service, sdk := r.SDK()
		if !sdk {
			service = r.Service
		}
		switch {
		case service == "dynamodb" && recordCall().MatchString(r.Action):
			called = true
		case service == "sns" || service == "sqs" || service == "events":
		default:
			return false
		}
	}
	return called
}

var recordCall = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Items?$|^query$|^scan$`) })

// poll checks a Task of a poll loop, which may be the one by which it asks.
func (c *checker) poll(l *loop, s *asl.State, asked bool) {
	caught := slices.IndexFunc(s.Catch, func(catcher asl.Catcher) bool { return takesAll(catcher.ErrorEquals) })
	if caught >= 0 && c.outsideOf(l.flow).quiet && succeeds(l.flow, s.Catch[caught].Next) {
		c.report(HiddenFailure, s, fmt.Sprintf("/Catch/%d/Next", caught), "every error of the Task leads to %q, "+
			"where the execution succeeds whether or not the job did; lead to a Fail state", s.Catch[caught].Next)
	}
	c.pollsOnErrors(l, s)
	throttles := func(name string) bool { return c.takesThrottling(s, name) }
	if slices.ContainsFunc(s.Catch, func(catcher asl.Catcher) bool { // the next poll asks again
		return l.inside[catcher.Next] && (takesAll(catcher.ErrorEquals) || slices.ContainsFunc(catcher.ErrorEquals, asl.HasPlaceholder) ||
			slices.ContainsFunc(catcher.ErrorEquals, throttles))
	}) {
		return
	}
	if len(s.Retry) == 0 {
		fails := "the execution"
		if c.operations.of(s) != nil || !slices.ContainsFunc(l.states, func(other *asl.State) bool { return other != s && other.Task != nil }) {
			fails = "the whole wait"
		}
		does := "fails " + fails
		if i := slices.IndexFunc(s.Catch, func(k asl.Catcher) bool { return slices.ContainsFunc(k.ErrorEquals, throttles) }); i >= 0 {
			does = fmt.Sprintf("leads to %q by a Catch", s.Catch[i].Next)
		}
		c.report(UnretriedTask, s, "", "the Task has no \"Retry\": one throttled call or service fault %s; %s", does, c.retryAdvice(l.flow, s, asked, "retry"))
		return
	}
	for _, r := range s.Retry {
		if r.MaxAttempts > 0 && slices.ContainsFunc(r.ErrorEquals, throttles) {
			return
		}
		if takesAll(r.ErrorEquals) {
			break // the first retrier that takes an error counts
		}
	}
	if c.catchesThrottling(s) {
		return // it looks at the error, which may be an answer of the service
	}
	takes := "no retrier takes throttled calls"
	if name := limitIn(s.Retry); name != "" && c.operations.of(s) != nil {
		takes = fmt.Sprintf("no retrier is sure to take throttled calls, as %q is the error of a limit", name)
	}
	c.report(UnretriedTask, s, "/Retry", "%s; %s", takes, c.retryAdvice(l.flow, s, asked, "add"))
}

// limitIn is the name by which some retriers take the error of a limit; empty if they do not.
func limitIn(retriers []asl.Retrier) string {
	for _, r := range retriers {
		if i := slices.IndexFunc(r.ErrorEquals, isLimit); r.MaxAttempts > 0 && i >= 0 {
			return r.ErrorEquals[i]
		}
	}
	return ""
}

// isLimit tells whether the name of an error is that of a limit, such as for too many jobs.
func isLimit(name string) bool {
	_, code, _ := strings.Cut(name, ".")
	return awserror.IsLimit(code)
}

// pollInside checks the Tasks that poll inside of a Map or Parallel of a poll loop: the failure of
// one ends the whole wait.
func (c *checker) pollInside(l *loop, s *asl.State) {
	for _, f := range s.Flows() {
		for _, inner := range f.States {
			if c.operations.of(inner) != nil && len(inner.Retry) == 0 && len(inner.Catch) == 0 {
				c.poll(l, inner, true)
			}
			if len(inner.Retry) == 0 && len(inner.Catch) == 0 {
				c.pollInside(l, inner)
			}
		}
	}
}

// takesThrottling tells whether the name of an error is one by which a throttled call of
// the Task arrives: one that the service's model declares, or else the service's own
// exception. A name with a ${Name} of a template in it may be one.
func (c *checker) takesThrottling(s *asl.State, name string) bool {
	service := c.types.Service(s)
	switch {
	case name == asl.ParseResource(s.Task.Resource).ThrottleName():
		return true
	case service == nil || c.operations.of(s) == nil || !strings.HasPrefix(name, service.ErrorPrefix+"."):
		return takesFaults(s, name)
	case name == service.UnmodeledErrorName():
		return true
	case awserror.ClassifyName(name, "") != awserror.Throttled, isLimit(name):
		return false
	}
	for _, op := range service.Operations {
		if slices.ContainsFunc(op.Errors, func(e catalog.Error) bool { return e.Shape != "" && service.ErrorName(e.Shape) == name }) {
			return true
		}
	}
	return !c.complete // the catalogue has not all operations
}

// catchesThrottling tells whether a catcher names the exception by which throttled calls
// arrive where their service declares no other.
func (c *checker) catchesThrottling(s *asl.State) bool {
	service := c.types.Service(s)
	return service != nil && slices.ContainsFunc(s.Catch, func(catcher asl.Catcher) bool {
		return slices.Contains(catcher.ErrorEquals, throttleName(s, service))
	})
}

// throttleName is the error by which throttled calls of a Task arrive that its service declares no
// other for.
func throttleName(s *asl.State, service *catalog.Service) string {
	return cmp.Or(asl.ParseResource(s.Task.Resource).ThrottleName(), service.UnmodeledErrorName())
}

// RepeatsWrite tells whether a call of a Task that is made again may write twice, or start a second
// job: where an answer is lost, nobody knows whether the call was made. An operation that is there
// to be polled does neither.
func RepeatsWrite(s *asl.State) bool {
	r := asl.ParseResource(s.Task.Resource)
	if name := callOf(r); !Changes(s) || name != "" && readPolled(name) != nil {
		return false
	}
	e := findStarted(r)
	return e == nil || startsSecond(s, e)
}

// retryAdvice says which errors of a Task to retry. A call that changes something may have
// been made when another error comes than that of a throttled one. A loop makes a call again by which it asks.
func (c *checker) retryAdvice(f *asl.Flow, s *asl.State, asked bool, verb string) string {
	service, polls := c.types.Service(s), c.operations.of(s) != nil
	switch {
	case RepeatsWrite(s):
		twice := "the call may have been made, and a second one repeats it"
		if e := findStarted(asl.ParseResource(s.Task.Resource)); e != nil && tokenOf(e) != "" {
			twice = fmt.Sprintf("the job may have started, and a second call starts it twice unless %q is the same in both", tokenOf(e))
		}
		return adviseWrite(s, service, verb) + " " + twice
	case len(s.Retry) > 0 && polls && service != nil && catchesAnswer(f, s):
		return fmt.Sprintf("%s %q, by which throttled calls arrive", verb, throttleName(s, service))
	case len(s.Retry) > 0 && polls && service != nil:
		return fmt.Sprintf("%s %q, by which throttled calls arrive, or \"States.TaskFailed\"", verb, throttleName(s, service))
	case asl.ParseResource(s.Task.Resource).Service == "http":
		return verb + " " + quoteAll(asl.ParseResource(s.Task.Resource).PassingErrors(!asked && SendsRequest(s)))
	case catchesAnswer(f, s):
		return verb + " the service's errors, as \"States.TaskFailed\" would also retry what your Catch takes"
	default:
		return verb + " \"States.TaskFailed\", or the service's errors"
	}
}

// catchesAnswer tells whether a Catch of a Task takes an error that says something, as that a resource is gone: one by its
// name, or all of them where they end the execution well.
func catchesAnswer(f *asl.Flow, s *asl.State) bool {
	return slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool {
		if takesAll(k.ErrorEquals) {
			return succeeds(f, k.Next)
		}
		return slices.ContainsFunc(k.ErrorEquals, func(name string) bool { return !strings.HasPrefix(name, "States.") && !takesFaults(s, name) })
	})
}

// SendsRequest tells whether a Task sends a request to an HTTP API that may change something.
func SendsRequest(s *asl.State) bool {
	method, _ := memberLiteral(argumentsOf(s), "Method").(string)
	return asl.ParseResource(s.Task.Resource).Service == "http" && !asl.ReadsBy(method)
}

// adviseWrite says which errors of a call that changes something to retry: only those by
// which nothing but throttled calls arrive.
func adviseWrite(s *asl.State, service *catalog.Service, verb string) string {
	r := asl.ParseResource(s.Task.Resource)
	name := r.ThrottleName()
	var op *catalog.Operation
	if service != nil {
		op = service.Operations[javasdk.Capitalize(r.Action)]
	}
	if _, sdk := r.SDK(); sdk && op != nil {
		name = service.UnmodeledErrorName()
	}
	if name == "" {
		return verb + " the errors of throttled calls alone: after another error"
	}
	throttled := ThrottlingErrors(s.Task.Resource, op)
	if len(throttled) == 0 {
		return fmt.Sprintf("no error is safe to retry: throttled calls arrive as %q, as service faults do, after which", name)
	}
	return fmt.Sprintf("%s %s alone, by which throttled calls arrive: after another error", verb, quoteAll(throttled))
}

// ThrottlingErrors returns the errors of a call by which only throttled calls arrive, as Step Functions
// names them: after one of them, a call may be made again that must not run twice. The operation may be nil.
func ThrottlingErrors(resource string, op *catalog.Operation) []string {
	name := asl.ParseResource(resource).ThrottleName()
	var throttled []string
	if awserror.ClassifyName(name, "") == awserror.Throttled {
		throttled = append(throttled, name)
	}
	if op == nil {
		return throttled
	}
	prefix, _, _ := strings.Cut(cmp.Or(name, op.Service.UnmodeledErrorName()), ".")
	for _, e := range op.Throttling() {
		if name := prefix + "." + javasdk.ExceptionName(op.Service.Name, e.Shape); !slices.Contains(throttled, name) {
			throttled = append(throttled, name)
		}
	}
	return throttled
}
