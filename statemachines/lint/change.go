package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// readVerbs are those of calls that change nothing.
var readVerbs = []string{"describe", "get", "list"}

// maxBefore is how many states before a poll are looked at.
const maxBefore = 40

// chooseAimed leaves the judges that wait for what the machine has called for: those of the
// last call before the poll that changes what it describes, such as DeleteDBInstance
// before DescribeDBInstances. If there is none, or nobody waits for that, all are left.
func (c *checker) chooseAimed(r *reading, judges []*judge) []*judge {
	verb := c.lastChange(r)
	if verb == nil {
		return judges
	}
	judges = slices.DeleteFunc(slices.Clone(judges), func(j *judge) bool { // the machine starts another job
		return j.entry != nil && j.entry.Job != nil && !strings.HasPrefix(j.entry.Name, verb.Name)
	})
	if len(judges) < 2 {
		return judges
	}
	var left, named []*judge
	for _, j := range judges {
		if j.aim() != verb.Aim {
			continue
		}
		left = append(left, j)
		if strings.Contains(j.entry.Name, verb.Name) { // StackUpdateComplete
			named = append(named, j)
		}
	}
	if fitting := slices.DeleteFunc(slices.Clone(left), func(j *judge) bool { return !verb.Makes && waitsForMade(j) }); len(fitting) > 0 {
		left = fitting
	}
	switch {
	case len(named) > 0:
		return named
	case len(left) > 0:
		return left
	default:
		return judges
	}
}

// withoutOtherJobs leaves out jobs that no call of the machine starts, and that wait for other statuses than AWS's waiters
// of the same answer: a loop that describes an instance waits until it is available, not until it has stopped.
func withoutOtherJobs(judges []*judge) []*judge {
	awaited := map[string]bool{}
	for _, j := range judges {
		if j.entry == nil || j.entry.Kind != catalog.AWSWaiter {
			continue
		}
		for value, isSuccess := range j.taken {
			awaited[value] = awaited[value] || isSuccess
		}
	}
	return slices.DeleteFunc(slices.Clone(judges), func(j *judge) bool {
		if len(awaited) == 0 || j.entry == nil || j.entry.Job == nil {
			return false
		}
		for value := range awaited {
			if awaited[value] && (j.taken[value] || j.second[value] != "") { // another member tells whether it is a success
				return false
			}
		}
		return true
	})
}

// waitsForMade tells whether a judge waits for a resource that a call has made, by its name: ChannelCreated. After
// a call that makes none, such as StartChannel, nobody waits for that.
func waitsForMade(j *judge) bool {
	return slices.ContainsFunc([]string{"Created", "CreateComplete", "Restored", "Copied", "Imported", "Registered"}, func(end string) bool {
		return strings.HasSuffix(j.entry.Waiter.Name, end)
	})
}

// lastChange is the verb of the nearest call before the poll that changes a resource of
// the kind that it describes; nil if there is none within
// maxBefore states, or two are as near.
func (c *checker) lastChange(r *reading) *catalog.Verb {
	before := c.waysOf(r.Flow).before
	seen := map[*asl.State]bool{r.Poll: true}
	for near := []*asl.State{r.Poll}; len(near) > 0 && len(seen) <= maxBefore; {
		var next []*asl.State
		var verbs []*catalog.Verb
		for _, s := range near {
			for _, from := range before[s.Name] {
				if seen[from] {
					continue
				}
				seen[from] = true
				next = append(next, from)
				if from.Task == nil {
					continue
				}
				if verb := c.changeOf(from, r); verb != nil && !slices.Contains(verbs, verb) {
					verbs = append(verbs, verb)
				}
			}
		}
		switch len(verbs) {
		case 0:
			near = next
		case 1:
			return verbs[0]
		default:
			return nil
		}
	}
	return nil
}

// changeOf is the verb of a Task that changes a resource of the kind that the poll describes; nil
// for other Tasks.
func (c *checker) changeOf(s *asl.State, r *reading) *catalog.Verb {
	service, describe, _ := strings.Cut(r.Operation, ":")
	noun := strings.TrimSuffix(strings.ToLower(describe), "s")
	for _, verb := range readVerbs {
		noun = strings.TrimPrefix(noun, verb)
	}
	of, action, _ := strings.Cut(c.operations.call(s.Task.Resource), ":")
	if known, err := catalog.AWS().Service(service); err == nil && of == service {
		switch change := known.ChangedBy(action, describe); {
		case change != nil && change.Makes:
			return catalog.VerbOf("Create")
		case change != nil:
			return catalog.VerbOf("Update")
		}
	}
	if of != service || !strings.Contains(strings.ToLower(action), noun) {
		return nil
	}
	return catalog.VerbOf(action)
}

// makes tells whether a Task makes what a waiter waits for: the catalogue names no start call of
// those that are no jobs.
func (c *checker) makes(s *asl.State, r *reading, j *judge) bool {
	if j.entry == nil || j.entry.Job != nil || j.aim() != catalog.AimReady {
		return false
	}
	verb := c.changeOf(s, r)
	return verb != nil && verb.Makes
}
