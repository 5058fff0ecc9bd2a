package trial

import (
	"context"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// round runs the scripts on one input.
type round struct {
	*pair

	input   []byte
	repeats bool               // scripts of more than one answer are run, too
	leads   map[string]*script // the first that gets to a Task, in both machines alike
	again   map[string]bool    // Tasks that its run asks more than once on the way to a success
	tried   map[string]bool    // Tasks that a run got to
	newly   map[string]bool    // Tasks of both machines that a run of the new one got to
	met     map[string]bool    // states that a run of either machine got to
}

// AllWell is Run.Script of the run in which no answer varies.
const AllWell = "all goes well"

// tryAll runs the script of which no Task varies, and those of each Task that a run gets to,
// behind the one that leads there. If no run gets to a state that changed, a loop may lead
// there at its bound: then the jobs that never end run whole.
func (r *round) tryAll(ctx context.Context) error {
	if err := r.tryOne(ctx, &script{title: AllWell}); err != nil {
		return err
	}
	var short []*script
	left := slices.Clone(r.tasks)
	for {
		i := slices.IndexFunc(left, func(role string) bool { return r.leads[role] != nil })
		if i < 0 && len(short) > 0 && !r.meetsAll() {
			for _, s := range short {
				s.events = 0
				if err := r.tryOne(ctx, s); err != nil {
					return err
				}
			}
			short = nil
			continue
		}
		if i < 0 {
			return nil
		}
		cut, err := r.tryTask(ctx, left[i])
		if err != nil {
			return err
		}
		short, left = append(short, cut...), slices.Delete(left, i, i+1)
	}
}

// meetsAll tells whether runs got to all states that changed.
func (r *round) meetsAll() bool {
	for name := range r.changed {
		if !r.met[name] {
			return false
		}
	}
	return true
}

// tryTask runs the scripts of a Task, and its ends while each other poll of the loop goes on.
// It returns those that it cut short of the bound of a loop.
func (r *round) tryTask(ctx context.Context, role string) (short []*script, err error) {
	c, lead := r.callee(role), r.leads[role]
	scripts := c.scripts(role, r.loops[role] != nil)
	if r.again[role] {
		scripts = append(scripts, c.endsLater(role)...)
	}
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
		if own := len(s.kinds) - len(lead.kinds); !r.repeats && (len(s.answers) > 1 || own > 1) {
			continue
		}
		if !s.whole || !r.isInChange(role) {
			s.events = min(lead.took+fewEvents, asl.MaxEvents)
			if s.whole {
				short = append(short, s)
			}
		}
		if err := r.tryOne(ctx, s); err != nil {
			return nil, err
		}
	}
	return short, nil
}

// tryOne runs a script, and notes the Tasks that it leads to. A Task that only the second
// machine has is led to where all goes well.
func (r *round) tryOne(ctx context.Context, s *script) error {
	r.report.Of++
	run, a, b, err := r.try(ctx, s, r.input)
	if err != nil {
		return err
	}
	for _, o := range []*observed{a, b} {
		if o.Status != PollsOn {
			s.took = max(s.took, o.events)
		}
		for name := range r.changed {
			r.met[name] = r.met[name] || o.visited(name) > 0
		}
	}
	leads := s.task == "" || len(run.Differences) == 0 && a.Status != PollsOn && b.Status != PollsOn
	for _, name := range r.tasks {
		if a.visited(name) == 0 && (r.before.callees[name] != nil || b.visited(name) == 0) {
			r.newly[name] = r.newly[name] || b.visited(name) > 0
			continue
		}
		r.tried[name] = true
		if leads && r.leads[name] == nil {
			r.leads[name] = s
			r.again[name] = a.visited(name) > 1 && len(run.Differences) == 0 && a.Status == string(sim.StatusSucceeded)
		}
	}
	return nil
}
