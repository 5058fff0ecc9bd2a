package lint

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// startToken returns the member that keeps the call of a Task from starting its job
// twice: a token or a name, of a job of the catalogue that the Task starts and does
// not wait for. To run a job again that failed is what a Retry around one that
// waits is for. It is empty for other calls, and where the service asks for the
// member anyway.
func startToken(r asl.Resource) string {
	if r.Pattern != "" {
		return ""
	}
	if e := findStarted(r); e != nil {
		return javasdk.MemberName(e.StartToken())
	}
	return ""
}

// findKey is the startKey of the job that a call of a Task starts and does not wait for; empty if it has none.
func findKey(r asl.Resource) string {
	if e := findStarted(r); e != nil && r.Pattern == "" {
		return startKey(e)
	}
	return ""
}

// findStarted is the job of the catalogue that an integration starts; nil if there is
// none, or the catalogue does not know what the integration takes.
func findStarted(r asl.Resource) *catalog.Entry {
	service, optimised := r.Service, true
	if sdk, ok := r.SDK(); ok {
		service, optimised = sdk, false
	}
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return nil
	}
	for _, e := range listing.Entries {
		if e.Kind != catalog.AWSJob || !strings.EqualFold(e.Name, r.Action) {
			continue
		}
		entry, err := catalog.Lookup(listing.Key, e.Name)
		if err != nil {
			return nil
		}
		integration, _, _ := strings.Cut(entry.Job.Sync, ".sync")
		if optimised && integration != r.Service+":"+r.Action {
			return nil
		}
		return entry
	}
	return nil
}
