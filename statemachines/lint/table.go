package lint

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Loop is a poll loop. One on an operation of the catalogue is read as a table: what
// each value of the status means, and where it leads.
type Loop struct {
	// Flow is the flow that the loop is in: that of the machine, or one inside of a
	// Map or Parallel.
	Flow *asl.Flow
	// Poll is the Task that asks for the status; nil if the loop polls no operation
	// that is known. Choices are those that look at the status, Waits the Wait
	// states of the loop.
	Poll           *asl.State
	Choices, Waits []*asl.State
	// Steady are the Wait states of the machine that wait as long each time, and for how long.
	Steady map[*asl.State]time.Duration
	// States are those of the smallest cycle around Poll, or of all cycles around the first
	// Wait if no Poll is known; nil for a loop in a Retry.
	States []*asl.State
	// Start is the Task that starts the job; nil if none in the machine does.
	Start *asl.State
	// Operation is polled, such as "athena:GetQueryExecution", or the function
	// "jobpoller-checkstatus"; empty if it is not known.
	Operation string
	// Target is what Poll asks where Operation does not say it: a function, an address, a state machine. It is empty where
	// the definition does not say it.
	Target string
	// ByName tells that the catalogue does not know Operation: names alone say what statuses mean, or the user does.
	ByName bool
	// Entry is what the catalogue knows to wait for with the operation: the one whose
	// job the machine starts, or else that fits the ends of the loop; nil if it is the
	// function's, or none or several do.
	Entry *catalog.Entry
	// Derived is the entry that follows from the model of a service alone, reviewed by nobody, by which the loop is judged
	// ByName; nil if there is none.
	Derived *catalog.Entry
	// Chosen tells that Entry is one of several of the operation.
	Chosen bool
	// Status is the path of the status in the answer, as the model spells it; empty
	// if the loop looks at none that the catalogue knows. Then there are no Rows.
	Status string
	Rows   []Row
	// Together tells that the loop looks at several jobs of one answer: it counts those with a status, or asks whether
	// all or any have it.
	Together bool
	// RetriedBy are the Maps and Parallels around the loop whose Retry runs it again where it fails: Rows and Bound are
	// those of one run.
	RetriedBy []string
	// Literals are the values of Rows that are no texts, by what Rows call them: true, false, a number, or nil where the answer
	// does not have the status.
	Literals map[string]any
	// Unjudged says why a loop that asks AWS for a status has no Rows; empty if it has, or asks
	// for none.
	Unjudged string
	// Errors are where errors of the poll lead that its Catch takes, or that a Retry
	// takes for "not yet".
	Errors []ErrorRow
	// Retries tells that the polls are the retries of Poll, not a cycle of states.
	Retries bool
	// Turn is one time around the loop, from the poll or else a Wait on: the shortest. Laps
	// are those of a job that runs, where they differ: one may be longer behind a deadline.
	Turn Turn
	Laps []Turn
	// Bound is what ends the loop. Turns is how many polls there are until the history is full, or a year
	// over, if nothing else ends it, and Lasts how long that takes: see After of Bound.
	Bound Bound
	Turns int
	Lasts time.Duration
	// Hot tells that no time passes between two polls, or only before the second one.
	Hot bool
	// Rounds is how often an outer loop may come to the loop anew, each time for another job:
	// 0 if none does, ManyRounds if nobody knows.
	Rounds int
	// Express tells that the machine runs as an Express workflow.
	Express bool
	// Findings are what the rules found in the loop, not in its Rows.
	Findings []Finding

	firstWait time.Duration // see findFirstWait
}

