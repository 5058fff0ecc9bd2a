package pastjobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Lister reads past jobs from the list of their service, and where that has ids alone
// from the job's describe call.
type Lister struct {
	Entry *catalog.Entry // of a job that has a list
	Input map[string]any // of the list's call
	Call  stepfunctions.Call
	// Tried is told the error of each call that is made again, and nil after an answer;
	// Progress how many of all jobs are described, or how many are listed while all is 0.
	// Nil tells nobody.
	Tried    func(error)
	Progress func(done, all int)

	list     *catalog.ListCall
	op       *catalog.Operation // that lists
	jobs     Jobs
	more     bool // there are more jobs than were asked for
	next     time.Time
	answered bool
	refused  int // describe calls before the first that had an answer
	some     bool
}

// How the lister calls: a few calls a second, which is below the quota of any service, and
// so many pages at most.
const (
	listerPace  = 200 * time.Millisecond
	listerPages = 2000
)

// CallError is the error of a call of a service.
type CallError struct {
	Op  *catalog.Operation
	Err error
}

// Error implements error.
func (e *CallError) Error() string { return e.Op.Name + ": " + e.Err.Error() }

// Unwrap returns the error of the call.
func (e *CallError) Unwrap() error { return e.Err }

// IsRefused tells whether the service refuses what was asked, for a reason of its own.
func (e *CallError) IsRefused() bool {
	code := goerror.Code(e.Err)
	return code != "" && !awserror.IsPermissionCode(code) && !awserror.IsCredentialsCode(code) && !goerror.Classify(e.Err).Passes()
}

// AnswerError is the error of an answer that cannot be right.
type AnswerError struct {
	Op  *catalog.Operation
	Err error
}

// Error implements error.
func (e *AnswerError) Error() string { return e.Op.Name + ": unexpected answer: " + e.Err.Error() }

// Unwrap says what is wrong with the answer.
func (e *AnswerError) Unwrap() error { return e.Err }

// Read reads so many jobs at most, in the order of the list, and tells whether the list
// has more. Its error is a *CallError or an *AnswerError.
func (r *Lister) Read(ctx context.Context, most int) (jobs *Jobs, more bool, err error) {
	r.list = r.Entry.Job.List
	r.op = r.Entry.Service.Operations[r.list.Operation]
	items, err := r.readPages(ctx, most)
	if err != nil {
		return nil, false, err
	}
	if r.list.Describe != nil {
		return &r.jobs, r.more, r.describeAll(ctx, items)
	}
	for _, item := range items {
		if err := r.add(item); err != nil {
			return nil, false, &AnswerError{r.op, err}
		}
	}
	return &r.jobs, r.more, nil
}

