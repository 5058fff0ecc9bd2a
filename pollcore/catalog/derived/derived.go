// Package derived has the jobs that follow from the models of services alone: where the names and shapes of a model
// show the call that starts a job, the call that describes it, its id, and the member with its status. Nobody has reviewed
// them: whoever shows one says so. Where a model can be read in two ways, there is none, nor where the catalogue has
// an entry that polls the operation.
package derived

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/sources"
)

// Delays between polls, in seconds, as nobody knows how long a job takes.
const minDelay, maxDelay = 15, 120

// Entries are the derived entries of a service with all of its operations, as package models has it, sorted by name.
func Entries(s *catalog.Service) []*catalog.Entry {
	var all []*catalog.Entry
	for _, name := range slices.Sorted(maps.Keys(s.Operations)) {
		if e := Of(s.Operations[name]); e != nil {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *catalog.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b *catalog.Entry) bool { return a.Name == b.Name }) // DescribeDocument and GetDocument
}

// Lookup returns the derived entry of a service by its name, or that of its waiter; case and hyphens do not matter. Its
// error is a *catalog.NotFoundError.
func Lookup(s *catalog.Service, name string) (*catalog.Entry, error) {
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	wanted := strings.ToLower(plain.Replace(name))
	var names []string
	for _, e := range Entries(s) {
		if strings.ToLower(e.Name) == wanted || strings.ToLower(e.Waiter.Name) == wanted {
			return e, nil
		}
		names = append(names, e.Name, e.Waiter.Name)
	}
	return nil, &catalog.NotFoundError{Service: s.Key, What: "waiter or job", Name: name, Suggestion: nearest.Word(name, names)}
}

// Of is the derived entry that polls an operation of a service with all of its operations; nil if there is none.
func Of(describe *catalog.Operation) *catalog.Entry {
	about := nounOf(describe.Name, describeVerbs)
	if about == "" || describe.Input == nil || isReviewed(describe) {
		return nil
	}
	start, about := startOf(describe.Service, about)
	if start == nil || isDecided(start) {
		return nil
	}
	path, listed := findStatus(describe.Output, about)
	if listed == nil || isSet(describe.Service, about, listed) {
		return nil
	}
	if choosesActive(start.Input, listed.Enum, deepest) {
		return nil
	}
	outcomes := read(listed.Enum, start)
	arguments := findArguments(start, describe, about)
	if outcomes == nil || arguments == nil {
		return nil
	}
	job := &catalog.Job{
		Waiter: about + outcomes.end, Describe: describe.Name, Arguments: arguments, Status: path,
		Success: outcomes.success, Failure: outcomes.failure, Running: outcomes.running, Partial: outcomes.partial,
		Token: tokenOf(start), MinDelay: minDelay, MaxDelay: maxDelay,
	}
	waiter, err := job.NewWaiter()
	if err != nil {
		return nil // a name that no waiter can have
	}
	polled := *describe
	if len(polled.Actions) == 0 {
		polled.Actions = []string{polled.Service.IAMPrefix + ":" + polled.Name}
	}
	return &catalog.Entry{Name: start.Name, Kind: catalog.Derived, Service: describe.Service, Operation: &polled, Waiter: waiter, Job: job}
}

// isReviewed tells whether the catalogue has an entry that polls the operation.
func isReviewed(describe *catalog.Operation) bool {
	listing, err := catalog.AWS().Find(describe.Service.Key)
	if err != nil || listing.Key != describe.Service.Key {
		return false
	}
	return slices.ContainsFunc(listing.Entries, func(e catalog.Listed) bool { return e.Operation == describe.Name })
}

// endedServices take no jobs any more, though their models are there, as left-out.json says of single jobs.
var endedServices = []string{"pinpoint", "lookoutequipment"}

// isDecided tells whether a person has decided about the job that an operation starts: the catalogue has it, or leaves
// it out.
func isDecided(start *catalog.Operation) bool {
	if _, isLeftOut := sources.LeftOut()[start.Service.Key+":"+start.Name]; isLeftOut || slices.Contains(endedServices, start.Service.Key) {
		return true
	}
	listing, err := catalog.AWS().Find(start.Service.Key)
	if err != nil || listing.Key != start.Service.Key {
		return false
	}
	return slices.ContainsFunc(listing.Entries, func(e catalog.Listed) bool { return e.Kind == catalog.AWSJob && e.Name == start.Name })
}

// tokenOf is the member of the start call's input that makes it idempotent; empty if the model marks none.
func tokenOf(start *catalog.Operation) string {
	if start.Input == nil {
		return ""
	}
	for i := range start.Input.Members {
		if m := &start.Input.Members[i]; m.Token {
			return m.Name
		}
	}
	return ""
}