// Row is what a loop does with values of the status.
type Row struct {
	// Values mean the same and lead the same way; empty is any other value.
	Values  []string
	Meaning Meaning
	// By tells who says what the values mean; empty for the catalogue, or if nobody does.
	By Teller
	// Compared tells that the machine compares with the values, and that nobody else
	// knows them.
	Compared bool
	// Member is what tells more where Meaning is MeansUnclear, as the model spells it, and
	// where Rule is about some of its values, Seconds, with which Values mean SecondsMean.
	Member      string
	Seconds     []string
	SecondsMean Meaning
	// Later tells that only a later call than that of the loop's job leads to the values.
	Later bool
	// Meanwhile tells that only somebody else's call leads to the values: no rule asks for them.
	Meanwhile bool
	// Split tells that more than the status decides, behind the loop, whether the execution fails.
	Split bool
	// Restarts tells of values that may end the execution that a way of theirs starts the job again: until the
	// starts are used up, it may be.
	Restarts bool
	// Held tells that the job waits for somebody's call, such as an approval, and has not ended. Of MeansFailure a
	// waiter gives such a job up, and a loop may as well poll on.
	Held bool
	// Usable tells of a job that goes on that what it makes can be used: to leave the loop is then no surprise.
	Usable bool
	// Mixed tells of a row of a loop that looks at jobs Together that the other jobs decide, too, where the values lead:
	// Routes, Ends and Forks are those beside any others. Rule is about jobs that are all alike, or beside successes.
	Mixed bool
	// Kind is the kind of job that alone gets to the values, as "JobType SCHEDULED", where the machine does not start
	// that kind, which OtherKind tells, or nobody knows.
	Kind      string
	OtherKind bool
	// Change tells of a value of MeansEnding that it is of another change of the resource, such as
	// "creating" where the loop waits until it is gone.
	Change bool
	// Apart tells of an end that leads to the other one, or to one more poll, in a way that
	// the loop has for it alone: then no Rule finds it.
	Apart bool
	// Partial tells of a failure after which a part of the work is done, and can be used.
	Partial bool
	// Either are the meanings of which one is right, if it depends on what the loop
	// waits for, and the machine does not tell: "deleting" fails what waits for a
	// resource to be available, and not what waits until it is gone. Then Meaning is
	// MeansUnknown.
	Either []Meaning
	// Routes are the states that the values lead to, behind what all values go
	// through: several where it depends on more than the status. A value that no
	// rule takes leads to none, and the execution fails.
	Routes []string
	Ends   End
	// Forks are the ends of Routes, one by one, where they differ and each is known; else nil.
	Forks []Fork
	// Whole is how the execution ends where Ends does not say it, if that is known; else nil.
	Whole *Whole
	// Last is where it ends with the last job, if Ends is NextJob; empty if no route shows it.
	Last End
	// FailsAt is the state that fails with Error, as a field of it has no value. Routes are
	// those of its Catch, or there are none.
	FailsAt, Error string
	// FailsAlike tells that FailsAt fails if all jobs of an answer have the values: then no Catch takes its error, and
	// Routes are those of a job beside others.
	FailsAlike bool
	// Raises tells that an expression of FailsAt raises the error, and Retried that the Retry of the
	// state takes it for a minute or more: the status may be another by then.
	Raises, Retried bool
	// Lacks tells that FailsAt reads a member that the answer does not have. Routes and Ends
	// are then those of an answer that has it.
	Lacks bool
	// lost tells that FailsAt is the poll when it is made again: its input has no longer what it reads.
	lost bool
	// Rule is the rule that found something, or empty, and Severity its finding's.
	Rule     string
	Severity diag.Severity
}

// Teller says what a status means.
type Teller string

// The tellers beside the catalogue.
const (
	ByName  Teller = "name"    // the name of the status alone
	ByModel Teller = "derived" // a derived entry
	ByUser  Teller = "user"    // Options.Said
)

// Fork is one of several ways that values lead, and where that ends.
type Fork struct {
	Route string
	Ends  End
	Whole *Whole // as of Row
}

// ErrorRow is what a loop does with errors of its poll.
type ErrorRow struct {
	// Names are those of the errors as Step Functions spells them, in ErrorEquals.
	Names   []string
	Meaning Meaning
	Routes  []string
	Ends    End
	Whole   *Whole // as of Row
}

// End is where a route ends.
type End string

// The ends of routes.
const (
	PollsOn     End = "polls-on"
	EndsSuccess End = "success"
	EndsFailure End = "failure"
	// StartsAgain leads to the Task that starts the job, and from there to the poll. Where there
	// are several routes, others fail.
	StartsAgain End = "starts-again"
	// NextJob leads to the poll, which asks for another job there, such as the next of a list; Last of
	// the row is where the last one leads.
	NextJob End = "next-job"
	// GoesOn leads to states that may end either way.
	GoesOn End = "goes-on"
	// EndsUnknown depends on more than the status: it may poll on, and may not.
	EndsUnknown End = "unknown"
)

