package responses

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Sequence is what a service answers to the calls of a poller, one after the
// other.
type Sequence struct {
	Name  string
	Input any // of all calls, with the model's member names, without nulls
	// Answers are those to the polls in turn. The last one is given for ever,
	// or if Endless, all again from the first.
	Answers []Answer
	Endless bool
	// End, if set, keys the sequence by time: the last answer is given from End
	// on, and the others in turn before, again and again.
	End   time.Duration
	Timed bool
	// Latency is how long each call takes.
	Latency time.Duration
	// Want is the verdict of the first answer that has one, and Polls its
	// number from 1; Want.State is Retry if none has.
	Want  Verdict
	Polls int
}

// Answer is what the service answers to a poll.
type Answer struct {
	Case

	// Faults is how many calls fail with the error Fault before: the service
	// throttles, and whoever calls it calls again. Its name is that of Step
	// Functions.
	Faults int
	Fault  string
	// ErrorName is what Step Functions calls the error, and Cause what it says of
	// it; empty for a response.
	ErrorName, Cause string
	// Fatal tells that the answer's own error is a fault, or may be one: it may be
	// retried in place until the budget for that is used up.
	Fatal bool
}

// At returns the answer to a poll, whose number counts from 0, at a time since
// the start.
func (s *Sequence) At(poll int, elapsed time.Duration) Answer {
	last := len(s.Answers) - 1
	switch {
	case s.Timed && elapsed >= s.End:
		return s.Answers[last]
	case s.Timed:
		return s.Answers[poll%last]
	case s.Endless:
		return s.Answers[poll%len(s.Answers)]
	default:
		return s.Answers[min(poll, last)]
	}
}

// Faults is how many calls of the whole sequence fail before an answer.
func (s *Sequence) Faults() int {
	n := 0
	for _, a := range s.Answers {
		n += a.Faults
	}
	return n
}

// Sequencer makes sequences for one entry of the catalogue.
type Sequencer struct {
	*Maker

	pool   []Answer // of all that can be answered
	faults []string // by the names of Step Functions
	// anyError tells that an acceptor takes every error: a throttled call is an
	// answer to it, where a client calls again.
	anyError bool
}

// Limits of a sequence, which let it end long before any deadline.
const (
	mostIdle        = 7 // answers before the end
	mostErrors      = 4 // of them errors
	mostFaults      = 4 // of calls that are repeated in place
	shortestRun     = 3
	randomCallsEach = 12
)

// NewSequencer prepares the making of sequences for an entry.
func NewSequencer(e *catalog.Entry, seed uint64) (*Sequencer, error) {
	m, err := NewMaker(e)
	if err != nil {
		return nil, err
	}
	s := &Sequencer{Maker: m, faults: []string{e.Service.ErrorPrefix + ".SdkClientException"}}
	named := func(name string) bool {
		return slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
			return a.Matcher.ErrorType != nil && IntegrationError(e.Operation, bare(*a.Matcher.ErrorType)) == name
		})
	}
	s.anyError = slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		return a.Matcher.Success != nil && !*a.Matcher.Success
	})
	for _, x := range e.Operation.Errors {
		if name := IntegrationError(e.Operation, x.Shape); x.Shape != "" && Fault(x) && !named(name) {
			s.faults = append(s.faults, name)
		}
	}
	var cases []Case
	for i := range e.Waiter.Acceptors {
		if c, found := m.Reach(i); found {
			cases = append(cases, c)
		}
	}
	if c, found := m.Reach(pollcore.NoAcceptor); found {
		cases = append(cases, c)
	}
	cases = slices.Concat(cases, m.Values(), m.Basics()[1:], m.Random(randomCallsEach, seed), m.Errors())
	for _, c := range cases {
		c.Input, c.Output = withoutNulls(c.Input), withoutNulls(c.Output)
		a := Answer{Case: c}
		if c.Err != nil {
			if _, plain := c.Err.(*smithy.GenericAPIError); !plain { //nolint:errorlint // of the forms of an error, those not wrapped
				continue
			}
			code := ErrorName(c.Err)
			a.ErrorName = IntegrationError(e.Operation, code)
			_, known := errorOf(e.Operation, code)
			if known && e.Operation.Method == http.MethodHead {
				continue // the answer has no body to name it
			}
			v, err := m.Verdict(c)
			if err != nil {
				return nil, err
			}
			a.Fatal = slices.Contains(s.faults, a.ErrorName) || !known && v.State == pollcore.Failure
			a.Cause = IntegrationCause(e.Operation, code, "seen")
			a.Err = &smithy.GenericAPIError{Code: m.oneName(code), Message: "seen"}
		}
		s.pool = append(s.pool, a)
	}
	return s, nil
}

// oneName is the name by which an acceptor knows a declared error, which has two
// in the type that an SDK gives it; else the one that the service sends.
func (m *Maker) oneName(code string) string {
	for _, e := range m.entry.Operation.Errors {
		if e.Shape == "" || e.Shape != code && e.Code != code {
			continue
		}
		for _, a := range m.entry.Waiter.Acceptors {
			if a.Matcher.ErrorType != nil && bare(*a.Matcher.ErrorType) == e.Shape {
				return e.Shape
			}
		}
		if e.Code != "" {
			return e.Code
		}
	}
	return code
}

