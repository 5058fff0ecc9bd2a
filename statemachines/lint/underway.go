package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// underway is a call before the loop that changes the polled resource, with its row of changes.json.
type underway struct {
	*catalog.Change

	task *asl.State
	call string
}

// changeUnderway is the change that a loop waits for, if the states before it make one alone; nil if
// nothing is known of it, or if the loop may wait for a new resource. Of maxBefore states.
func (c *checker) changeUnderway(r *reading) *underway {
	key, describe, _ := strings.Cut(r.Operation, ":")
	service, err := catalog.AWS().Service(key)
	if err != nil || !service.HasChanges(describe) {
		return nil
	}
	var found *underway
	before := c.waysOf(r.Flow).before
	seen := map[*asl.State]bool{r.Poll: true}
	for queue := []*asl.State{r.Poll}; len(queue) > 0 && len(seen) <= maxBefore; queue = queue[1:] {
		for _, s := range before[queue[0].Name] {
			if seen[s] {
				continue
			}
			seen[s] = true
			queue = append(queue, s)
			of, action := "", ""
			if s.Task != nil {
				of, action, _ = strings.Cut(c.operations.call(s.Task.Resource), ":")
			}
			if of != service.Key {
				continue
			}
			change := service.ChangedBy(action, describe)
			switch {
			case change != nil && change.Makes:
				return nil
			case change != nil && found == nil:
				found = &underway{change, s, action}
			case change != nil && found.Change != change, change == nil && makesSome(action):
				return nil
			}
		}
	}
	return found
}

// isAt tells whether a status stands at a path of the table of changes.
func (s *status) isAt(path string) bool {
	return s.path == items().ReplaceAllString(path, "[]")
}

// keeps tells whether the change leaves a status as it is.
func (u *underway) keeps(s *status) bool {
	return u != nil && slices.ContainsFunc(slices.Collect(maps.Keys(u.Stays)), s.isAt)
}

// undoes tells whether a value of a status says that the change has failed and is undone.
func (u *underway) undoes(s *status, value string) bool {
	return u != nil && value == u.Undone && s.isAt(u.Status)
}

// keepStays is an answer about a change that is told by the status, with what stays meanwhile.
func (r *reading) keepStays(answer typecheck.Value, s *status) typecheck.Value {
	if r.change == nil || !s.isAt(r.change.Status) {
		return answer
	}
	for path, value := range r.change.Stays {
		steps, _ := spellSteps(nil, path)
		if kept := typecheck.Narrow(answer, steps, value); !kept.IsNothing() {
			answer = kept
		}
	}
	return answer
}
