// Package records is "jobpoller records": the start records of the Lambda functions.
package records

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// New is "jobpoller records".
func New() *cobra.Command {
	c := &cobra.Command{
		Use:   "records",
		Short: "Show, check and mend the start records of the Lambda functions",
		Long: `Records works on the start records that run-job keeps in a bucket or a table. It
CALLS AWS with your credentials. list, show and status change nothing. doctor writes
a record of its own, and removes it. adopt and abandon settle a start whose outcome
is not known (JobPoller.JobStartUnknown); both ask before they write, and write only
if the record is as it was.`,
		Example: `  jobpoller records list --bucket my-records --status UNKNOWN
  jobpoller records status arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1 --bucket my-records
  jobpoller records doctor --bucket my-records
  jobpoller records adopt arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1 jr_0123 --param JobName=nightly --table records`,
	}
	c.AddCommand(newRecordsListCommand(), newRecordsShowCommand(), newStatusCommand(), newDoctorCommand(), newAdoptCommand(), newAbandonCommand())
	return c
}

// NewMoved are the commands of records under their old names.
func NewMoved() []*cobra.Command {
	return []*cobra.Command{kit.Moved(newStatusCommand(), "records status"), kit.Moved(newDoctorCommand(), "records doctor")}
}

// recordsListOptions are the flags of "jobpoller records list".
type recordsListOptions struct {
	store  storeFlags
	status string
	limit  int
	output string
}

