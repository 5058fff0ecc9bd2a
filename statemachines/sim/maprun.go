package sim

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/ordered"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// mapRun is the run of a distributed Map: its child executions.
type mapRun struct {
	owner            *strand
	inside           *composite
	arn              string
	label            string
	state            string // name of the Map
	concurrency      int    // as the definition or an update has it; 0: no limit
	children         []*execution
	number           int // in the result's list
	redriven         int // times
	written          int // results, by a ResultWriter
	items            MapRunCounts
	executions       MapRunCounts
	list             *ordered.Groups[ListGroup, ListPlace]
	status           Status
	started, stopped time.Time
	redrivenAt       time.Time
}

func (s *strand) newMapRun(c *composite) *mapRun {
	label := s.state.Map.Label
	if label == "" {
		label = s.state.Name
	}
	o := s.x.run.options
	r := &mapRun{owner: s, inside: c, label: label, state: s.state.Name, concurrency: c.limit, status: StatusRunning, started: s.x.run.now, list: newList()}
	r.arn = arn(o, "mapRun") + o.StateMachine + "/" + label + ":" + s.x.run.random.uuid()
	root := s.x.run.root.result
	r.number = len(root.MapRuns)
	if w := s.x.run.world; w != nil {
		w.addMapRun(r)
	}
	root.MapRuns = append(root.MapRuns, MapRun{ARN: r.arn, State: s.state.Name})
	return r
}

// fill makes room for the child executions.
func (r *mapRun) fill(length int) {
	r.children = make([]*execution, length)
	r.owner.x.run.root.result.MapRuns[r.number].Executions = make([]*Result, length)
	for _, b := range r.inside.branches {
		r.items.Total, r.items.Pending = r.items.Total+b.items, r.items.Pending+b.items
	}
	r.executions.Total, r.executions.Pending = length, length
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
	x := newExecution(run, name, arn(run.options, kind)+machine+":"+name, run.now, input)
	x.limit, x.billed, x.mapRun, x.branch = run.options.MaxEvents, !express, r, b
	if run.world != nil {
		run.world.addChild(x)
	}
	if express {
		x.limit = unlimitedEvents
	}
	b.input = func() (*Payload, *failure) { return input, nil } // once more in a redrive
	r.children[b.index] = x
	run.root.result.MapRuns[r.number].Executions[b.index] = x.result
	r.count(b)
	r.follow(c, b, x)
	x.begin(b.flow, input)
	x.result.root.iterations = append(slices.Clone(r.owner.iterations), b.index)
	b.strand = x.result.root
	if express {
		r.limitTime(x)
	}
}

// limitTime ends an Express child execution when its time is over.
func (r *mapRun) limitTime(x *execution) {
	root := x.result.root
	r.owner.x.run.after(asl.MaxExpressTime, func() {
		if !x.over && x.result.root == root {
			root.kill()
			x.timeOut()
		}
	})
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
				panic("sim: an output that it wrote itself is not JSON: " + err.Error())
			}
			c.branchDone(b, newPayload(output), c.owner.last, c.owner.last)
			return
		}
		c.branchFailed(b, thresholdExceeded(), c.owner.last)
	}
}

// thresholdExceeded is the failure of a Map with too many failed items.
func thresholdExceeded() *failure {
	return &failure{name: errorToleratedExceeded, cause: "The specified tolerated failure threshold was exceeded"}
}

// resume goes on with a child execution in a redrive: one that is Express gives way to a
// new one, any other goes on where it stopped. One whose history is full fails for good.
func (r *mapRun) resume(c *composite, b *branch) {
	x := r.children[b.index]
	run := r.owner.x.run
	r.count(b) // the redrive has come to it
	switch {
	case r.owner.state.Map.ExecutionType == asl.Express:
		input, f := b.input()
		if f != nil { // it was made before
			c.branchFailed(b, f, r.owner.last)
			return
		}
		b.strand.release()
		if run.world != nil {
			run.world.dropChild(x)
		}
		r.start(c, b, input)
	case x.lastEvent() >= int64(x.limit)-1:
		run.after(0, func() {
			if !c.ended {
				c.branchFailed(b, thresholdExceeded(), r.owner.last)
			}
		})
	default:
		x.belongTo(run)
		x.redrive()
		r.count(b)
	}
}

// redrive counts a redrive, and returns what the history says of it.
func (r *mapRun) redrive() Details {
	r.redriven++
	r.redrivenAt, r.status, r.stopped = r.owner.x.run.now, StatusRunning, time.Time{}
	r.countAll()
	return Details{MapRunArn: r.arn, RedriveCount: r.redriven}
}

// end ends the child executions that run, and notes how the whole ended.
func (r *mapRun) end(status Status) {
	if r.status == StatusRunning {
		r.status, r.stopped = status, r.owner.x.run.now
	}
	for _, x := range r.children {
		if x != nil && !x.over {
			x.abort()
		}
	}
	r.countAll()
}
