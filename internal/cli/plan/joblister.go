package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// jobLister reads past jobs from the list of their service, and where that has ids alone
// from the job's describe call.
type jobLister struct {
	entry  *catalog.Entry
	list   *catalog.ListCall
	op     *catalog.Operation // that lists
	params kit.Params
	input  map[string]any
	client *awsjob.Client
	live   *kit.Live

	jobs     pastJobs
	more     bool // there are more jobs than were asked for
	next     time.Time
	answered bool
	refused  int // describe calls before the first that had an answer
	some     bool

	mu           sync.Mutex
	start        time.Time
	listed, done int
	describing   bool
	trouble      string // of the last call
}

// How the lister calls: a few calls a second, which is below the quota of any service, and
// so many pages at most.
const (
	listerPace  = 200 * time.Millisecond
	listerPages = 2000
)

// read reads so many jobs at most, in the order of the list.
func (r *jobLister) read(ctx context.Context, most int) (*pastJobs, error) {
	r.mu.Lock()
	r.start = time.Now()
	r.mu.Unlock()
	items, err := r.readPages(ctx, most)
	if err != nil {
		return nil, err
	}
	if r.list.Describe != nil {
		return &r.jobs, r.describeAll(ctx, items)
	}
	for _, item := range items {
		if err := r.add(item); err != nil {
			return nil, r.wrongAnswer(r.op, err)
		}
	}
	return &r.jobs, nil
}

// readPages reads the list.
func (r *jobLister) readPages(ctx context.Context, most int) (items []any, err error) {
	input, seen := r.input, map[string]bool{}
	for range listerPages {
		answer, err := r.call(ctx, r.op, input)
		if err != nil {
			return nil, r.callProblem(ctx, r.op, err)
		}
		page, err := r.list.ReadItems(answer)
		if err != nil {
			return nil, r.wrongAnswer(r.op, err)
		}
		token := r.list.NextPage(answer)
		items = append(items, page...)
		if len(items) >= most {
			r.more = len(items) > most || token != ""
			return items[:most], nil
		}
		r.show(func() { r.listed = len(items) })
		switch {
		case token == "":
			return items, nil
		case seen[token]:
			return nil, r.wrongAnswer(r.op, fmt.Errorf("its pages do not end: the %s %q came before", cmp.Or(r.list.Next, r.list.Token), cutText(token)))
		}
		seen[token] = true
		input = withMember(input, r.list.Token, token)
	}
	return nil, r.wrongAnswer(r.op, fmt.Errorf("it has more than %d pages: ask for fewer jobs with --most or --param", listerPages))
}

// withMember is an input with one more member.
func withMember(input map[string]any, name string, value any) map[string]any {
	with := map[string]any{name: value}
	for other, v := range input {
		if other != name {
			with[other] = v
		}
	}
	return with
}

// add takes in a job by its times in an item of the list, or in the answer of the describe
// call.
func (r *jobLister) add(answer any) error {
	start, end, err := r.entry.Job.TimesOf(answer)
	switch {
	case err != nil:
		return err
	case end.IsZero():
		r.jobs.leave(notEnded)
	case start.IsZero():
		r.jobs.leave("without a start")
	case r.jobs.addTimes(start, end) != nil:
		r.jobs.leave("longer than 365 days")
	}
	return nil
}

// describeAll describes the jobs: many at once where an operation does, else each.
func (r *jobLister) describeAll(ctx context.Context, items []any) error {
	r.show(func() { r.describing, r.listed = true, len(items) })
	var inputs []map[string]any
	seen := map[string]bool{} // a job that begins meanwhile moves others to the next page
	for _, item := range items {
		input, err := r.list.DescribeInput(r.input, item)
		if err != nil {
			return r.wrongAnswer(r.op, err)
		}
		if call := (kit.CallInput{Op: r.entry.Operation}); len(call.Missing(input)) > 0 {
			r.jobs.leave("whose id is not listed")
			continue
		}
		text, err := json.Marshal(input)
		if err != nil {
			return r.wrongAnswer(r.op, err)
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			inputs = append(inputs, input)
		}
	}
	size := 1
	if r.entry.Job.Batch != nil {
		size = r.entry.Job.Batch.Max
	}
	for some := range slices.Chunk(inputs, size) {
		var err error
		if r.entry.Job.Batch != nil {
			err = r.describeMany(ctx, some)
		} else {
			err = r.describeOne(ctx, some[0])
		}
		if err != nil {
			return err
		}
		r.show(func() { r.done += len(some) })
	}
	return nil
}

