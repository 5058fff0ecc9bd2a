package kit

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/derived"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// LookupAny is Lookup for a command that takes a derived entry, too. It then notes that nobody has reviewed it.
func LookupAny(args []string, notes io.Writer) (*catalog.Entry, error) {
	service, name := splitName(args)
	entry, err := catalog.AWS().Lookup(service, name)
	if err == nil {
		return entry, nil
	}
	if !errors.Is(err, catalog.ErrNotFound) {
		return nil, NotFound(err, service, name)
	}
	entry = findDerived(service, name)
	if entry == nil {
		return nil, notFoundAny(err, service, name)
	}
	terminal.Fprintf(notes, "note: %s %s is derived from the model of the service: nobody has reviewed what its statuses mean\n", entry.Service.Key, entry.Name)
	return entry, nil
}

// findDerived is a derived entry by the names of a command; nil if there is none.
func findDerived(service, name string) *catalog.Entry {
	model, err := models.Load(service)
	if err != nil {
		return nil
	}
	entry, err := derived.Lookup(model, name)
	if err != nil {
		return nil
	}
	return entry
}

// FindAny is LookupAny without a note.
func FindAny(args []string) (*catalog.Entry, error) { return LookupAny(args, io.Discard) }

// notFoundAny is NotFound for a command that takes a derived entry, too: it suggests the nearest name of both kinds.
func notFoundAny(err error, service, name string) error {
	missing, ok := errors.AsType[*catalog.NotFoundError](err)
	of, failed := DerivedOf(service)
	if !ok || failed != nil || len(of.Entries) == 0 {
		return NotFound(err, service, name)
	}
	var reviewed []catalog.Listed
	if l, err := catalog.AWS().Find(service); err == nil {
		reviewed = l.Entries
	}
	near := nearest.Word(name, namesOf(slices.Concat(reviewed, of.Entries)))
	if near != "" && !slices.Contains(namesOf(of.Entries), near) || near == "" && entriesWith(reviewed, name) != "" {
		return NotFound(err, service, name) // which suggests a reviewed one
	}
	hint := cmp.Or(didYouMean(&catalog.NotFoundError{Suggestion: near}), entriesWith(of.Entries, name))
	return Usage("%s has no waiter or job %q, reviewed or derived.%s List them: jobpoller list %[1]s --derived", of.Key, cmp.Or(name, missing.Name), hint)
}

// namesOf are the names by which a command takes entries.
func namesOf(entries []catalog.Listed) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name, e.Waiter)
	}
	return names
}

// DerivedOf is what a list says of the derived entries of a service.
func DerivedOf(service string) (catalog.Listing, error) {
	model, err := models.Load(service)
	if err != nil {
		return catalog.Listing{}, err
	}
	listing := model.Listing()
	for _, e := range derived.Entries(model) {
		listing.Entries = append(listing.Entries, catalog.Listed{Name: e.Name, Kind: e.Kind, Waiter: e.Waiter.Name, Operation: e.Operation.Name})
	}
	return listing, nil
}