func newRecordsListCommand() *cobra.Command {
	var o recordsListOptions
	c := &cobra.Command{
		Use:   "list [EXECUTION_ARN]",
		Short: "List start records, of one execution or of all",
		Long: `List reads every record under the prefix, and prints what it finds as it goes: of
many, that takes a while.

Exit codes: 0 found something, 1 found nothing, 2 wrong usage, 4 could not reach the
store (network, credentials, permissions).`,
		Example: "  jobpoller records list --bucket my-records --status UNKNOWN\n  jobpoller records list --table records --limit 1000 -o json",
		Args:    kit.SomeArguments(0, 1, "at most "+kit.ExecutionWanted),
		RunE:    func(c *cobra.Command, args []string) error { return runRecordsList(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.status, "status", "", "`STATUS` of the records to list: "+kit.OrList(recordStatuses))
	f.IntVar(&o.limit, "limit", 100, "list at most this many records") //nolint:mnd // a page
	o.store.addTo(c)
	o.store.addDataTo(c)
	kit.AddOutput(c, &o.output)
	kit.CompleteWords(c, "status", recordStatuses...)
	kit.CompleteNothing(c, "limit")
	return c
}

var recordStatuses = []string{
	string(startrecord.StatusStarting), string(startrecord.StatusStarted), string(startrecord.StatusSucceeded),
	string(startrecord.StatusFailed), string(startrecord.StatusTimedOut), string(startrecord.StatusUnknown),
}

// listedRecord is a record of the list. Its JSON members are a contract: see
// docs/reference/json.md.
type listedRecord struct {
	Location   string              `json:"location"`
	AgeSeconds float64             `json:"ageSeconds,omitempty"`
	Error      string              `json:"error,omitempty"`
	Record     *startrecord.Record `json:"record,omitempty"`
}

func newListedRecord(store startrecord.Store, f foundRecord) listedRecord {
	l := listedRecord{Location: cmp.Or(f.place, store.Location(f.key)), AgeSeconds: f.stored.Age.Seconds()}
	if f.err != nil {
		l.Error = f.err.Error()
	} else {
		l.Record = &f.stored.Record
		if l.Record.Callback.TaskToken != "" {
			l.Record.Callback.TaskToken = "(hidden)" // whoever has it can end the Task
		}
	}
	return l
}

func runRecordsList(c *cobra.Command, args []string, o recordsListOptions) error {
	if err := kit.CheckOutput(o.output); err != nil {
		return kit.Usage("%w", err)
	}
	if o.status != "" && !slices.Contains(recordStatuses, o.status) {
		return kit.Usage("--status must be %s, is %q%s", kit.OrList(recordStatuses), o.status, nearest.DidYouMean(o.status, recordStatuses))
	}
	if o.limit < 1 {
		return kit.Usage("--limit must be at least 1, is %d", o.limit)
	}
	execution := ""
	if len(args) == 1 {
		execution = args[0]
		if err := checkKey(startrecord.Key{ExecutionARN: execution, Poller: handler.DefaultPoller}); err != nil {
			return err
		}
	}
	store, err := o.store.openStore(c.Context())
	if err != nil {
		return err
	}
	defer store.close()
	list := recordWriter{out: c.OutOrStdout(), json: o.output == "json", store: store}
	more, unwritten := false, error(nil)
	err = store.list(c.Context(), execution, o.status, func(f foundRecord) (bool, error) {
		if more = list.count == o.limit; !more {
			unwritten = list.write(f)
		}
		return !more && unwritten == nil, nil
	})
	if err != nil {
		return storeError(c.Context(), err)
	}
	if err := cmp.Or(unwritten, list.close()); err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if more {
		terminal.Fprintf(c.ErrOrStderr(), "There are more records: pass a higher --limit than %d\n", o.limit)
	}
	if list.count == 0 {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("found no such record in %s under %s", store.name(), store.flags.prefix))
	}
	return nil
}

// recordWriter writes records as they are found: a line for each, or a JSON array.
type recordWriter struct {
	out   io.Writer
	json  bool
	store startrecord.Store
	count int
}

func (w *recordWriter) write(f foundRecord) error {
	var text bytes.Buffer
	if !w.json && w.count == 0 {
		text.WriteString("STATUS     STARTED               RECORD  JOB\n")
	}
	switch {
	case w.json:
		if w.count > 0 {
			text.WriteString(",\n  ")
		} else {
			text.WriteString("[\n  ")
		}
		if err := kit.WriteJSONWithin(&text, "  ", newListedRecord(w.store, f)); err != nil {
			return err
		}
		text.Truncate(text.Len() - 1) // the newline
	case f.err != nil:
		terminal.Fprintf(&text, "%-9s  %s\n", "unread", f.err.Error())
	default:
		rec := f.stored.Record
		line := terminal.Sprintf("%-9s  %s  %s  %s", rec.Status, rec.StartedAt.Format(time.RFC3339), nameOfKey(f.key), nameOfJob(rec))
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	w.count++
	_, err := w.out.Write(text.Bytes())
	return err
}

// close ends what was written.
func (w *recordWriter) close() error {
	end := ""
	if w.json {
		end = "\n]\n"
		if w.count == 0 {
			end = "[]\n"
		}
	}
	_, err := io.WriteString(w.out, end)
	return err
}

// nameOfJob is the job of a record for people, with its ID once it has one.
func nameOfJob(rec startrecord.Record) string {
	q, err := requestOf(rec)
	if err != nil {
		return string(rec.JobRef)
	}
	return q.Job + " " + string(rec.JobRef)
}

// nameOfKey is a key for people.
func nameOfKey(key startrecord.Key) string {
	name := shell.Quote(key.ExecutionARN)
	if key.Poller != handler.DefaultPoller {
		name += " --poller " + shell.Quote(key.Poller)
	}
	if key.Scope != "" {
		name += " --scope " + shell.Quote(key.Scope)
	}
	return name
}

// keyFlags say which record of an execution is meant.
type keyFlags struct {
	store         storeFlags
	poller, scope string
}

func (k *keyFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&k.poller, "poller", handler.DefaultPoller, "`NAME` of the poller")
	c.Flags().StringVar(&k.scope, "scope", "", "`SCOPE` of the poller, such as the index of a Map iteration")
	k.store.addTo(c)
	k.store.addDataTo(c)
	kit.CompleteNothing(c, "poller", "scope")
}

// checkKey refuses what names no record.
func checkKey(key startrecord.Key) error {
	if (startrecord.Key{ExecutionARN: key.ExecutionARN, Poller: handler.DefaultPoller}).Validate() != nil {
		return kit.NoExecution(key.ExecutionARN)
	}
	if err := key.Validate(); err != nil {
		return kit.Usage("%w", err)
	}
	return nil
}

// load opens the store, and loads the record of the key.
func (k *keyFlags) load(c *cobra.Command, execution string) (*recordStore, foundRecord, error) {
	key := startrecord.Key{ExecutionARN: execution, Poller: k.poller, Scope: k.scope}
	if err := checkKey(key); err != nil {
		return nil, foundRecord{}, err
	}
	store, err := k.store.openStore(c.Context())
	if err != nil {
		return nil, foundRecord{}, err
	}
	stored, err := store.Load(c.Context(), key)
	if errors.Is(err, startrecord.ErrNotFound) {
		err = fmt.Errorf("%w%s", err, terminal.Lines(store.otherRecords(c.Context(), execution)))
	}
	if err != nil {
		defer store.close()
		return nil, foundRecord{}, storeError(c.Context(), store.loadError(err))
	}
	return store, foundRecord{key: key, stored: stored}, nil
}

// mostOthers is how many records are named instead of one that is not there.
const mostOthers = 5

// otherRecords names the records that an execution has; empty if it has none, or if
// they cannot be listed.
func (r *recordStore) otherRecords(ctx context.Context, execution string) string {
	var b strings.Builder
	err := r.list(ctx, execution, "", func(f foundRecord) (bool, error) {
		if f.err == nil {
			b.WriteString("\n  " + terminal.Quote(nameOfKey(f.key)))
		}
		return strings.Count(b.String(), "\n") < mostOthers, nil
	})
	if err != nil || b.Len() == 0 {
		return ""
	}
	return "\nThe execution has other records, such as:" + b.String()
}

func newRecordsShowCommand() *cobra.Command {
	var k keyFlags
	c := &cobra.Command{
		Use:     "show EXECUTION_ARN",
		Short:   "Print a start record as JSON",
		Long:    "Show prints a start record, its place and its age.\n\nExit codes: 0 found it, 1 there is none, 2 wrong usage, 4 could not reach the store.",
		Example: "  jobpoller records show arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1 --bucket my-records",
		Args:    kit.OneArgument(kit.ExecutionWanted),
		RunE: func(c *cobra.Command, args []string) error {
			store, found, err := k.load(c, args[0])
			if err != nil {
				return err
			}
			defer store.close()
			return kit.WriteJSON(c.OutOrStdout(), newListedRecord(store, found))
		},
	}
	k.addTo(c)
	return c
}

// requestOf is the request that a record holds.
func requestOf(rec startrecord.Record) (handler.Request, error) {
	var q handler.Request
	if err := json.Unmarshal(rec.Request, &q); err != nil {
		return q, fmt.Errorf("request in the start record: %w", err)
	}
	if q.Waiter != nil {
		q.Waiter.Name = q.WaiterName
	}
	return q, nil
}
