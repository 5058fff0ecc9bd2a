package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// lookup finds waiters and jobs, for the commands that show and use them.
type lookup struct {
	folder string // of another catalogue than the built-in one
}

// addTo gives a command the flag of the lookup and the completion of its first
// arguments: a service and, for a command that takes one, a name.
func (l *lookup) addTo(c *cobra.Command, names bool) {
	c.Flags().StringVar(&l.folder, "catalog", "", "folder of a catalogue, instead of the built-in one")
	must(c.MarkFlagDirname("catalog"))
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		switch {
		case len(args) == 0:
			found = l.completeService(typed)
		case len(args) == 1 && names:
			found = l.completeName(args[0], typed)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// open returns the catalogue.
func (l *lookup) open() (*catalog.Catalog, error) {
	if l.folder == "" {
		return catalog.AWS, nil
	}
	if _, err := os.Stat(filepath.Join(l.folder, catalog.IndexFile)); err != nil {
		return nil, usage("--catalog: %s is no catalogue: %w", l.folder, err)
	}
	return catalog.Open(os.DirFS(l.folder)), nil
}

// entry finds a waiter or a job.
func (l *lookup) entry(service, name string) (*catalog.Entry, error) {
	c, err := l.open()
	if err != nil {
		return nil, err
	}
	entry, err := c.Lookup(service, name)
	return entry, notFound(err, service)
}

// notFound is an error of a catalogue as one of what the user typed, with what
// to do next.
func notFound(err error, service string) error {
	missing, ok := errors.AsType[*catalog.NotFoundError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return usage("%w", err)
	case missing.What == "service":
		return usage("%w; \"jobpoller list\" lists all services", err)
	default:
		return usage("%w; \"jobpoller list %s\" lists them", err, service)
	}
}

// completeService completes the key of a service.
func (l *lookup) completeService(typed string) []cobra.Completion {
	c, err := l.open()
	if err != nil {
		return nil
	}
	list, err := c.List()
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
func (l *lookup) completeName(service, typed string) []cobra.Completion {
	c, err := l.open()
	if err != nil {
		return nil
	}
	listing, err := c.Find(service)
	if err != nil {
		return nil
	}
	var found []cobra.Completion
	for _, e := range listing.Entries {
		if hasPrefixFold(e.Name, typed) {
			found = append(found, cobra.CompletionWithDesc(e.Name, fmt.Sprintf("%s, polls %s", e.Kind, e.Operation)))
		}
		if e.Waiter != e.Name && hasPrefixFold(e.Waiter, typed) {
			found = append(found, cobra.CompletionWithDesc(e.Waiter, fmt.Sprintf("waiter of the job %s", e.Name)))
		}
	}
	slices.Sort(found)
	return found
}

func hasPrefixFold(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// twoNames wants the arguments SERVICE NAME.
func twoNames(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usage("expected a service and the name of a waiter or job, such as dynamodb ExportCompleted, found %s", plural(len(args), "argument"))
	}
	return nil
}
