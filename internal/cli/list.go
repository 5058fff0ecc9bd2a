package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// listOptions are the flags of "jobpoller list".
type listOptions struct {
	lookup

	jobs, waiters bool
	search        string
	output        string
}

func newListCommand() *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use:   "list [service]",
		Short: "List AWS's waiters and the jobs that have none",
		Long: `List names what the catalogue knows to wait for: the waiters that AWS publishes,
and asynchronous jobs, whose waiters are the catalogue's own. A job has the name
of the operation that starts it. A service may have any of its names: that of the
AWS CLI, of the SDK, of Step Functions or of its IAM actions.

Exit codes: 0 something found, 1 nothing found, 2 wrong usage, such as a service
that is not there.`,
		Example: `  jobpoller list dynamodb
  jobpoller list --jobs
  jobpoller list --search export
  jobpoller list -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("expected one service at most, found %s; quote a name of several words", plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runList(c, args, o) },
	}
	f := c.Flags()
	f.BoolVar(&o.jobs, "jobs", false, "only jobs")
	f.BoolVar(&o.waiters, "waiters", false, "only waiters that AWS publishes")
	f.StringVar(&o.search, "search", "", "only what has this word in the name of its service, its own, its waiter's or its operation's")
	o.addTo(c, false)
	addOutput(c, &o.output)
	return c
}

// listEntry is an entry of the list. Its JSON members are a contract: see
// docs/reference/json.md.
type listEntry struct {
	Service     string       `json:"service"`
	ServiceName string       `json:"serviceName"`
	Name        string       `json:"name"`
	Kind        catalog.Kind `json:"kind"`
	Waiter      string       `json:"waiter"`
	Operation   string       `json:"operation"`
}

func runList(c *cobra.Command, args []string, o listOptions) error {
	if err := checkOutput(o.output); err != nil {
		return usage("%w", err)
	}
	if o.jobs && o.waiters {
		return usage("--jobs and --waiters exclude each other: leave both out for all")
	}
	services, err := o.find(args)
	if err != nil {
		return err
	}
	if o.output == "json" {
		err = writeJSON(c.OutOrStdout(), flat(services))
	} else {
		err = printList(c.OutOrStdout(), services)
	}
	if err != nil {
		return &exitError{exitFailed, err}
	}
	if len(services) == 0 {
		return &exitError{exitFailed, o.nothing(args)}
	}
	return nil
}

// find returns what the arguments and flags ask for.
func (o *listOptions) find(args []string) ([]catalog.Listing, error) {
	all, err := o.open()
	if err != nil {
		return nil, err
	}
	services, err := all.Search(o.search)
	if err != nil {
		return nil, usage("%w", err)
	}
	if len(args) == 1 {
		one, err := all.Find(args[0])
		if err != nil {
			return nil, notFound(err, args[0])
		}
		services = slices.DeleteFunc(services, func(s catalog.Listing) bool { return s.Key != one.Key })
	}
	for i := range services {
		services[i].Entries = slices.DeleteFunc(services[i].Entries, func(e catalog.Listed) bool {
			return o.jobs && e.Kind != catalog.AWSJob || o.waiters && e.Kind != catalog.AWSWaiter
		})
	}
	return slices.DeleteFunc(services, func(s catalog.Listing) bool { return len(s.Entries) == 0 }), nil
}

// nothing says that there is nothing of what the arguments and flags ask for.
func (o *listOptions) nothing(args []string) error {
	text := "there are no waiters or jobs"
	switch {
	case o.jobs:
		text = "there are no jobs"
	case o.waiters:
		text = "there are no waiters"
	}
	if len(args) == 1 {
		text += " of " + args[0]
	}
	if o.search != "" {
		text += fmt.Sprintf(" with %q in a name", o.search)
	}
	return errors.New(text)
}

func flat(services []catalog.Listing) []listEntry {
	list := []listEntry{}
	for _, s := range services {
		for _, e := range s.Entries {
			list = append(list, listEntry{s.Key, s.Name, e.Name, e.Kind, e.Waiter, e.Operation})
		}
	}
	return list
}

// printList prints the entries of each service under its name, in columns as
// wide as the list needs them.
func printList(out io.Writer, services []catalog.Listing) error {
	entries := flat(services)
	nameWidth, operationWidth, jobs := 0, 0, 0
	for _, e := range entries {
		nameWidth = max(nameWidth, len(e.Name))
		operationWidth = max(operationWidth, len(e.Operation))
		if e.Kind == catalog.AWSJob {
			jobs++
		}
	}
	var b strings.Builder
	service := ""
	for _, e := range entries {
		if e.Service != service {
			service = e.Service
			terminal.Fprintf(&b, "%s (%s)\n", e.Service, e.ServiceName)
		}
		line := fmt.Sprintf("  %-*s  %-6s  %-*s", nameWidth, e.Name, e.Kind, operationWidth, e.Operation)
		if e.Kind == catalog.AWSJob {
			line += "  " + e.Waiter
		}
		b.WriteString(terminal.Quote(strings.TrimRight(line, " ")) + "\n")
	}
	if len(services) > 0 {
		terminal.Fprintf(&b, "%s and %s of %s\n", plural(len(entries)-jobs, "waiter"), plural(jobs, "job"), plural(len(services), "service"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
