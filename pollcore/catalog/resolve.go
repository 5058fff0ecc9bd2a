package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Named is what a name such as "athena:StartQueryExecution" stands for.
type Named struct {
	*Entry

	// FullName is the name in its one spelling: the service's key, a colon, and
	// the name of the start operation or the waiter.
	FullName string
	// Starts tells a job that is started from a waiter, which waits for what
	// somebody else has started.
	Starts bool
}

// Resolve returns what a name stands for, such as "dynamodb:ExportCompleted" (a
// waiter), "athena:StartQueryExecution" (a job, by the operation that starts it) or
// "athena:QueryExecutionSucceeded" (the waiter of that job). A name has one
// spelling; the IAM action of a start call, such as "states:StartExecution", stands
// for the job as well. The error of another spelling is a *NotFoundError that
// suggests the right one.
func (c *Catalog) Resolve(name string) (*Named, error) {
	service, entry, whole := strings.Cut(name, ":")
	if !whole {
		return nil, c.incomplete(name)
	}
	e, err := c.Lookup(service, entry)
	if err != nil {
		return nil, err
	}
	return e.resolve(name)
}

// resolve is the entry under a name by which it was found.
func (e *Entry) resolve(name string) (*Named, error) {
	_, entry, _ := strings.Cut(name, ":")
	n := &Named{Entry: e, Starts: e.Job != nil && !strings.EqualFold(entry, e.Waiter.Name)}
	n.FullName = e.Service.Key + ":" + e.Waiter.Name
	if n.Starts {
		n.FullName = e.FullName()
	}
	switch {
	case name == n.FullName:
	case n.Starts && slices.Contains(e.Service.Operations[e.Name].Actions, name):
	default:
		return nil, &NotFoundError{What: "job or waiter", Name: name, Suggestion: n.FullName}
	}
	return n, nil
}

// incomplete is the error of a name without a colon. It suggests an entry that has
// the name in some service.
func (c *Catalog) incomplete(name string) error {
	missing := &NotFoundError{What: "job or waiter", Name: name}
	list, err := c.List()
	if err != nil {
		return err
	}
	for _, s := range list {
		for _, e := range s.Entries {
			if missing.Suggestion == "" && (plain(e.Name) == plain(name) || plain(e.Waiter) == plain(name)) {
				missing.Suggestion = s.Key + ":" + e.Name
			}
		}
	}
	return fmt.Errorf("%w: expected a service and a name, such as dynamodb:ExportCompleted", missing)
}

// FullName is the name by which Resolve finds the entry.
func (e *Entry) FullName() string { return e.Service.Key + ":" + e.Name }
