package asl

import "github.com/jobpoller/jobpoller/pollcore/diag"

// ExpressProblems returns what an Express workflow cannot have: Tasks that wait
// for a job, a token or an activity, and distributed Maps.
func ExpressProblems(m *StateMachine) diag.Problems { return m.expressProblems(&m.Flow) }

func (m *StateMachine) expressProblems(f *Flow) diag.Problems {
	var out diag.Problems
	for s := range f.All {
		switch {
		case s.Map != nil && s.Map.Distributed:
			processor := "/ItemProcessor"
			if s.Map.Legacy {
				processor = "/Iterator"
			}
			out = append(out, m.Problem(s.Position.Pointer+processor+"/ProcessorConfig/Mode", "an Express workflow cannot have a distributed Map"))
		case s.Task == nil:
		default:
			r := ParseResource(s.Task.Resource)
			if r.Pattern != "" {
				out = append(out, m.Problem(s.Position.Pointer+"/Resource", "an Express workflow does not support %q integrations", r.Pattern))
			} else if r.Service == activity {
				out = append(out, m.Problem(s.Position.Pointer+"/Resource", "an Express workflow does not support activities"))
			}
		}
	}
	return out
}
