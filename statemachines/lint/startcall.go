package lint

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// StartToken returns the member that keeps a start call which is made again from starting a second job, a path as a
// definition spells it: that of the job which a Task starts by the catalogue, or of the operation, which may be nil. It is
// empty if there is none.
func StartToken(resource string, operation *catalog.Operation) string {
	if e := findStarted(asl.ParseResource(resource)); e != nil {
		return tokenOf(e)
	}
	if operation == nil {
		return ""
	}
	if token := tokenIn(operation.Input); token != nil {
		return javasdk.MemberName(token.Name)
	}
	return ""
}

// tokenOf is the member that keeps a start call which is made again from starting a second job, a path
// as a definition spells it; empty if there is none.
func tokenOf(e *catalog.Entry) string {
	token, _ := e.StartToken()
	names := strings.Split(token, ".")
	for i, name := range names {
		names[i] = javasdk.MemberName(name)
	}
	return strings.Join(names, ".")
}

// startedBy finds the job that a call starts, once for each resource.
func (c *checker) startedBy(r asl.Resource) *catalog.Entry {
	e, known := c.started[r]
	if !known {
		e = findStarted(r)
		c.started[r] = e
	}
	return e
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
