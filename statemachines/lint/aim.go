package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// aim is what a call leads a resource to, and what a waiter waits for.
type aim string

const (
	aimsAtGone    aim = "gone"
	aimsAtStopped aim = "stopped"
	aimsAtReady   aim = "ready"
)

var (
	changeVerbs = []string{
		"delete", "terminate", "deregister", "stop", "suspend", "create", "restore", "start", "run", "modify", "reboot", "copy", "promote",
		"register", "update", "resume", "import", "rollback", "failover",
	}
	goneNames = []string{"deleted", "deletecomplete", "notexists", "terminated", "deregistered"}
)

// verbOf is the verb of a call that changes a resource; empty for other calls.
func verbOf(action string) string {
	i := slices.IndexFunc(changeVerbs, func(verb string) bool { return strings.HasPrefix(strings.ToLower(action), verb) })
	if i < 0 {
		return ""
	}
	return changeVerbs[i]
}

// isOnItsWay tells whether a status leads to another by itself: "deleting",
// "DELETE_IN_PROGRESS".
func isOnItsWay(status string) bool {
	status = strings.ToLower(status)
	return strings.HasSuffix(status, "ing") || strings.HasSuffix(status, "progress")
}

// isGoing tells whether a status is called as if something went on, or was about to:
// PENDING_UPDATE, QUEUED, waiting-for-shutdown; unlike in-use, impaired and Inactive.
func isGoing(status string) bool { return goingName().MatchString(status) }

// goingName matches such a status.
var goingName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)ing|progress|pend|queue|submit|request|schedul|init|started`)
})

// aimOf is what a verb leads to.
func aimOf(verb string) aim {
	switch verb {
	case "delete", "terminate", "deregister":
		return aimsAtGone
	case "stop", "suspend":
		return aimsAtStopped
	default:
		return aimsAtReady
	}
}

// aim is what the waiter of a judge waits for.
func (j *judge) aim() aim {
	if j.entry == nil {
		return aimsAtReady
	}
	name := strings.ToLower(j.entry.Name)
	switch {
	case j.entry.Job != nil:
		return aimOf(verbOf(name))
	case slices.ContainsFunc(goneNames, func(end string) bool { return strings.HasSuffix(name, end) }):
		return aimsAtGone
	case strings.HasSuffix(name, "stopped"):
		return aimsAtStopped
	default:
		return aimsAtReady
	}
}
