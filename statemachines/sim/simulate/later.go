package simulate

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// ofCall is the answer of a call that tells no status of a job, without the members that by their names are there
// only after a failure, or after an end. What the model requires stays.
func (a *answers) ofCall(op *catalog.Operation, s *catalog.Shape) any {
	answer := a.with(op).Of(s)
	dropLater(answer, s, "")
	return answer
}

// dropLater removes such members. status is that of the structure around, if it is known.
func dropLater(answer any, s *catalog.Shape, status string) {
	switch v := answer.(type) {
	case map[string]any:
		if s == nil || s.Type != catalog.Structure {
			return
		}
		own := statusAmong(v, s)
		status = cmp.Or(own, status)
		for i := range s.Members {
			m := &s.Members[i]
			value, there := v[m.Name]
			switch {
			case !there:
			case m.Required || !tellsFailure(m, status) && !tellsEnd(m, own):
				dropLater(value, m.Shape, status)
			case m.Shape.Type == catalog.List:
				v[m.Name] = []any{}
			default:
				delete(v, m.Name)
			}
		}
	case []any:
		for _, item := range v {
			if s != nil && s.Element != nil {
				dropLater(item, s.Element.Shape, status)
			}
		}
	}
}

// statusAmong is the status in a structure; empty if it has none.
func statusAmong(answer map[string]any, s *catalog.Shape) string {
	for _, at := range statesIn(answer, s) {
		if word, isText := at.get(answer).(string); isText && at.lists() == 0 && len(at) <= 2 {
			return word
		}
	}
	return ""
}

// tellsFailure tells whether a member tells of a failure, and the status is of none.
func tellsFailure(m *catalog.Member, status string) bool {
	return m.TellsFailure() && !failedWord().MatchString(status)
}

// tellsEnd tells whether a member is the time at which something ended, and the status beside it says that it goes on.
func tellsEnd(m *catalog.Member, status string) bool {
	return goingWord().MatchString(status) && m.TellsEnd()
}

// dropZeros takes out of the answers the counts that are 0 and that a service may leave out, though the waiter reads them. Of those
// that tell how a job ended, the catalogue says when they are there.
func (b *behaviour) dropZeros() {
	op := b.entry.Operation
	for _, r := range readingsOf(b.entry) {
		m := b.entry.Waiter.Acceptors[r.Acceptor].Matcher.Output
		if m == nil {
			continue
		}
		for _, l := range leavesOf(r, m) {
			known := slices.ContainsFunc(op.Later(), func(path string) bool { return slices.Equal(parsePlace(path), l.path) })
			if known || isRequired(op.Output, l.path) {
				continue
			}
			for i := range b.statuses {
				if answer := b.statuses[i].answer; l.path.get(answer) == 0.0 {
					l.path.remove(answer)
				}
			}
		}
	}
}
