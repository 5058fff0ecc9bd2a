package catalogimport

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// tableJob is a job of the table, with its place there.
type tableJob struct {
	table   *table
	node    *jsontree.Node
	service string
	start   string
	job     catalog.Job
	// decisions are the values whose set the table gives a reason for; IMPORT_* stands for all that start so.
	decisions []string
	broken    bool // it has a problem in itself
}

// report adds a problem at a member of the job, or the nearest value to it.
func (j *tableJob) report(pointer, format string, args ...any) {
	j.table.Report(j.node.Nearest(j.node.Pointer()+"/"+pointer).Problem(format, args...))
}

// suggest is report with the nearest of the words that would be right.
func (j *tableJob) suggest(pointer, word string, words []string, format string, args ...any) {
	j.table.Report(j.node.Nearest(j.node.Pointer()+"/"+pointer).Problem(format, args...).Suggest(word, words...))
}

// syncAction is an action of a Step Functions integration that waits.
var syncAction = regexp.MustCompile(`^[a-z-]+:[a-z][A-Za-z]+\.sync(:2)?$`)

func (t *tables) readJobs(file *table, root *jsontree.Node) {
	previous := ""
	file.List(func(n *jsontree.Node) {
		before := len(file.Problems)
		j := file.readJob(n)
		if j.broken = len(file.Problems) > before; !j.broken {
			file.inOrder(n, &previous, j.service+" "+j.start)
		}
		t.jobs = append(t.jobs, j)
	})(root)
}

func (t *table) readJob(n *jsontree.Node) *tableJob {
	j := &tableJob{table: t, node: n}
	to := &j.job
	t.Object(n, "a job", map[string]func(*jsontree.Node){
		"service": t.word(&j.service), "start": t.word(&j.start), "waiter": t.word(&to.Waiter), "describe": t.word(&to.Describe),
		"arguments": t.arguments(&to.Arguments), "status": t.word(&to.Status), "success": t.words(&to.Success),
		"failure": t.words(&to.Failure), "running": t.words(&to.Running), "documented": t.Bool(&to.Documented),
		"message": t.word(&to.Message), "minDelay": t.Int(&to.MinDelay, 1, maxSeconds), "maxDelay": t.Int(&to.MaxDelay, 1, maxSeconds),
		"acceptors": func(n *jsontree.Node) { to.Acceptors = jsontree.Compact(n.Raw()) }, // their members keep their order
		"stop": func(n *jsontree.Node) {
			to.Stop = &catalog.StopCall{}
			t.Object(n, "a stop call", map[string]func(*jsontree.Node){
				"operation": t.word(&to.Stop.Operation), "arguments": t.arguments(&to.Stop.Arguments), "refused": t.refusal(to.Stop),
				"takesEnded": t.Bool(&to.Stop.TakesEnded), "statuses": t.words(&to.Stop.Statuses),
			}, "operation", "arguments")
		},
		"delaySource": t.source(), "tokenWindow": t.Int(&to.TokenWindow, 1, maxWindow), "tokenWindowSource": t.source(),
		"uniqueName": t.word(&to.UniqueName), "uniqueNameSource": t.source(),
		"naturalKey": t.naturalKey(to), "naturalKeySource": t.source(), "precondition": t.precondition(to),
		"jsonText": t.words(&to.JSONText), "forms": t.forms(to), "startTime": t.word(&to.StartTime), "endTime": t.word(&to.EndTime), "timesSource": t.source(),
		"sync": t.sync(&to.Sync), "syncSource": t.source(), "note": t.word(&to.Note),
		"dependent": t.List(func(n *jsontree.Node) {
			var d catalog.Dependent
			t.Object(n, "an IAM action on a resource", map[string]func(*jsontree.Node){
				"action": t.action(&d.Action), "resource": t.word(&d.Resource), "passedTo": t.words(&d.PassedTo),
			}, "action", "resource")
			to.Dependent = append(to.Dependent, d)
		}),
		"names": t.names(to),
		"decisions": func(n *jsontree.Node) {
			t.object(n, "reasons by values", func(value string, n *jsontree.Node) {
				j.decisions = append(j.decisions, value)
				if t.source()(n); strings.HasPrefix(n.Text, partialDecision) {
					to.Partial = append(to.Partial, value)
				}
			})
		},
	}, "service", "start", "waiter", "describe", "arguments", "minDelay", "maxDelay")
	if n.Kind == jsontree.Object {
		t.checkForm(j)
	}
	return j
}

