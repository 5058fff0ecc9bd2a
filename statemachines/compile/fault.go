package compile

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// classOf returns what an error that a model declares means.
func classOf(e catalog.Error) awserror.Class { return awserror.ClassifyAnswer(e.Status, e.Shape) }

// namedErrors are the errors of a call that arrive by names of their own.
func namedErrors(op *catalog.Operation) []catalog.Error {
	named := slices.DeleteFunc(slices.Clone(op.Errors), func(e catalog.Error) bool { return e.Shape == "" })
	for _, e := range op.Throttling() {
		if !slices.ContainsFunc(named, func(known catalog.Error) bool { return known.Shape == e.Shape }) {
			named = append(named, e)
		}
	}
	return named
}

// passingNames are the names of the errors of a call after which it may be made again.
func passingNames(op *catalog.Operation) []string {
	var names []string
	for _, e := range namedErrors(op) {
		if name := op.Service.ErrorName(e.Shape); classOf(e).Passes() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// faults are the retriers for faults of a call that may be made again: those
// say nothing of the job. Errors that an acceptor names are not among them.
//
// A fault or a throttled call of which the service's model has no exception arrives
// as the service's own one, as a refusal does. It is tried again a few times: a
// refused call costs three more, and a throttled one is saved. Where an acceptor
// needs that exception, the state CheckError looks at it instead.
func (p *plan) faults(op *catalog.Operation) []retrier { return p.faultsIn(op, allPolls) }

// faultsIn is faults of a Task that makes a share of the polls.
func (p *plan) faultsIn(op *catalog.Operation, part share) []retrier {
	prefix := op.Service.ErrorPrefix + "."
	taken := func(name string) bool {
		return op == p.call.Operation && slices.ContainsFunc(p.catches, func(c catch) bool { return slices.Contains(c.names, name) })
	}
	names := slices.DeleteFunc(passingNames(op), taken)
	known := retryFaults(append(names, prefix+"SdkClientException"))
	unnamed := retrier{
		ErrorEquals:     []string{op.Service.UnmodeledErrorName()},
		IntervalSeconds: 2, MaxAttempts: 3, BackoffRate: 2, JitterStrategy: asl.JitterFull,
	}
	if op == p.call.Operation && p.retryBlock {
		known = p.forPolls(part, known, pollsPerFault, mostFaults)
		unnamed = p.forPolls(part, unnamed, pollsPerUnnamed, mostUnnamed)
	}
	if op == p.call.Operation && p.ambiguous() != nil {
		return []retrier{known}
	}
	return []retrier{known, unnamed}
}

// A retrier in whose Task the Retry block is the loop has its attempts for the
// whole wait, not for each call: one for so many polls, as far as what is
// left of the history has room (3 events each, DefaultEvents).
const (
	pollsPerFault, mostFaults    = 10, 200
	pollsPerUnnamed, mostUnnamed = 20, 100
)

// share is that of a Task in all calls that poll.
type share struct{ calls, of int }

var allPolls = share{1, 1}

// forPolls gives a retrier of such a Task attempts for its share of the polls. Its
// delay stays below a minute however often it was needed.
func (p *plan) forPolls(part share, r retrier, polls, most int) retrier {
	attempts := min(p.strategy.polls(p)/polls, most)
	r.MaxAttempts = max(r.MaxAttempts, (attempts*part.calls+part.of-1)/max(1, part.of))
	r.MaxDelaySeconds = 60
	return r
}

// startFaults are the retriers of the call that starts the job; nil for none. A
// call that is not idempotent is made again only if it was throttled: after a
// fault the job may have started.
func (p *plan) startFaults() []retrier {
	s := p.call.Start
	if s.Token != "" {
		return p.faults(s.Operation)
	}
	var names []string
	for _, e := range namedErrors(s.Operation) {
		if classOf(e) == awserror.Throttled {
			names = append(names, s.Operation.Service.ErrorName(e.Shape))
		}
	}
	if names == nil {
		return nil
	}
	return []retrier{retryFaults(names)}
}

// withRetry adds retriers, if there are any, to a Task.
func withRetry(task object, retriers []retrier) object {
	if len(retriers) > 0 {
		task["Retry"] = retriers
	}
	return task
}

// FaultRetrier is the retrier of errors that pass by themselves. It spans some two minutes.
func FaultRetrier(names []string) asl.Retrier {
	return asl.Retrier{ErrorEquals: names, IntervalSeconds: 2, MaxAttempts: 6, BackoffRate: 2, MaxDelaySeconds: 60, JitterStrategy: asl.JitterFull}
}

// retryFaults is FaultRetrier as a member of a definition.
func retryFaults(names []string) retrier {
	r := FaultRetrier(names)
	return retrier{
		ErrorEquals: names, IntervalSeconds: int(r.IntervalSeconds), MaxAttempts: int(r.MaxAttempts), BackoffRate: r.BackoffRate,
		MaxDelaySeconds: int(r.MaxDelaySeconds), JitterStrategy: r.JitterStrategy,
	}
}
