package kit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// CompleteEntries completes the first arguments of a command: a service, and the name of a waiter or job; for a command that
// takes derived entries those, too.
func CompleteEntries(c *cobra.Command, withDerived bool) {
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		switch len(args) {
		case 0:
			found = CompleteKnownService(typed, withDerived)
		case 1:
			found = completeName(args[0], typed, withDerived)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteServiceAlone completes the only argument of a command: a service that has waiters or jobs, or derived ones where
// withDerived says so.
func CompleteServiceAlone(c *cobra.Command, withDerived func() bool) {
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return CompleteKnownService(typed, withDerived()), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteEntriesOr completes as CompleteEntries, and where the command has a waiter of the
// user's own a service and its operation. own tells that, and the arguments beside the waiter.
func CompleteEntriesOr(c *cobra.Command, own func(args []string) ([]string, bool)) {
	CompleteEntries(c, true)
	entries := c.ValidArgsFunction
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if beside, is := own(args); is {
			return CompleteOperation(beside, typed), cobra.ShellCompDirectiveNoFileComp
		}
		return entries(c, args, typed)
	}
}

// CompleteKnownService completes the key of a service that has waiters or jobs. Services that have derived ones alone are
// completed behind a first letter: who asks for all would wait until all models are read.
func CompleteKnownService(typed string, withDerived bool) []cobra.Completion {
	found := completeListing(typed, catalog.AWS().List)
	if !withDerived || typed == "" {
		return found
	}
	for _, other := range CompleteService(typed) {
		key, _, _ := strings.Cut(other, "\t")
		if slices.Contains(found, other) {
			continue
		}
		if l, err := DerivedOf(key); err == nil && len(l.Entries) > 0 {
			found = append(found, other)
		}
	}
	slices.Sort(found)
	return found
}

// CompleteService completes the key of any service.
func CompleteService(typed string) []cobra.Completion { return completeListing(typed, models.List) }

// CompleteOperation completes a service and then the name of one of its operations.
func CompleteOperation(args []string, typed string) []cobra.Completion {
	switch len(args) {
	case 0:
		return CompleteService(typed)
	case 1:
		service, err := models.Load(args[0])
		if err != nil {
			return nil
		}
		return slices.DeleteFunc(slices.Sorted(maps.Keys(service.Operations)), func(name string) bool { return !hasPrefixFold(name, typed) })
	default:
		return nil
	}
}

func completeListing(typed string, services func() ([]catalog.Listing, error)) []cobra.Completion {
	list, err := services()
	if err != nil {
		return nil
	}
	var found []cobra.Completion
	for _, s := range list {
		if hasPrefixFold(s.Key, typed) {
			found = append(found, cobra.CompletionWithDesc(s.Key, s.Name))
		}
	}
	return found
}

// completeName completes the names of a service's waiters and jobs.
func completeName(service, typed string, withDerived bool) []cobra.Completion {
	var entries []catalog.Listed
	if listing, err := catalog.AWS().Find(service); err == nil {
		entries = listing.Entries
	}
	if withDerived {
		if listing, err := DerivedOf(service); err == nil {
			entries = slices.Concat(entries, listing.Entries)
		}
	}
	var found []cobra.Completion
	for _, e := range entries {
		if hasPrefixFold(e.Name, typed) {
			found = append(found, cobra.CompletionWithDesc(e.Name, fmt.Sprintf("%s, polls %s", e.Kind, e.Operation)))
		}
		if e.Waiter != e.Name && hasPrefixFold(e.Waiter, typed) {
			of := "job"
			if e.Kind == catalog.Derived {
				of = "derived job"
			}
			found = append(found, cobra.CompletionWithDesc(e.Waiter, fmt.Sprintf("waiter of the %s %s", of, e.Name)))
		}
	}
	slices.Sort(found)
	return found
}

// Finder finds the entry that a command names.
type Finder func(args []string) (*catalog.Entry, error)

// CompleteParams completes the names of --param: members of a call's input.
func CompleteParams(c *cobra.Command, find Finder, input func(*catalog.Entry) *catalog.Shape) {
	Must(c.RegisterFlagCompletionFunc("param", func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if name, _ := SplitIDs(args); HasName(name) {
			if entry, err := find(name); err == nil && input(entry) != nil {
				for _, m := range input(entry).Members {
					if hasPrefixFold(m.Name, typed) {
						found = append(found, m.Name+"=")
					}
				}
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}))
}

func hasPrefixFold(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}