// The longest delay, and the longest time for which a token is remembered, in
// seconds.
const (
	maxSeconds = 24 * 60 * 60
	maxWindow  = 365 * maxSeconds
)

// partialDecision begins the reason why a value is a failure after which a part of the work
// is done.
const partialDecision = "partial: "

// arguments reads expressions by members of an input.
func (t *table) arguments(to *map[string]string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		*to = map[string]string{}
		t.object(n, "JMESPath expressions by members of the input", func(member string, n *jsontree.Node) {
			var expression string
			t.word(&expression)(n)
			(*to)[member] = expression
		})
	}
}

func (t *table) sync(to *string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		if t.Text(to)(n); n.Kind == jsontree.String && !syncAction.MatchString(n.Text) {
			t.Report(n.Problem("expected an action such as glue:startJobRun.sync, found %q", n.Text))
		}
	}
}

// checkForm reports what is wrong in a job without looking at a model.
func (t *table) checkForm(j *tableJob) {
	to := &j.job
	switch {
	case to.Status == "" && len(to.Acceptors) == 0:
		j.report("", "a job needs a status and what its values mean, or acceptors")
	case len(to.Acceptors) > 0 && len(to.Success)+len(to.Failure)+len(to.Running) > 0:
		j.report("acceptors", "acceptors stand instead of the sets of values; keep one of them")
	case len(to.Acceptors) == 0 && len(to.Success) == 0:
		j.report("", "no value means success")
	}
	sets := map[string]string{}
	for _, set := range []struct {
		name   string
		values []string
	}{{"success", to.Success}, {"failure", to.Failure}, {"running", to.Running}} {
		for _, value := range set.values {
			if other, ok := sets[value]; ok && other != set.name {
				j.report(set.name, "the value %q is in %s too; keep one", value, other)
			}
			sets[value] = set.name
		}
	}
	j.checkDecisions(sets)
	if to.Stop != nil {
		for _, value := range to.Stop.Statuses {
			if sets[value] != "failure" {
				j.suggest("stop", value, to.Failure, "a job that was stopped has failed, and %q is no failure", value)
			}
		}
	}
	if to.MinDelay > to.MaxDelay && to.MaxDelay > 0 {
		j.report("maxDelay", "maxDelay must be at least minDelay (%d)", to.MinDelay)
	}
	for _, fact := range []string{"sync", "tokenWindow", "uniqueName", "naturalKey"} {
		if (j.node.Get(fact) == nil) != (j.node.Get(fact+"Source") == nil) {
			j.report(fact, "%s and %sSource go together", fact, fact)
		}
	}
}

// checkDecisions reports reasons that are on none of the sets, by value.
func (j *tableJob) checkDecisions(sets map[string]string) {
	to := &j.job
	for _, value := range to.Partial {
		if sets[value] != "failure" {
			j.suggest("decisions", value, to.Failure, "%q is marked \"partial: \" but is not in \"failure\": add it there, or remove the mark", value)
		}
	}
	for _, value := range j.decisions {
		start, many := strings.CutSuffix(value, "*")
		if len(to.Acceptors) == 0 && !slices.ContainsFunc(namesOf(sets), func(v string) bool { return v == value || many && strings.HasPrefix(v, start) }) {
			j.suggest("decisions", value, namesOf(sets), "the decision on %q is on none of the job's values", value)
		}
	}
}

