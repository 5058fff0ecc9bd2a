package catalog

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Presence is when a member of the answer about a job is there.
type Presence string

// The presences.
const (
	AfterFailure Presence = "failure" // since the job has failed
	AfterEnd     Presence = "end"     // since the job has ended, however
	AfterSuccess Presence = "success" // since the job has succeeded
	// AfterEndOrNever is since the job has ended, but not after every end: a container that
	// never started has no exit code.
	AfterEndOrNever Presence = "end-or-never"
	// AfterFirst is since the first job of its kind has ended, so also while later ones run.
	AfterFirst Presence = "first"
	// AfterPart is since a part of the job's work is done, so perhaps while the job still runs, and not
	// with the first answers: the best of the trainings that have ended.
	AfterPart Presence = "part"
	// WithSome is with some answers and not with others, whatever the status: the reason of a change.
	WithSome Presence = "any"
)

// SetPresence says when the member at a path of the output is there.
func (o *Operation) SetPresence(path string, when Presence) {
	if o.Presence == nil {
		o.Presence = map[string]Presence{}
	}
	o.Presence[path] = when
}

// Later returns the paths of the members of the operation's output that are not always
// there, such as "QueryExecution.Status.CompletionDateTime", sorted. The index [0] stands
// for any item of a list.
func (o *Operation) Later() []string { return slices.Sorted(maps.Keys(o.Presence)) }

// Has tells whether a job with the verdict has what is there at some time.
func (p Presence) Has(v pollcore.Verdict) bool {
	switch p {
	case AfterFailure:
		return v == pollcore.Failure
	case AfterSuccess:
		return v == pollcore.Success
	case AfterFirst, WithSome:
		return true
	default:
		return v != pollcore.Retry
	}
}

// MayLack tells whether only some jobs with the verdict have the member.
func (p Presence) MayLack(v pollcore.Verdict) bool {
	switch p {
	case AfterFailure, AfterPart:
		return v == pollcore.Failure
	case AfterEndOrNever:
		return v != pollcore.Retry
	case AfterFirst:
		return v == pollcore.Retry
	case WithSome:
		return true
	default:
		return false
	}
}
