package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

// kindOf is the only kind of job that gets to a value; empty if all kinds do, or if the machine starts that kind.
// other tells that the machine starts another kind.
func (r *reading) kindOf(value string) (kind string, other bool) {
	if len(r.judges) != 1 || r.judges[0].entry == nil {
		return "", false
	}
	member, of := r.judges[0].entry.KindOf(value)
	if member == "" {
		return "", false
	}
	name := javasdk.MemberName(member)
	kind = name + " " + of
	started, known := r.given.Member(name).Literals()
	switch {
	case known && !slices.Contains(started, of):
		return kind, true
	case known && len(started) == 1, r.seesEnd(value), !r.seesOtherKind(of):
		return "", false
	default:
		return kind, false
	}
}

// seesOtherKind tells whether the loop leaves with a success of another kind of job.
func (r *reading) seesOtherKind(of string) bool {
	return slices.ContainsFunc(r.status.values, func(value string) bool {
		member, kind := r.judges[0].entry.KindOf(value)
		return member != "" && kind != of && r.status.meaning(r.judges, value) == MeansSuccess && r.seesEnd(value)
	})
}

// seesEnd tells whether a value leaves the loop, and for no failure.
func (r *reading) seesEnd(value string) bool {
	end := endOf(r.routes[value])
	return end != PollsOn && end != EndsUnknown && end != EndsFailure
}
