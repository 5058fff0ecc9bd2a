// Package trial runs state machines on scripted answers, to see what they do and where two
// of them differ. Whoever changes a definition asks it what else changes.
//
// The n-th call of a Task gets the same answer in both machines, whenever it is made.
// One Task varies in a run: it gets each kind of answer that its service can give, alone
// and after others. The other Tasks go well, but for one that leads to it, or that polls
// beside it.
package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Options are the circumstances of the runs.
type Options struct {
	// Models are the APIs of services, as models.Load of pollcore/catalog/models.
	Models  typecheck.Models
	Express bool // the machines run as Express workflows
	// Input is that of the executions; nil: inputs are drawn.
	Input []byte
	// Polls are what Tasks of the first machine poll, and Running the statuses for which it asks
	// again, as simulate.Options has them.
	Polls   map[string]*catalog.Entry
	Running map[string][]string
	// Items is how many items drawn lists have at least, and answers about an entry of the caller's own; 0 for one.
	Items int
	Draw  int // of the answers about an entry of the caller's own, as simulate.Options has it
	// Known is what earlier comparisons found of the machines; nil for nothing.
	Known *Known
	// Except are members that may differ in any run, as the new machine has them otherwise.
	Except []Member
}

// Member is a member of the arguments of a Task's calls, or of the output of an execution if
// Task is empty.
type Member struct{ Task, Path string } // such as "detail.status"

// Report is what the runs of two machines showed.
type Report struct {
	// Scripts are how many were run, of how many there are.
	Scripts, Of int
	// NotTried says what no run got to, and NotMet which states that differ, by name.
	NotTried, NotMet []string
	// Runs are what both machines did on each script.
	Runs []Run
}

// Run is what both machines did on a script.
type Run struct {
	Script string // such as "status CANCELLED at \"Look\" after 1 poll"
	Kinds  []Kind // of its answers that are not the usual ones
	Usual  []Kind // of those that are, in either machine
	Before Outcome
	After  Outcome
	// Left is the kind of the last answer that both machines got from the Task that the script
	// varies: one of them may have asked on.
	Left Kind
	// Differences are what differs, each What once, and calls once a flow.
	Differences []Difference

	short bool // it ended before the history was full
}

// Outcome is how a run ended.
type Outcome struct {
	// Status is that of the execution, or one of PollsOn and Endless.
	Status string
	// TimesOut tells of PollsOn that TimeoutSeconds of the machine ends the run, and not a full history.
	TimesOut bool
	Error    string
	Polls    int
	Asked    int           // calls of the Task that the script varies, in a Run
	First    time.Duration // until the first of these calls
	Lasts    time.Duration
}

func (o Outcome) String() string {
	text := o.Status
	if o.Error != "" {
		text += " " + o.Error
	}
	return fmt.Sprintf("%s after %s and %d polls", text, o.Lasts, o.Polls)
}

// What is what may differ.
type What string

// What may differ.
const (
	End    What = "end"
	Error  What = "error"
	Cause  What = "cause"
	Output What = "output"
	Calls  What = "call"    // a call of a Task that does not poll
	Retry  What = "attempt" // the arguments of a call that is made again, which were those of the first
	Poll   What = "poll"    // the arguments of a poll
)

// Difference is what differs between two runs.
type Difference struct {
	What          What
	Before, After string
	// Task is that of a call that the first machine makes, and the second one does not.
	Task string
	// Beside tells that a call is of another flow than the one that the script is for.
	Beside bool
	// Again tells that the call is one more of a Task that both machines call: the second one ended before it came to it.
	Again bool
}

func (d Difference) String() string {
	return fmt.Sprintf("the %s was %s, and is %s", d.What, d.Before, d.After)
}

// Outside returns the runs that differ and have no kind of answer that is in the frame.
func (r *Report) Outside(frame ...Kind) []Run {
	return slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool { return len(run.Differences) == 0 || run.IsIn(frame) })
}

// Inside returns the runs that have a kind of answer that is in the frame.
func (r *Report) Inside(frame ...Kind) []Run {
	return slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool { return !run.IsIn(frame) })
}

// IsIn tells whether the run has a kind of answer that is in the frame.
func (r *Run) IsIn(frame []Kind) bool {
	isIn := func(k Kind) bool { return slices.ContainsFunc(frame, k.isIn) }
	return slices.ContainsFunc(r.Kinds, isIn) || slices.ContainsFunc(r.Usual, isIn)
}

// Compare runs two machines on the same answers. The error is that of a machine that cannot
// be run, or of the context.
func Compare(ctx context.Context, before, after *asl.StateMachine, o Options) (*Report, error) {
	p, err := newPair(before, after, o)
	if err != nil {
		return nil, err
	}
	report, err := p.compare(ctx)
	if err == nil && len(report.NotMet) > 0 {
		wider, wideErr := p.widen(report.NotMet)
		if err = wideErr; wider && err == nil {
			report, err = p.compare(ctx)
		}
	}
	if ctx.Err() != nil { // which a run that does not get far does not tell
		return nil, ctx.Err()
	}
	return report, err
}

// errNotRun is of a machine that cannot be run as it is.
var errNotRun = errors.New("the machine cannot be run")