func bare(name string) string { return name[strings.LastIndex(name, "#")+1:] }

// withoutNulls is a value without nulls, which SDK integrations leave out.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, item := range v {
			if item != nil {
				list = append(list, withoutNulls(item))
			}
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			if item != nil {
				object[name] = withoutNulls(item)
			}
		}
		return object
	default:
		return v
	}
}

// The kinds of sequences, which follow each other.
const (
	endsByPoll = iota // some answers that say to go on, and one with a verdict
	neverEnds
	endsInTime     // in the first three quarters of the time
	faulty         // ends by poll, with calls that are throttled
	slow           // ends by poll, with calls that take time
	arbitrary      // answers as they come
	endsAtDeadline // or just before
	endsTooLate    // long after it
	kinds
)

// Make makes sequence n of the entry, for a poller with the deadline.
func (s *Sequencer) Make(n int, seed uint64, deadline time.Duration) (*Sequence, error) {
	r := s.random(fmt.Sprintf("sequence %d of seed %d", n, seed))
	offset := s.random("kind").IntN(kinds * len(s.pool))
	kind, turn := (n+offset)%kinds, n/kinds+offset
	q := &Sequence{Name: fmt.Sprintf("sequence %d of seed %d", n, seed)}

	last := s.pool[turn%len(s.pool)]
	q.Input = last.Input
	if q.Input == nil {
		q.Input = map[string]any{}
	}
	idle, ends, err := s.sort(q.Input)
	if err != nil {
		return nil, err
	}
	switch {
	case len(idle) == 0 || len(ends) == 0:
		kind = arbitrary
	case kind == faulty && s.anyError:
		kind = endsByPoll
	}
	switch kind {
	case arbitrary:
		// Not from the pool: a fault that an acceptor retries is tried again in
		// place first, which takes more time than some deadlines leave.
		all := slices.Concat(idle, ends)
		for range shortestRun + r.IntN(mostIdle-shortestRun) {
			q.Answers = append(q.Answers, all[r.IntN(len(all))])
		}
	default:
		if v, err := s.judge(q.Input, last); err != nil {
			return nil, err
		} else if v.State == pollcore.Retry {
			last = ends[turn%len(ends)]
		}
		q.Answers = some(r, idle)
	}
	switch kind {
	case neverEnds, arbitrary:
		q.Endless = true
	case endsInTime:
		q.Timed, q.End = true, time.Duration(r.Int64N(int64(deadline/time.Second)*3/4))*time.Second
	case endsAtDeadline:
		q.Timed, q.End = true, deadline-time.Duration(r.IntN(2))*time.Second
	case endsTooLate:
		q.Timed, q.End = true, 3*deadline
	case faulty:
		defer s.throttle(r, q)
	case slow:
		q.Latency = time.Duration(1+r.IntN(20)) * 100 * time.Millisecond
	}
	if !q.Endless {
		q.Answers = append(q.Answers, last)
	}
	return q, s.settle(q)
}

// sort tells the answers that say to go on from those with a verdict.
func (s *Sequencer) sort(input any) (idle, ends []Answer, err error) {
	for _, a := range s.pool {
		v, err := s.judge(input, a)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case v.State != pollcore.Retry:
			ends = append(ends, a)
		case !a.Fatal: // else it is never what comes of the poll
			idle = append(idle, a)
		}
	}
	return idle, ends, nil
}

func (s *Sequencer) judge(input any, a Answer) (Verdict, error) {
	c := a.Case
	c.Input = input
	return s.Verdict(c)
}

// some draws answers that say to go on, few of them errors.
func some(r *rand.Rand, idle []Answer) []Answer {
	var all []Answer
	errs := 0
	for range 1 + r.IntN(mostIdle) {
		a := idle[r.IntN(len(idle))]
		if a.Err != nil {
			if errs++; errs > mostErrors {
				continue
			}
		}
		all = append(all, a)
	}
	return all
}

// throttle has some calls fail before the answers.
func (s *Sequencer) throttle(r *rand.Rand, q *Sequence) {
	for left := 1 + r.IntN(mostFaults); left > 0; {
		a := &q.Answers[r.IntN(len(q.Answers))]
		n := min(left, 1+r.IntN(2))
		a.Faults, a.Fault = n, s.faults[r.IntN(len(s.faults))]
		left -= n
	}
}

// settle works out the verdict.
func (s *Sequencer) settle(q *Sequence) error {
	q.Want = Verdict{State: pollcore.Retry, Acceptor: pollcore.NoAcceptor}
	for i, a := range q.Answers {
		v, err := s.judge(q.Input, a)
		if err != nil {
			return err
		}
		if v.State != pollcore.Retry {
			q.Want, q.Polls = v, i+1
			return nil
		}
	}
	return nil
}