// BoundKind is what ends a loop.
type BoundKind string

// The bounds.
const (
	Unbounded BoundKind = "none"    // the history is full, or a year over
	ByTimeout BoundKind = "timeout" // TimeoutSeconds of the state machine
	ByBranch  BoundKind = "branch"  // the failure of another branch of a Parallel
	ByCount   BoundKind = "count"   // so many polls
	ByTime    BoundKind = "time"    // a time that the execution knows
	ByOther   BoundKind = "other"   // something that the definition does not show
)

// AnyOther names the values of a row that has none.
const AnyOther = "any other"

// Bound is what ends a loop whose job never ends.
type Bound struct {
	Kind BoundKind
	// Polls is how many turns there can be, Events and Transitions what they take
	// and USD what they cost in the region of Options; 0 if that is not known.
	Polls, Events, Transitions int
	USD                        float64
	// After is how long that takes from the start of the execution, without the time of the calls; 0 if
	// the definition does not say. Ahead is the part of it before the loop begins.
	After, Ahead time.Duration
	// Deadline is the time of ByTime itself; After is later, as a Choice looks at it between two polls. It is
	// 0 if the definition does not say.
	Deadline time.Duration
	// Lasting are states before the loop whose time nobody knows and the deadline counts, too: the loop has less
	// of it. After and Deadline are the longest then.
	Lasting []string
	// Timeout is TimeoutSeconds of the state machine where After is 0 and another bound ends
	// the loop: it may be over before.
	Timeout time.Duration
	// AtMost tells that the numbers are the largest of laps that differ.
	AtMost bool
	// Late tells of an Unbounded loop that it has a bound, and that the history is full, or a
	// year over, before that is reached.
	Late bool
	// Failing is the Task whose failing calls alone nothing bounds, if a Catch leads them back;
	// empty if it is all calls, or none.
	Failing string
	// Route is the state that the loop goes to when the bound is reached, and Ends how that
	// ends; empty if there are several, or none that the definition shows.
	Route string
	Ends  End
	Whole *Whole // as of Row
	// At are the states that look at the bound, and By the values that they look at. Of ByBranch,
	// At are the states that fail, and By is the Parallel.
	At, By []string
	// Error is that of the state At, which fails for each status of a job that runs; empty for none.
	Error string
	// FailsAt is the state that fails before that with FailsWith for each status of a job that runs, as the answer lacks
	// what it reads; Again tells that it is the poll, when it is made again. The rest is of a loop in which it does not.
	FailsAt, FailsWith string
	Again              bool
	// Beside is a bound by another branch that may end the loop before this one; nil for none.
	Beside *Bound
	// Idle says which comparison of an Unbounded loop looks like a bound and ends nothing, and why; empty for none.
	Idle string
	// Anew is a state that counts anew for each turn of an outer loop that nothing bounds; empty for none.
	Anew string
	// Only are the statuses of a job that runs in which a count ends an Unbounded loop.
	Only []string
	// Past are the statuses in which the loop polls on past the bound, which a rule for other statuses
	// has; AnyOther stands for those of the row without values.
	Past []string
	// Running is what ends a loop whose job never ends, where Failing is set.
	Running *Bound
	// Rounds is Rounds of the loop where each counts the polls from the start; else 0.
	Rounds int
	// Shared tells that all rounds of an outer loop count their polls together.
	Shared bool
	// Loops is how many loops fill one history together, with this one; 0 if it fills it
	// alone. Items tells that all items of a Map do.
	Loops int
	Items bool
}

