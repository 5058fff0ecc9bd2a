package show

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// listOptions are the flags of "jobpoller list".
type listOptions struct {
	jobs    bool
	derived bool
	search  string
	output  string
}

// NewList is "jobpoller list".
func NewList() *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use:   "list [SERVICE]",
		Short: "List the AWS waiters and jobs that jobpoller knows",
		Long: `List prints the waiters and jobs that jobpoller knows. AWS publishes the waiters.
For the jobs AWS has no waiter; jobpoller has its own. A job has the name of the
operation that starts it.

With --derived it also prints the jobs that follow from the models of services alone:
what starts one, what describes it, and what its statuses mean by their names. Nobody
has reviewed these, and every command that shows one says so.

SERVICE is the name in the AWS CLI, the SDKs, Step Functions or IAM.

Exit codes: 0 found something, 1 found nothing, 2 wrong usage, such as an unknown
service.`,
		Example: `  jobpoller list dynamodb
  jobpoller list --jobs
  jobpoller list --search export
  jobpoller list kendra --derived
  jobpoller list -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return kit.Usage("expected one service at most, found %s; quote a name of several words", kit.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runList(c, args, o) },
	}
	f := c.Flags()
	f.BoolVar(&o.jobs, "jobs", false, "list only jobs, which AWS has no waiter for")
	f.BoolVar(&o.derived, "derived", false, "list also jobs that follow from the models alone, which nobody has reviewed")
	f.StringVar(&o.search, "search", "", "`WORD` in a name of the entries to list: service, waiter, job or operation")
	kit.CompleteServiceAlone(c, func() bool { return o.derived })
	kit.CompleteNothing(c, "search")
	kit.AddOutput(c, &o.output)
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
	Signals     *signals     `json:"signals,omitempty"`
}

// signals are what can tell of the end of a job, and what describes many.
type signals struct {
	Sync  string         `json:"sync,omitempty"`
	Event *catalog.Event `json:"event,omitempty"`
	Topic string         `json:"topic,omitempty"`
	Batch *catalog.Batch `json:"batch,omitempty"`
}

func runList(c *cobra.Command, args []string, o listOptions) error {
	if err := kit.CheckOutput(o.output); err != nil {
		return kit.Usage("%w", err)
	}
	services, err := o.find(args)
	if err != nil {
		return err
	}
	if o.output == "json" {
		entries := flat(services)
		if err := addSignals(entries); err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
		err = kit.WriteJSON(c.OutOrStdout(), entries)
	} else {
		err = printList(c.OutOrStdout(), services)
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if len(services) == 0 {
		return kit.WithCode(kit.ExitFailed, o.nothing(args))
	}
	return nil
}

// find returns what the arguments and flags ask for.
func (o *listOptions) find(args []string) ([]catalog.Listing, error) {
	services, err := catalog.AWS().List()
	if err != nil {
		return nil, kit.Usage("%w", err)
	}
	key := ""
	if len(args) == 1 {
		if key, err = o.keyOf(args[0]); err != nil {
			return nil, err
		}
		services = slices.DeleteFunc(services, func(s catalog.Listing) bool { return s.Key != key })
	}
	if o.derived {
		if services, err = addDerived(services, key); err != nil {
			return nil, kit.WithCode(kit.ExitFailed, err)
		}
	}
	services = catalog.Search(services, o.search)
	for i := range services {
		services[i].Entries = slices.DeleteFunc(services[i].Entries, func(e catalog.Listed) bool {
			return o.jobs && e.Kind == catalog.AWSWaiter
		})
	}
	return slices.DeleteFunc(services, func(s catalog.Listing) bool { return len(s.Entries) == 0 }), nil
}

// addDerived adds the derived entries behind the others: of the service with a key, or of all.
func addDerived(known []catalog.Listing, key string) ([]catalog.Listing, error) {
	all, err := models.List()
	if err != nil {
		return nil, err
	}
	if key != "" {
		all = slices.DeleteFunc(all, func(l catalog.Listing) bool { return l.Key != key })
	}
	for i := range all {
		if all[i], err = kit.DerivedOf(all[i].Key); err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(known, func(l catalog.Listing) bool { return l.Key == all[i].Key }); at >= 0 {
			all[i].Entries = slices.Concat(known[at].Entries, all[i].Entries)
		}
	}
	return all, nil
}

// keyOf is the key of the service that has a name.
func (o *listOptions) keyOf(name string) (string, error) {
	one, err := catalog.AWS().Find(name)
	if err == nil {
		return one.Key, nil
	}
	if o.derived {
		if s, err := models.Load(name); err == nil {
			return s.Key, nil
		}
	}
	return "", kit.NotFound(err, name, "")
}

// nothing says that there is nothing of what the arguments and flags ask for.
func (o *listOptions) nothing(args []string) error {
	text := "there are no waiters or jobs"
	if o.jobs {
		text = "there are no jobs"
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
			list = append(list, listEntry{s.Key, s.Name, e.Name, e.Kind, e.Waiter, e.Operation, nil})
		}
	}
	return list
}

// addSignals reads the jobs of the list.
func addSignals(entries []listEntry) error {
	for i := range entries {
		if entries[i].Kind != catalog.AWSJob {
			continue
		}
		found, err := catalog.Lookup(entries[i].Service, entries[i].Name)
		if err != nil {
			return err
		}
		j := found.Job
		if all := (signals{j.Sync, j.Event, j.Topic, j.Batch}); all != (signals{}) {
			entries[i].Signals = &all
		}
	}
	return nil
}

// printList prints the entries of each service under its name, in columns as
// wide as the list needs them.
func printList(out io.Writer, services []catalog.Listing) error {
	entries := flat(services)
	nameWidth, kindWidth, operationWidth := 0, len(catalog.AWSWaiter), 0
	count := map[catalog.Kind]int{}
	for _, e := range entries {
		nameWidth = max(nameWidth, len(e.Name))
		kindWidth, operationWidth = max(kindWidth, len(e.Kind)), max(operationWidth, len(e.Operation))
		count[e.Kind]++
	}
	var b strings.Builder
	service := ""
	for _, e := range entries {
		if e.Service != service {
			service = e.Service
			terminal.Fprintf(&b, "%s (%s)\n", e.Service, e.ServiceName)
		}
		line := fmt.Sprintf("  %-*s  %-*s  %-*s", nameWidth, e.Name, kindWidth, e.Kind, operationWidth, e.Operation)
		if e.Kind != catalog.AWSWaiter {
			line += "  " + e.Waiter
		}
		b.WriteString(terminal.Quote(strings.TrimRight(line, " ")) + "\n")
	}
	if len(services) > 0 {
		jobs := kit.Plural(count[catalog.AWSJob], "job")
		if n := count[catalog.Derived]; n > 0 {
			jobs += fmt.Sprintf(" (and %d derived, reviewed by nobody)", n)
		}
		terminal.Fprintf(&b, "%s and %s of %s\n", kit.Plural(count[catalog.AWSWaiter], "waiter"), jobs, kit.Plural(len(services), "service"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
