package trial

import (
	"context"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// round runs the scripts on one input.
type round struct {
	*pair

	input   []byte
	repeats bool               // scripts of more than one answer are run, too
	leads   map[string]*script // the first that gets to a Task, in both machines alike
	tried   map[string]bool    // Tasks that a run got to
}

// tryAll runs the script of which no Task varies, and those of each Task that a run gets to,
// behind the one that leads there.
func (r *round) tryAll(ctx context.Context) error {
	events, err := r.tryOne(ctx, &script{title: "all goes well"})
	if err != nil {
		return err
	}
	left := slices.Clone(r.tasks)
	for {
		i := slices.IndexFunc(left, func(role string) bool { return r.leads[role] != nil })
		if i < 0 {
			return nil
		}
		if err := r.tryTask(ctx, left[i], events); err != nil {
			return err
		}
		left = slices.Delete(left, i, i+1)
	}
}

// tryTask runs the scripts of a Task, and its ends while each other poll of the loop goes on.
// events are those of a run in which all goes well.
func (r *round) tryTask(ctx context.Context, role string, events int) error {
	c, lead := r.callee(role), r.leads[role]
	scripts := c.scripts(role, r.loops[role] != nil)
	for i, s := range scripts {
		scripts[i] = s.behind(lead)
	}
	for _, name := range r.loops[role] {
		beside := r.callee(name)
		if r.repeats && lead.task == "" && name != role && beside != nil && beside.running != nil {
			scripts = append(scripts, c.endsBeside(role, beside.lasting(name))...)
		}
	}
	for _, s := range scripts {
		if !r.repeats && (len(s.answers) > 1 || len(s.kinds) > 1) {
			continue
		}
		if !s.whole || !r.isBoundNear(role) {
			s.events = min(events+fewEvents, asl.MaxEvents)
		}
		if _, err := r.tryOne(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// tryOne runs a script, and notes the Tasks that it leads to. It returns how many events it
// took; 0 if it polls on.
func (r *round) tryOne(ctx context.Context, s *script) (events int, err error) {
	r.report.Of++
	run, a, b, err := r.try(ctx, s, r.input)
	if err != nil {
		return 0, err
	}
	pollsOn := a.Status == PollsOn || b.Status == PollsOn
	leads := s.task == "" || len(run.Differences) == 0 && !pollsOn
	for _, name := range r.tasks {
		if a.visits[name] > 0 {
			r.tried[name] = true
			if leads && r.leads[name] == nil {
				r.leads[name] = s
			}
		}
	}
	if pollsOn {
		return 0, nil
	}
	return max(a.events, b.events), nil
}
