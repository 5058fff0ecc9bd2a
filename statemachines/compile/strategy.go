package compile

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Strategy is a way to poll: how a waiter becomes states.
type Strategy string

// defaultStrategy is that of options that name none.
const defaultStrategy = Variables

// strategy makes states of a plan. Each has a file with its constant, and a row
// in the table.
type strategy interface {
	traits() traits
	// take refuses what the strategy cannot say.
	take(d *draft)
	// states returns the states, the first of them first.
	states(d *draft) states
	// turn returns the cost of a poll, and of an execution without its polls.
	turn(p *plan) turn
	// polls returns the largest number of polls.
	polls(p *plan) int
}

// strategies is the table, in the order in which people read of them.
var strategies = []struct {
	strategy

	name Strategy
}{
	{variables{}, Variables},
	{retryTask{}, RetryTask},
	{loop{}, Loop},
	{syncTask{}, SyncTask},
	{lambdaLoop{}, LambdaLoop},
	{lambdaRetry{}, LambdaRetry},
	{lambdaEvents{}, LambdaEvents},
}

// traits are what the plan and its readers need to know of a strategy.
type traits struct {
	// summary is one line for people.
	summary  string
	language asl.QueryLanguage
	// functions: the two Lambda functions start, judge and stop.
	functions bool
	// retryBlock: the Retry block of the Task that polls is the loop. It sees the
	// names of errors and not their Causes, and its attempts are for the whole wait.
	retryBlock bool
	// phases is how many delays between calls it holds, each for a stretch of them; 0
	// for any delays.
	phases int
	delays delays
	// untried: no recording shows that AWS runs its form so.
	untried bool
	// ownTask: a Task of the caller's own may poll.
	ownTask bool
	// told: Step Functions waits for the end of the job.
	told bool
	// collected: the Lambda function collector polls, and answers one Task.
	collected bool
	// resumes: a redrive of a whole machine goes on polling.
	resumes bool
}

// delays are how a strategy chooses the time between polls.
type delays int

const (
	drawn   delays = iota // they grow, are drawn, and end at the deadline
	undrawn               // they grow, and the last goes beyond the deadline
	picked                // undrawn; the last of a schedule is the shortest that reaches the deadline
	even                  // each is the shortest
)

// Strategies returns all strategies, in the order in which people read of them.
func Strategies() []Strategy {
	names := make([]Strategy, len(strategies))
	for i, row := range strategies {
		names[i] = row.name
	}
	return names
}

// Valid reports whether there is such a strategy.
func (s Strategy) Valid() bool { return slices.Contains(Strategies(), s) }

// Summary returns one line that says what the strategy does.
func (s Strategy) Summary() string { return s.traits().summary }

// Language returns the query language of the states, in which expressions in
// arguments are written.
func (s Strategy) Language() asl.QueryLanguage { return s.traits().language }

// UsesFunctions reports whether the Lambda functions run-job and check-status
// start, poll and stop the job.
func (s Strategy) UsesFunctions() bool { return s.traits().functions }

// PollsByRetry reports whether the Retry block of one Task is the loop: each poll of
// a running job fails there.
func (s Strategy) PollsByRetry() bool { return s.traits().retryBlock }

// TakesTask reports whether a Task of the caller's own may poll, and Tasks may run between
// the polls.
func (s Strategy) TakesTask() bool { return s.traits().ownTask }

// Waits reports whether Step Functions waits for the job, so that it is described only
// once it has ended.
func (s Strategy) Waits() bool { return s.traits().told }

// NeedsCollector reports whether the Lambda function collector polls the job, by the
// messages of a queue and by events.
func (s Strategy) NeedsCollector() bool { return s.traits().collected }

// find returns the row of a strategy; nil if there is none.
func (s Strategy) find() strategy {
	for _, row := range strategies {
		if row.name == s {
			return row.strategy
		}
	}
	return nil
}

func (s Strategy) traits() traits {
	if found := cmp.Or(s, defaultStrategy).find(); found != nil {
		return found.traits()
	}
	return traits{}
}