// describeOne describes a job. One that the service no longer knows is left out; if it
// knows none at all, something else is wrong.
func (r *jobLister) describeOne(ctx context.Context, input map[string]any) error {
	answer, err := r.call(ctx, r.entry.Operation, input)
	if err == nil {
		r.some = true
		if err := r.add(answer); err != nil {
			return r.wrongAnswer(r.entry.Operation, err)
		}
		return nil
	}
	if !kit.IsRefused(err) || !r.some && r.refused == mostRefused {
		return r.callProblem(ctx, r.entry.Operation, err)
	}
	r.refused++
	r.jobs.leave(fmt.Sprintf("that %s does not describe: %s", r.entry.Operation.Name, kit.NewCallError(err).Code))
	return nil
}

// mostRefused is how many describe calls may fail before the first that does not.
const mostRefused = 3

// describeMany describes jobs by one call. Their inputs have the same shared members, for
// these come from the input of the list.
func (r *jobLister) describeMany(ctx context.Context, inputs []map[string]any) error {
	batch := r.entry.Job.Batch
	op := r.entry.Service.Operations[batch.Operation]
	var ids []any
	for _, input := range inputs {
		more, err := batch.JobIDs(input)
		if err != nil {
			return r.wrongAnswer(r.op, err)
		}
		ids = append(ids, more...)
	}
	answer, err := r.call(ctx, op, batch.Input(inputs[0], ids))
	if err != nil {
		return r.callProblem(ctx, op, err)
	}
	elements, found, err := batch.ReadElements(answer)
	if err != nil {
		return r.wrongAnswer(op, err)
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[fmt.Sprint(id)] = true
	}
	for i, element := range elements {
		id := fmt.Sprint(found[i])
		if !wanted[id] {
			continue // another job, or one that came before
		}
		delete(wanted, id)
		if err := r.add(batch.AnswerOf([]any{element})); err != nil {
			return r.wrongAnswer(op, err)
		}
	}
	for range wanted {
		r.jobs.leave(fmt.Sprintf("that %s does not describe", op.Name))
	}
	return nil
}

// call calls an operation at the pace of the lister, and again while its error passes.
func (r *jobLister) call(ctx context.Context, op *catalog.Operation, input map[string]any) (any, error) {
	return stepfunctions.Persist(ctx, &r.answered, r.showTrouble, func(ctx context.Context) (any, error) {
		timer := time.NewTimer(time.Until(r.next))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		r.next = time.Now().Add(listerPace)
		answer, err := kit.AnswerWithin(ctx, kit.CallPatience, func(ctx context.Context) (any, error) { return r.client.Call(ctx, op, input) })
		r.answered = r.answered || err == nil || kit.NewCallError(err).Code != ""
		return answer, err
	})
}

// showTrouble shows the error of a call: without a terminal, minutes would pass in silence.
func (r *jobLister) showTrouble(err error) {
	trouble := ""
	if err != nil {
		trouble = kit.NewCallError(err).Code
	}
	r.show(func() { r.trouble = trouble })
	if trouble != "" {
		r.live.Show(r.standing())
	}
}

// callProblem is the error of a call as one of the command.
func (r *jobLister) callProblem(ctx context.Context, op *catalog.Operation, err error) error {
	switch {
	case ctx.Err() != nil:
		return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted"))
	case errors.Is(err, jobs.ErrArguments):
		return kit.Usage("input of %s: %w", op.Name, err)
	case op == r.op && len(r.params) > 0 && kit.IsRefused(err): // most often no such name
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s:%s: %s. Check %s, the account and the region",
			r.entry.Service.Key, op.Name, kit.ErrorText(err), strings.Join(quoteAll(r.params.Spell()), " ")))
	default:
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s:%s: %s", r.entry.Service.Key, op.Name, kit.EndReason(op.Actions, err)))
	}
}

// wrongAnswer is the error of an answer that cannot be right.
func (r *jobLister) wrongAnswer(op *catalog.Operation, err error) error {
	return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s:%s: unexpected answer: %w", r.entry.Service.Key, op.Name, err))
}

// show notes how far the reading is.
func (r *jobLister) show(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
}

// standing is where the reading stands.
func (r *jobLister) standing() kit.Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := kit.Standing{Status: "READING", Elapsed: time.Since(r.start), Message: kit.Plural(r.listed, "job") + " listed"}
	if r.describing {
		s.Message = fmt.Sprintf("%d of %s described", r.done, kit.Plural(r.listed, "job"))
	}
	if s.Seen = r.trouble; r.trouble != "" {
		s.Message += "  last answer: " + r.trouble
	}
	return s
}
