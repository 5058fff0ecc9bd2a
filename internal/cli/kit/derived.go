package kit

import (
	"errors"
	"io"

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
		return nil, NotFound(err, service, name)
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

// suggestDerived suggests the derived entry of a service that is nearest to a name; empty if none is near.
func suggestDerived(service, name string) string {
	model, err := models.Load(service)
	if err != nil {
		return ""
	}
	_, err = derived.Lookup(model, name)
	missing, ok := errors.AsType[*catalog.NotFoundError](err)
	if !ok {
		return ""
	}
	return didYouMean(missing)
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