// boundOf says what ends the loop of a table, with the bounds of the whole.
func (c *checker) boundOf(l *loop, r *reading) Bound {
	full := c.fill(r.Flow, r.Poll, r.Turn, asl.MaxStandardTime)
	r.Turns, r.Lasts = full.Polls, full.After
	broken, lacks := r.failsRunning()
	if broken != nil && !lacks {
		return Bound{Kind: ByCount, Polls: 1, At: []string{broken.Name}, Error: selectionError(broken)}
	}
	laps, failing := append([]Turn{r.Turn}, r.Laps...), c.failingLaps(c.boundsOf(l))
	ofErrors := len(failing) > 0 && c.boundsOf(l).endsRunning() // a job that runs leaves the loop
	if ofErrors {
		laps = nil
		for _, lap := range failing {
			laps = append(laps, lap.turn)
		}
	}
	if s, catcher := r.caughtRunning(); s != nil {
		if turn := c.failingTurn(l, s, catcher); turn.Events > 0 {
			laps, ofErrors = []Turn{turn}, false
		}
	}
	bound := c.boundOfLap(l, r, laps[0])
	for _, lap := range laps[1:] {
		b := c.boundOfLap(l, r, lap)
		bound.AtMost = bound.AtMost || b.After != bound.After || b.Events != bound.Events || b.Transitions != bound.Transitions
		bound.Polls, bound.Events, bound.After = max(bound.Polls, b.Polls), max(bound.Events, b.Events), max(bound.After, b.After)
		bound.Transitions, bound.USD = max(bound.Transitions, b.Transitions), max(bound.USD, b.USD)
	}
	for _, lap := range failing {
		bound.AtMost = bound.AtMost || c.boundOfLap(l, r, lap.turn).After < bound.After // its retries fill the history
	}
	if ofErrors && bound.Kind == Unbounded {
		bound.Failing, bound.Late = failing[0].task, false
		running := c.boundsOf(l).boundOfRunning()
		c.addPlace(l, r, &running)
		bound.Running = &running
	}
	if bound.Kind == Unbounded && bound.Failing == "" && broken == nil {
		bound.Only = c.boundsOf(l).only
	}
	if broken != nil {
		bound.FailsAt, bound.FailsWith, bound.Again = broken.Name, selectionError(broken), r.failsAgain()
	}
	if c.addPlace(l, r, &bound); bound.isOwn() {
		if at := c.failsUnjudged(l, r); at != nil {
			return Bound{Kind: ByCount, Polls: 1, At: []string{at.Name}, Error: selectionError(at)}
		}
	}
	switch {
	case r.boundGoesOn:
		bound.Shared = bound.Kind == ByCount
	case r.Rounds != 0:
		anew := bound.Kind == ByCount && c.countsAnew(l, r)
		if anew || bound.Kind == ByTime && c.boundsOf(l).renewed {
			bound.Rounds = r.Rounds
		}
		bound.Shared = bound.Kind == ByCount && !anew && !setsAnew(l, r, bound.By)
	}
	return bound
}

// addPlace says where a bound stands, and leads.
func (c *checker) addPlace(l *loop, r *reading, bound *Bound) {
	bound.Route, bound.Ends = c.routeOf(l, r, bound.Kind)
	if exit := l.flow.State(bound.Route); exit != nil {
		bound.Whole = c.wholeOf(r, bound.Ends, []route{{leaf: exit, ends: bound.Ends}})
	}
	if bound.isOwn() {
		bound.At, bound.By = c.placeOf(l, r, bound)
	}
	if bound.After == 0 && bound.Kind != Unbounded && bound.Kind != ByTimeout {
		bound.Timeout = time.Duration(c.machine.TimeoutSeconds) * time.Second
	}
	c.limitOf(r.Flow).addTo(bound)
}

// boundOfRunning is what ends the loop of a job that never ends, if its calls do not fail.
func (b *bounds) boundOfRunning() Bound {
	if b.tried != nil {
		return b.tried.bound()
	}
	return b.boundByTime()
}

// routeOf is the one state that the loop goes to when its bound is reached, and how that
// ends; empty if there are several, or none that the definition shows.
func (c *checker) routeOf(l *loop, r *reading, kind BoundKind) (string, End) {
	b, exits := c.boundsOf(l), []string(nil)
	switch {
	case kind == ByCount && b.tried != nil:
		exits = b.tried.exits
		if byCount := b.exits(); r.Together || r.pollingValues()[0] == "" { // the others are those of other jobs, or of some status that nobody knows
			exits = slices.DeleteFunc(slices.Clone(exits), func(name string) bool { return !slices.Contains(byCount, name) })
		}
	case kind == ByTime || kind == ByOther:
		exits = b.exits()
		if late := r.lateExits(); len(late) > 0 { // where a job that runs may lead
			exits = slices.DeleteFunc(exits, func(name string) bool { return !slices.Contains(late, name) })
		}
	}
	exits = slices.Compact(slices.Sorted(slices.Values(exits)))
	if len(exits) != 1 {
		return "", ""
	}
	end := c.waysOf(l.flow).end(l.flow.State(exits[0]))
	if end == GoesOn {
		end = r.lateEnd(exits[0])
	}
	return exits[0], c.outsideOf(l.flow).doubt(MeansUnknown, end)
}