// jobsOf returns the jobs of a service that are right in themselves.
func (t *tables) jobsOf(key string) []*tableJob {
	return slices.DeleteFunc(slices.Clone(t.jobs), func(j *tableJob) bool { return j.broken || j.service != key })
}

// job adds a job, if it fits the model.
func (b *builder) job(j *tableJob) {
	start, describe := b.jobOperation(j, "start", j.start), b.jobOperation(j, "describe", j.job.Describe)
	stop := (*catalog.Operation)(nil)
	if j.job.Stop != nil {
		stop = b.jobOperation(j, "stop/operation", j.job.Stop.Operation)
	}
	before := (*catalog.Operation)(nil)
	if j.job.Precondition != nil {
		before = b.jobOperation(j, "precondition/operation", j.job.Precondition.Operation)
	}
	signals := b.tables.signals[j.service+":"+j.start]
	batch := (*catalog.Operation)(nil)
	if signals != nil && signals.job.Batch != nil {
		batch = b.jobOperation(&signals.tableJob, "batch/operation", signals.job.Batch.Operation)
	}
	list, known := (*catalog.Operation)(nil), b.tables.lists[j.service+":"+j.start]
	if known != nil && known.list != nil {
		list = b.jobOperation(&known.tableJob, "operation", known.list.Operation)
	}
	if start == nil || describe == nil || j.job.Stop != nil && stop == nil || j.job.Precondition != nil && before == nil {
		return
	}
	b.jobName(j)
	if err := b.service.Link(); err != nil {
		b.errs = append(b.errs, err)
		return
	}
	started := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"input": start.Input.Describe(), "output": start.Output.Describe(),
	}}
	j.checkCall("arguments", j.job.Arguments, describe, started)
	if stop != nil {
		j.checkCall("stop/arguments", j.job.Stop.Arguments, stop, started)
	}
	j.checkWaiter(describe)
	if len(j.job.Acceptors) == 0 {
		j.checkStatus(describe)
	}
	job := j.job
	if start.Input != nil {
		for _, m := range start.Input.Members {
			if m.Token {
				job.Token = m.Name
			}
		}
	}
	j.checkStart(start, describe, before, job.Token)
	j.checkTimes(describe)
	j.checkNames(start, describe, stop)
	if stop != nil {
		j.checkRefusal(stop)
	}
	if signals != nil {
		signals.check(j, start, describe)
		job.Event, job.Batch, job.Topic = signals.job.Event, signals.job.Batch, signals.job.Topic
		job.SyncDelay, job.SyncRule = signals.job.SyncDelay, signals.job.SyncRule
		job.SyncArguments, job.SyncUnknown, job.SyncNote = signals.job.SyncArguments, signals.job.SyncUnknown, signals.job.SyncNote
		if batch != nil {
			b.checkBatch(signals, j, batch, describe)
		}
	}
	if list != nil {
		known.check(j, job.Batch, list, describe)
		job.List = known.list
	}
	b.addPresence(&job, describe)
	b.service.Jobs[j.start] = &job
}

// jobOperation adds an operation that the table names at the pointer.
func (b *builder) jobOperation(j *tableJob, pointer, name string) *catalog.Operation {
	if known := b.closure.model.operations; !slices.Contains(known, name) {
		j.suggest(pointer, name, known, "%s has no operation %q", j.service, name)
		return nil
	}
	return b.operation(name)
}

// jobName reports a job whose names are taken: a lookup by either must find one
// thing.
func (b *builder) jobName(j *tableJob) {
	for _, taken := range b.service.Listing().Entries {
		for pointer, name := range map[string]string{"start": j.start, "waiter": j.job.Waiter} {
			if strings.EqualFold(name, taken.Name) || strings.EqualFold(name, taken.Waiter) {
				j.report(pointer, "the name %s is that of the %s %s of %s already", name, taken.Kind, taken.Name, j.service)
			}
		}
	}
	if strings.EqualFold(j.start, j.job.Waiter) {
		j.report("waiter", "the waiter needs a name of its own, for %s is that of the call that starts the job", j.start)
	}
}
