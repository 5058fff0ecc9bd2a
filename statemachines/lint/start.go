package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// startOf returns the Task that starts the job of a judge: the one whose id the poll
// asks for, which byID tells, or else the last of the flow before the poll, or any of
// the machine. It is nil if there is none, or each starts another job.
func (c *checker) startOf(r *reading, j *judge) (start *asl.State, byID bool) {
	name := startCall(j)
	if name == "" {
		return nil, false
	}
	var open []*asl.State
	tasks, types := c.tasks()[strings.ToLower(name)], c.types
	switch {
	case len(tasks) == 0:
		return nil, false
	case len(tasks) > 1:
		types = c.taggedTypes()
	}
	ahead, asked := c.statesBefore(r.Flow, r.Poll), types.Arguments(r.Poll)
	for _, s := range tasks {
		if r.Flow.State(s.Name) == s && !ahead[s] {
			continue // it comes behind the loop
		}
		switch linkOf(types, asked, s, j) {
		case linkSame:
			return s, true
		case linkOpen:
			open = append(open, s)
		case linkOther:
		}
	}
	if len(open) == 0 {
		return nil, false
	}
	return c.nearest(r, open), false
}

// statesBefore are the states of a flow that come before another, and that one.
func (c *checker) statesBefore(f *asl.Flow, to *asl.State) map[*asl.State]bool {
	if c.ahead.of == to {
		return c.ahead.states
	}
	before := c.waysOf(f).before
	seen := map[*asl.State]bool{to: true}
	for queue := []*asl.State{to}; len(queue) > 0; queue = queue[1:] {
		for _, from := range before[queue[0].Name] {
			if !seen[from] {
				seen[from] = true
				queue = append(queue, from)
			}
		}
	}
	c.ahead = ahead{to, seen}
	return seen
}

// ahead are the states that come before one.
type ahead struct {
	of     *asl.State
	states map[*asl.State]bool
}

// link is whether a poll asks for what a start call has started.
type link int

const (
	linkOpen  link = iota // nobody knows
	linkSame              // the id, or the name, is the same
	linkOther             // it is another
)

// linkOf compares what a poll asks for with what a Task starts.
func linkOf(types *typecheck.Checker, asked typecheck.Value, start *asl.State, j *judge) link {
	found := linkOpen
	for member, expression := range j.entry.Job.Arguments {
		value := asked.Member(javasdk.MemberName(member))
		expression, list := strings.CutPrefix(expression, "[")
		if list {
			value, expression = value.Item(0), strings.TrimSuffix(expression, "]")
		}
		words, known := value.Literals()
		if !known || len(words) != 1 {
			continue
		}
		if name, ok := strings.CutPrefix(expression, "input."); ok {
			other, known := types.Arguments(start).Member(javasdk.MemberName(name)).Literals()
			switch {
			case known && len(other) == 1 && other[0] != words[0]:
				return linkOther
			case known && len(other) == 1:
				found = linkSame
			}
			continue
		}
		switch {
		case words[0] == tagOf(start):
			return linkSame
		case strings.HasPrefix(words[0], tagPrefix):
			return linkOther
		}
	}
	return found
}

// nearest is the Task of several that is the fewest states before the poll; the first of
// them if the flow has none before it.
func (c *checker) nearest(r *reading, tasks []*asl.State) *asl.State {
	before := c.waysOf(r.Flow).before
	seen := map[*asl.State]bool{r.Poll: true}
	for queue := []*asl.State{r.Poll}; len(queue) > 0; queue = queue[1:] {
		for _, from := range before[queue[0].Name] {
			if slices.Contains(tasks, from) {
				return from
			}
			if !seen[from] {
				seen[from] = true
				queue = append(queue, from)
			}
		}
	}
	return tasks[0]
}

// startCall is the operation that starts the job of a judge; empty if it judges no
// job.
func startCall(j *judge) string {
	if j.entry == nil || j.entry.Job == nil {
		return ""
	}
	return j.entry.Service.Key + ":" + j.entry.Name
}

func (c *checker) startsJob(s *asl.State, j *judge) bool {
	name := startCall(j)
	return name != "" && strings.EqualFold(c.operations.call(s.Task.Resource), name)
}

// tasks are the Tasks of the machine by the operations that they call, in small
// letters.
func (c *checker) tasks() map[string][]*asl.State {
	if c.called == nil {
		c.called = map[string][]*asl.State{}
		for s := range c.machine.All {
			if s.Task != nil {
				if name := strings.ToLower(c.operations.call(s.Task.Resource)); name != "" {
					c.called[name] = append(c.called[name], s)
				}
			}
		}
	}
	return c.called
}

// onlyWith says what the start call must have so that the service sends an event of the job's end; empty if
// nothing, or it has it.
func (l *Loop) onlyWith() string {
	asked := l.Entry.Job.Event.Switch
	if asked == "" {
		return ""
	}
	if t := argumentsOf(l.Start); t != nil {
		given := memberOf(t, javasdk.MemberName(asked))
		if given != nil && given.Literal == true {
			return ""
		}
	}
	return fmt.Sprintf(", if the start call has %q true", javasdk.MemberName(asked))
}
