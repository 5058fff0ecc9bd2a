package kit

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Lookup finds a waiter or a job by the arguments of a command.
func Lookup(args []string) (*catalog.Entry, error) {
	service, name := splitName(args)
	entry, err := catalog.AWS().Lookup(service, name)
	if err != nil {
		return nil, NotFound(err, service, name)
	}
	return entry, nil
}

// FindOperation finds an operation of any service, for a waiter of the user's own.
func FindOperation(service, name string) (*catalog.Operation, error) {
	operation, err := models.Operation(service, name)
	if err != nil {
		return nil, notModeled(err)
	}
	return operation, nil
}

// CheckService reports a name that no service has.
func CheckService(name string) error {
	if _, err := models.Load(name); err != nil {
		return notModeled(err)
	}
	return nil
}

// notModeled makes an error of wrong usage from one of package models.
func notModeled(err error) error {
	missing, ok := errors.AsType[*catalog.NotFoundError](err)
	switch {
	case !ok:
		return Usage("%w", err)
	case missing.What == "service":
		return Usage("there is no service %q.%s List them: aws help", missing.Name, didYouMean(missing))
	default:
		return Usage("%s has no %s %q.%s List them: aws %s help", missing.Service, missing.What, missing.Name, didYouMean(missing), missing.Service)
	}
}

func didYouMean(missing *catalog.NotFoundError) string {
	if missing.Suggestion == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %s?", missing.Suggestion)
}

// NotFound makes an error of wrong usage from one of the catalogue, for a command that takes no derived entry. It suggests a
// similar name and the next command.
func NotFound(err error, service, name string) error {
	missing, ok := errors.AsType[*catalog.NotFoundError](err)
	if !ok {
		return Usage("%w", err)
	}
	if e := findDerived(service, name); e != nil {
		return Usage("%s %s is derived from the model of the service, and nobody has reviewed it: only show, check, wait and compile take it",
			e.Service.Key, e.Name)
	}
	hint := didYouMean(missing)
	if missing.What == "service" {
		return noService(missing, service)
	}
	list := service
	if l, err := catalog.AWS().Find(service); err == nil {
		list, hint = l.Key, cmp.Or(hint, entriesWith(l.Entries, name))
	}
	return Usage("%s has no waiter or job %q.%s List them: jobpoller list %s", list, missing.Name, hint, list)
}

// noService says that the catalogue has no service of a name, and which one has.
func noService(missing *catalog.NotFoundError, service string) error {
	if s, err := models.Load(service); err == nil {
		if l, err := DerivedOf(s.Key); err == nil && len(l.Entries) > 0 {
			return Usage("jobpoller knows no reviewed waiter or job of %s. List what follows from its model: jobpoller list %[1]s --derived", s.Key)
		}
		return Usage("jobpoller knows no waiter or job of %s. Poll an operation of it with a waiter of your own: "+
			"jobpoller compile WAITER.json %s OPERATION --max-wait 1h", s.Key, s.Key)
	}
	return Usage("there is no service %q.%s List them: jobpoller list", missing.Name, cmp.Or(didYouMean(missing), servicesWith(service)))
}

// entriesWith suggests the entries whose names have all of a word that was typed, such as StartJobRun for JobRun.
func entriesWith(entries []catalog.Listed, word string) string {
	if len(word) < 3 {
		return ""
	}
	var found []string
	for _, e := range entries {
		if strings.Contains(strings.ToLower(e.Name), strings.ToLower(word)) {
			found = append(found, e.Name)
		}
	}
	const most = 3 // that still help
	if len(found) == 0 || len(found) > most {
		return ""
	}
	return fmt.Sprintf(" Did you mean %s?", OrList(found))
}

// servicesWith says which services have an entry of a name that was typed without
// its service; empty if none has.
func servicesWith(name string) string {
	all, err := catalog.AWS().List()
	if err != nil {
		return ""
	}
	var found []string
	for _, s := range all {
		for _, e := range s.Entries {
			if strings.EqualFold(e.Name, name) || strings.EqualFold(e.Waiter, name) {
				found = append(found, s.Key+" "+e.Name)
				break
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf(" Did you mean %s?", OrList(found))
}

// splitName reads SERVICE NAME, or SERVICE:NAME as a request of the functions spells it.
func splitName(args []string) (service, name string) {
	if len(args) == 1 {
		service, name, _ = strings.Cut(args[0], ":")
		return service, name
	}
	return args[0], args[1]
}

// HasName tells whether the arguments are SERVICE NAME or SERVICE:NAME.
func HasName(args []string) bool {
	return len(args) == 2 || len(args) == 1 && strings.Contains(args[0], ":")
}

// RequireName wants the arguments SERVICE NAME or SERVICE:NAME.
func RequireName(_ *cobra.Command, args []string) error {
	if HasName(args) {
		return nil
	}
	expected := fmt.Sprintf("expected a service and the name of a waiter or job, such as dynamodb ExportCompleted, found %s", Plural(len(args), "argument"))
	if len(args) == 1 {
		if hint := servicesWith(args[0]); hint != "" {
			expected += "." + hint
		}
	}
	return Usage("%s", expected)
}

// SplitIDs cuts the arguments behind SERVICE NAME, or SERVICE:NAME.
func SplitIDs(args []string) (name, ids []string) {
	n := min(len(args), 2) //nolint:mnd // SERVICE NAME
	if len(args) > 0 && strings.Contains(args[0], ":") {
		n = 1
	}
	return args[:n], args[n:]
}

// Kebab spells a name as the AWS CLI does: DBInstanceAvailable is
// db-instance-available.
func Kebab(name string) string {
	return strings.ToLower(afterWord().ReplaceAllString(beforeWord().ReplaceAllString(name, "$1-$2"), "$1-$2"))
}

var (
	beforeWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(.)([A-Z][a-z]+)`) })
	afterWord  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z0-9])([A-Z])`) })
)
