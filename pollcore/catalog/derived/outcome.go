package derived

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/statusname"
)

// outcomes are the values of a status by what they say of the job.
type outcomes struct {
	success, failure, running []string
	// partial are failures after which a part of the work is done.
	partial []string
	// end is the last word in the name of the waiter.
	end string
}

// Words of statuses that a resource has which a call makes. Those of other changes, such as UPDATING, are in no list.
var (
	readyNames = []string{
		"active", "available", "ready", "created", "inservice", "in service", "deployed", "create complete", "create completed", "create succeeded",
	}
	restingNames = []string{"idle"} // which may be as ready as the ready ones
	makingWords  = []string{
		"create", "creating", "creation", "activating", "pending", "provisioning", "in", "progress", "inprogress", "initializing", "queued", "submitted", "requested",
	}
	failWords = []string{"create", "creation", "creating", "provisioning", "failed", "failure", "error"}
	// stoppedWords are of a job that somebody stopped: the work is not done.
	stoppedWords = []string{"stopped"}
	partWords    = []string{"partial", "partially", "partly"}
	// otherWords are of changes that the start call does not make.
	otherWords = []string{
		"delete", "deleting", "deletion", "deleted", "revoke", "update", "updating", "updated", "modify", "modifying",
		"reverse", "reset", "deactivating", "reverting",
	}
)

// read says what the values of a status mean for who waits until a job has ended well, or a resource that was made is
// ready; nil where the names do not tell a success from a failure and from what goes on.
func read(values []string, start *catalog.Operation) *outcomes {
	found := readJob(values, start)
	if found == nil && makes(start) {
		found = readMade(values)
	}
	if found == nil || len(found.success) != 1 || len(found.failure) == 0 || len(found.running) == 0 {
		return nil // two successes are of two phases
	}
	return found
}

// readJob reads the statuses of a job; nil if they have no success. What a call makes may go through several jobs, which
// each have a success.
func readJob(values []string, start *catalog.Operation) *outcomes {
	found := &outcomes{end: "Succeeded"}
	deletes := strings.Contains(start.Name, "Delete")
	for _, value := range values {
		means := statusname.Of(value)
		switch isOther := hasWord(value, otherWords); {
		case means == statusname.Success:
			found.success = append(found.success, value)
		case makes(start) && means == statusname.Unknown && statusname.NamesSuccess(value) && isOther:
			return nil
		case isOther && !deletes:
		case isPart(value):
			found.failure, found.partial = append(found.failure, value), append(found.partial, value)
		case means == statusname.Failure, hasWord(value, stoppedWords) && only(value, stoppedWords):
			found.failure = append(found.failure, value)
		case means == statusname.Running || means == statusname.Ending:
			found.running = append(found.running, value)
		}
	}
	if len(found.success) == 0 {
		return nil
	}
	return found
}

// readMade reads the statuses of a resource that a call has made.
func readMade(values []string) *outcomes {
	found := &outcomes{end: "Created"}
	for _, value := range values {
		name := strings.Join(statusname.Words(value), " ")
		switch means := statusname.Of(value); {
		case slices.Contains(readyNames, name), slices.Contains(restingNames, name):
			found.success = append(found.success, value)
		case means == statusname.Failure && only(value, failWords):
			found.failure = append(found.failure, value)
		case means == statusname.Running && only(value, makingWords):
			found.running = append(found.running, value)
		}
	}
	return found
}

// isPart tells whether the name of a status is that of a job that has ended, and has done a part of its work: the rest is not
// done, and comes no more.
func isPart(status string) bool {
	return statusname.Of(status) == statusname.Unclear || hasWord(status, partWords) && (statusname.NamesSuccess(status) || only(status, partWords))
}

// only tells whether each word in the name of a status is in a list.
func only(status string, of []string) bool {
	return !slices.ContainsFunc(statusname.Words(status), func(word string) bool { return !slices.Contains(of, word) })
}

// hasWord tells whether one of some words is in the name of a status.
func hasWord(status string, of []string) bool {
	return slices.ContainsFunc(statusname.Words(status), func(word string) bool { return slices.Contains(of, word) })
}

// findStatus finds the status in an answer about one thing, and its path: of several the one that is called as what the
// answer is about. There is none where names do not tell it.
func findStatus(answer *catalog.Shape, about string) (path string, listed *catalog.Shape) {
	if answer == nil {
		return "", nil
	}
	if name, shape := statusIn(answer, about); shape != nil {
		return name, shape
	}
	for i := range answer.Members {
		m := &answer.Members[i]
		if m.Shape.Type != catalog.Structure || !isAbout(m.Name, about) {
			continue
		}
		if name, shape := statusIn(m.Shape, about); shape != nil {
			if listed != nil {
				return "", nil
			}
			path, listed = m.Name+"."+name, shape
		}
	}
	return path, listed
}

// isAbout tells whether a member of an answer is named as the thing that the answer describes, or as its kind.
func isAbout(member, about string) bool {
	return strings.HasSuffix(strings.ToLower(about), strings.ToLower(member)) || strings.HasPrefix(strings.ToLower(member), strings.ToLower(about))
}

// statusIn is the member of a structure that is its status.
func statusIn(s *catalog.Shape, about string) (name string, listed *catalog.Shape) {
	var own, ofJob []*catalog.Member
	for i := range s.Members {
		m := &s.Members[i]
		stem, found := strings.CutSuffix(strings.ToLower(m.Name), "status")
		if !found {
			stem, found = strings.CutSuffix(strings.ToLower(m.Name), "state")
		}
		if !found || len(m.Shape.Enum) == 0 {
			continue
		}
		if strings.HasSuffix(strings.ToLower(about), stem) {
			own = append(own, m)
		} else if stem == "job" {
			ofJob = append(ofJob, m)
		}
	}
	switch {
	case len(own) == 1:
		return own[0].Name, own[0].Shape
	case len(own) == 0 && len(ofJob) == 1:
		return ofJob[0].Name, ofJob[0].Shape
	default:
		return "", nil
	}
}
