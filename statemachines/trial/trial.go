// Package trial runs state machines on scripted answers, to see what they do and where two
// of them differ. Whoever changes a definition asks it what else changes.
//
// The n-th call of a Task gets the same answer in both machines, whenever it is made.
// One Task varies in a run: it gets each kind of answer that its service can give, alone
// and after others, and the other Tasks go well.
package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
	// Polls are numbers of polls after which a job ends besides, such as those about a
	// bound.
	Polls []int
	// Most is how many scripts are run; 400 if it is 0. Above it they are drawn.
	Most int
}

// mostScripts is how many scripts are run by default.
const mostScripts = 400

// Report is what the runs of two machines showed.
type Report struct {
	// Scripts are how many were run, of how many there are.
	Scripts, Of int
	// NotTried says what no run got to.
	NotTried []string
	// Differences are those of the scripts, one each.
	Differences []Difference
}

// Difference is what a script shows to differ.
type Difference struct {
	Script        string // such as "Status CANCELLED of \"Look\", after 1 poll"
	Kinds         []Kind // of its answers that are not the usual ones
	What          string // "end", "error", "cause", "output", "call" or "poll"
	Before, After string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: the %s was %s, and is %s", d.Script, d.What, d.Before, d.After)
}

// Outside returns the differences of scripts that no kind of the frame occurs in.
func (r *Report) Outside(frame []Kind) []Difference {
	return slices.DeleteFunc(slices.Clone(r.Differences), func(d Difference) bool {
		return slices.ContainsFunc(d.Kinds, func(k Kind) bool { return slices.ContainsFunc(frame, k.isIn) })
	})
}

// Compare runs two machines on the same answers. The error is that of a machine that cannot
// be run, or of the context.
func Compare(ctx context.Context, before, after *asl.StateMachine, o Options) (*Report, error) {
	o.Most = cmp.Or(o.Most, mostScripts)
	p, err := newPair(before, after, o)
	if err != nil {
		return nil, err
	}
	return p.compare(ctx)
}

// errNotRun is of a machine that cannot be run as it is.
var errNotRun = errors.New("the machine cannot be run")