// readPages reads the list.
func (r *Lister) readPages(ctx context.Context, most int) (items []any, err error) {
	input, seen := r.Input, map[string]bool{}
	for range listerPages {
		answer, err := r.call(ctx, r.op, input)
		if err != nil {
			return nil, &CallError{r.op, err}
		}
		page, err := r.list.ReadItems(answer)
		if err != nil {
			return nil, &AnswerError{r.op, err}
		}
		token := r.list.NextPage(answer)
		items = append(items, page...)
		if len(items) >= most {
			r.more = len(items) > most || token != ""
			return items[:most], nil
		}
		r.show(len(items), 0)
		switch {
		case token == "":
			return items, nil
		case seen[token]:
			return nil, &AnswerError{r.op, fmt.Errorf("its pages do not end: the %s %q came before", cmp.Or(r.list.Next, r.list.Token), terminal.Excerpt(token))}
		}
		seen[token] = true
		input = withMember(input, r.list.Token, token)
	}
	return nil, &AnswerError{r.op, fmt.Errorf("it has more than %d pages: ask for fewer jobs with --most or --param", listerPages)}
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
func (r *Lister) add(answer any) error {
	start, end, err := r.Entry.Job.TimesOf(answer)
	switch {
	case err != nil:
		return err
	case end.IsZero():
		r.jobs.Leave(notEnded)
	case start.IsZero():
		r.jobs.Leave("without a start")
	case r.jobs.addTimes(start, end) != nil:
		r.jobs.Leave("longer than 365 days")
	}
	return nil
}

// describeAll describes the jobs: many at once where an operation does, else each.
func (r *Lister) describeAll(ctx context.Context, items []any) error {
	r.show(0, len(items))
	done := 0
	var inputs []map[string]any
	seen := map[string]bool{} // a job that begins meanwhile moves others to the next page
	for _, item := range items {
		input, err := r.list.DescribeInput(r.Input, item)
		if err != nil {
			return &AnswerError{r.op, err}
		}
		if len(r.Entry.Operation.Missing(input)) > 0 {
			r.jobs.Leave("whose id is not listed")
			continue
		}
		text, err := json.Marshal(input)
		if err != nil {
			return &AnswerError{r.op, err}
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			inputs = append(inputs, input)
		}
	}
	size := 1
	if r.Entry.Job.Batch != nil {
		size = r.Entry.Job.Batch.Max
	}
	for some := range slices.Chunk(inputs, size) {
		var err error
		if r.Entry.Job.Batch != nil {
			err = r.describeMany(ctx, some)
		} else {
			err = r.describeOne(ctx, some[0])
		}
		if err != nil {
			return err
		}
		done += len(some)
		r.show(done, len(items))
	}
	return nil
}

// describeOne describes a job. One that the service no longer knows is left out; if it
// knows none at all, something else is wrong.
func (r *Lister) describeOne(ctx context.Context, input map[string]any) error {
	answer, err := r.call(ctx, r.Entry.Operation, input)
	if err == nil {
		r.some = true
		if err := r.add(answer); err != nil {
			return &AnswerError{r.Entry.Operation, err}
		}
		return nil
	}
	failed := &CallError{r.Entry.Operation, err}
	if !failed.IsRefused() || !r.some && r.refused == mostRefused {
		return failed
	}
	r.refused++
	r.jobs.Leave(fmt.Sprintf("that %s does not describe: %s", r.Entry.Operation.Name, goerror.Code(err)))
	return nil
}

// mostRefused is how many describe calls may fail before the first that does not.
const mostRefused = 3

// describeMany describes jobs by one call. Their inputs have the same shared members, for
// these come from the input of the list.
func (r *Lister) describeMany(ctx context.Context, inputs []map[string]any) error {
	batch := r.Entry.Job.Batch
	op := r.Entry.Service.Operations[batch.Operation]
	var ids []any
	for _, input := range inputs {
		more, err := batch.JobIDs(input)
		if err != nil {
			return &AnswerError{r.op, err}
		}
		ids = append(ids, more...)
	}
	answer, err := r.call(ctx, op, batch.Input(inputs[0], ids))
	if err != nil {
		return &CallError{op, err}
	}
	elements, found, err := batch.ReadElements(answer)
	if err != nil {
		return &AnswerError{op, err}
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
			return &AnswerError{op, err}
		}
	}
	for range wanted {
		r.jobs.Leave(fmt.Sprintf("that %s does not describe", op.Name))
	}
	return nil
}

// call calls an operation at the pace of the lister, and again while its error passes.
func (r *Lister) call(ctx context.Context, op *catalog.Operation, input map[string]any) (any, error) {
	return stepfunctions.Persist(ctx, &r.answered, r.Tried, func(ctx context.Context) (any, error) {
		timer := time.NewTimer(time.Until(r.next))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		r.next = time.Now().Add(listerPace)
		answer, err := r.Call(ctx, op, input)
		r.answered = r.answered || err == nil || goerror.Code(err) != ""
		return answer, err
	})
}

// show tells how far the reading is.
func (r *Lister) show(done, all int) {
	if r.Progress != nil {
		r.Progress(done, all)
	}
}
