package lint

import (
	"fmt"
	"slices"
)

// pastBound are the statuses in which the loop polls on though its bound is reached: the bound is a part of
// a rule for other statuses. A job that runs has been followed to the bound.
func (r *reading) pastBound() []string {
	running := r.pollingValues()
	bounded := slices.Contains([]BoundKind{ByCount, ByTime, ByOther}, r.Bound.Kind)
	if r.status == nil || r.bounds == nil || !bounded || !slices.ContainsFunc(running, r.leavesLate) {
		return nil
	}
	var past []string
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Ends != PollsOn {
			continue
		}
		if len(row.Values) == 0 && !r.leavesLate(otherValue) {
			past = append(past, AnyOther)
		}
		for _, value := range row.Values {
			if !slices.Contains(running, value) && !r.leavesLate(value) {
				past = append(past, value)
			}
		}
	}
	return past
}

// leavesLate tells whether a status may leave the loop when its bound is reached.
func (r *reading) leavesLate(value string) bool {
	return slices.ContainsFunc(r.followAll(value), func(way route) bool { return way.ends != PollsOn })
}

// DescribePast says in which statuses the loop goes on past its bound, or in which alone it has one; empty for none.
func (b *Bound) DescribePast() string {
	switch {
	case len(b.Past) > 0:
		return "polls on past that bound in " + inStatuses(b.Past)
	case len(b.Only) > 0:
		return "a count ends it only in " + inStatuses(b.Only)
	default:
		return ""
	}
}

// inStatuses lists statuses.
func inStatuses(statuses []string) string {
	if n := len(statuses); statuses[n-1] == AnyOther {
		return join(append(slices.Clone(statuses[:n-1]), "any other status"), "and")
	}
	return list(statuses)
}

// anew says that nothing bounds the counts themselves.
func (b *Bound) anew() string {
	if b.Anew == "" {
		return ""
	}
	return fmt.Sprintf(", but %q counts anew, and nothing bounds that", b.Anew)
}