// lateEnd is how a job ends that runs until a bound of the loop is reached, by the state that it leads to
// then; GoesOn if there are several ways to end.
func (r *reading) lateEnd(exit string) End {
	end := End("")
	if r.status == nil || r.Retries {
		return GoesOn
	}
	for _, value := range r.pollingValues() {
		for _, way := range r.followAll(value) {
			if way.ends == PollsOn || !slices.Contains(way.path, exit) && way.leaf != r.Flow.State(exit) {
				continue
			}
			if end != "" && way.ends != end || way.ends != EndsSuccess && way.ends != EndsFailure {
				return GoesOn
			}
			end = way.ends
		}
	}
	return cmp.Or(end, GoesOn)
}

// boundOfLap says what ends the loop if all laps are alike.
func (c *checker) boundOfLap(l *loop, r *reading, turn Turn) Bound {
	inner, limit := r.inner, c.limitOf(r.Flow)
	b := c.boundsOf(l)
	open := slices.ContainsFunc(b.open(), func(o *loop) bool {
		return slices.ContainsFunc(o.states, passesTime) && slices.ContainsFunc(inner.states, func(s *asl.State) bool { return o.inside[s.Name] })
	})
	bound := c.fill(r.Flow, r.Poll, turn, asl.MaxStandardTime)
	bound.Late = !open || limit.after > 0
	switch {
	case !open && b.tried != nil && c.hasRoom(l, b.tried) && (limit.after == 0 || b.tried.lasts() <= limit.after):
		return b.tried.bound()
	case !open && b.time && (b.length == 0 || b.endsInTime(r, bound.After, limit.after)):
		return b.boundByTime()
	case !open && b.tried == nil && !b.time:
		return Bound{Kind: ByOther}
	}
	if limit.after > 0 && (turn.Wait == 0 && (!r.Hot || limit.after <= longHot) || turn.Wait > 0 && limit.after < bound.After) {
		ended := Bound{After: limit.after}
		if turn.Wait > 0 {
			ended = c.fill(r.Flow, r.Poll, turn, limit.after)
		}
		ended.Kind = limit.kind
		return ended
	}
	if limit.isOpen() && bound.Kind == Unbounded {
		return Bound{Kind: limit.kind}
	}
	return bound
}

// isOwn tells whether the loop itself looks at the bound.
func (b *Bound) isOwn() bool { return b.Kind == ByCount || b.Kind == ByTime || b.Kind == ByOther }

// sortRows puts what the catalogue knows first, and any other value last.
func sortRows(rows []Row) {
	order := []Meaning{MeansSuccess, MeansFailure, MeansUnclear, MeansRunning, MeansEnding, MeansUnknown}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(min(1, len(b.Values)), min(1, len(a.Values))),
			cmp.Compare(slices.Index(order, a.Meaning), slices.Index(order, b.Meaning)),
		)
	})
}

// Polled returns what the Tasks of loops poll, by their names, and the statuses for which
// each is asked again, those of a job that runs first.
func Polled(loops []Loop) (entries map[string]*catalog.Entry, running map[string][]string) {
	entries, running = map[string]*catalog.Entry{}, map[string][]string{}
	for i := range loops {
		l := &loops[i]
		if l.Poll == nil || l.Entry == nil {
			continue
		}
		entries[l.Poll.Name], running[l.Poll.Name] = l.Entry, l.PolledOn()
	}
	return entries, running
}

// PolledOn are the statuses for which the loop asks again: first those of a running job.
func (l *Loop) PolledOn() []string {
	var all []string
	for _, runs := range []bool{true, false} {
		for _, row := range l.Rows {
			if row.Ends == PollsOn && (row.Meaning == MeansRunning) == runs {
				all = append(all, row.Values...)
			}
		}
	}
	return all
}
