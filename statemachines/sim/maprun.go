package sim

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// mapRun is the run of a distributed Map: its child executions.
type mapRun struct {
	owner    *strand
	arn      string
	label    string
	children []*execution
	number   int // in the result's list
}

func (s *strand) newMapRun(length int) *mapRun {
	label := s.state.Map.Label
	if label == "" {
		label = s.state.Name
	}
	o := s.x.run.options
	r := &mapRun{owner: s, label: label, children: make([]*execution, length)}
	r.arn = arn(o, "mapRun") + o.StateMachine + "/" + label + ":" + s.x.run.random.uuid()
	root := s.x.run.root.result
	r.number = len(root.MapRuns)
	root.MapRuns = append(root.MapRuns, MapRun{ARN: r.arn, State: s.state.Name, Executions: make([]*Result, length)})
	return r
}

// start starts the child execution of a branch.
func (r *mapRun) start(c *composite, b *branch, input *Payload) {
	run := r.owner.x.run
	name := run.random.uuid()
	kind := "execution"
	express := r.owner.state.Map.ExecutionType == asl.Express
	if express {
		kind = "express"
	}
	machine := run.options.StateMachine + "/" + r.label
	x := newExecution(run, name, arn(run.options, kind)+machine+":"+name, run.clock.Now(), input)
	x.definition = map[string]any{"Id": arn(run.options, "stateMachine") + machine, "Name": machine}
	x.limit, x.billed = run.options.MaxEvents, !express
	if express {
		x.limit = unlimitedEvents
	}
	r.children[b.index] = x
	run.root.result.MapRuns[r.number].Executions[b.index] = x.result
	r.follow(c, b, x)
	x.begin(b.flow, input)
	x.result.root.iterations = append(x.result.root.iterations, b.index)
	b.strand = x.result.root
}

// follow tells the composite how a child execution ends.
func (r *mapRun) follow(c *composite, b *branch, x *execution) {
	x.ended = func() {
		if c.ended {
			return
		}
		if x.result.Status == StatusSucceeded {
			output, err := decode(x.result.Output)
			if err != nil {
				panic("sim: an output that it wrote itself is no JSON: " + err.Error())
			}
			c.branchDone(b, newPayload(output), c.owner.last, c.owner.last)
			return
		}
		c.branchFailed(&failure{
			name:  errorToleratedExceeded,
			cause: "The specified tolerated failure threshold was exceeded",
		}, c.owner.last)
	}
}

// resume goes on with a child execution in a redrive.
func (r *mapRun) resume(b *branch) {
	x := r.children[b.index]
	x.run, x.over = r.owner.x.run, false
	x.redrive()
}

// abort ends the child executions that run.
func (r *mapRun) abort() {
	for _, x := range r.children {
		if x != nil && !x.over {
			x.result.root.kill()
			x.end(StatusAborted, ExecutionAborted, x.lastEvent(), Details{})
		}
	}
}
