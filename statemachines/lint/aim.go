package lint

import (
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

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

// aim is what the waiter of a judge waits for.
func (j *judge) aim() catalog.Aim {
	if j.entry == nil {
		return catalog.AimReady
	}
	return j.entry.Aim()
}

// leadsToReady tells whether a resource is ready behind a call, as far as its name tells.
func leadsToReady(action string) bool {
	verb := catalog.VerbOf(action)
	return verb == nil || verb.Aim == catalog.AimReady
}

// makesSome tells whether a call makes a resource, as far as its name tells.
func makesSome(action string) bool {
	verb := catalog.VerbOf(action)
	return verb != nil && verb.Makes
}
