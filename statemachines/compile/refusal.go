package compile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// ErrNotCompiled means that a strategy cannot say what a waiter asks for.
var ErrNotCompiled = errors.New("not compiled")

// A NotCompiledError is the ErrNotCompiled of a waiter: all that stands against
// it.
type NotCompiledError struct {
	Waiter   string
	Strategy Strategy
	Reasons  []string
	// Unmodeled are all codes of errors, if that is among the reasons, that the
	// service's model does not declare, so that Step Functions does not pass them
	// on. With Options.CausePatterns for each, or with UnmodeledFails, this reason is
	// none.
	Unmodeled []string
	// Optional are the members of the first call's input, if that is among the
	// reasons: it requires none, and the strategy Loop passes on only members that
	// the operation requires or Arguments name.
	Optional []string
	// Events is how many the wait can take, if the history has no room for them, which
	// is among the reasons then; else 0.
	Events int
	// FittingMinDelay or FittingMaxDelay is the MinDelay or the MaxDelay with which
	// the history has room, if there is one: Options.Fit takes it. FittingStrategy is
	// a strategy for which it has room, if that is the only reason.
	FittingMinDelay, FittingMaxDelay time.Duration
	FittingStrategy                  Strategy
}

func (e *NotCompiledError) Error() string {
	return fmt.Sprintf("%s cannot be compiled to %s: %s", e.Waiter, e.Strategy, strings.Join(e.Reasons, "; "))
}

// Unwrap returns ErrNotCompiled.
func (*NotCompiledError) Unwrap() error { return ErrNotCompiled }

// refusal collects what stands against compiling a plan.
type refusal struct {
	objections         []objection
	unmodeled          []string // codes that Step Functions hides
	unsure             []string // members of an input that requires none
	events             int      // those of a history that has no room for them
	minDelay, maxDelay time.Duration
}

type objection struct {
	acceptor int // its number
	text     string
}

func (r *refusal) refuse(format string, args ...any) {
	r.objections = append(r.objections, objection{math.MaxInt, fmt.Sprintf(format, args...)})
}

func (r *refusal) refuseAcceptor(number int, format string, args ...any) {
	r.objections = append(r.objections, objection{number, fmt.Sprintf(format, args...)})
}

// err returns the error, if there is anything; what concerns acceptors first, in
// their order.
func (r *refusal) err(waiter string, s Strategy) error {
	if len(r.objections) == 0 {
		return nil
	}
	sorted := slices.Clone(r.objections)
	slices.SortStableFunc(sorted, func(a, b objection) int { return cmp.Compare(a.acceptor, b.acceptor) })
	reasons := make([]string, len(sorted))
	for i, o := range sorted {
		reasons[i] = o.text
	}
	return &NotCompiledError{
		Waiter: waiter, Strategy: s, Reasons: reasons, Unmodeled: r.unmodeled, Optional: r.unsure,
		Events: r.events, FittingMinDelay: r.minDelay, FittingMaxDelay: r.maxDelay,
	}
}
