package fix

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkSeveral refuses a loop that may ask for several jobs at once, for a ".sync" Task, which starts one.
func (l *loop) checkSeveral(o Options) error {
	list, _, err := l.listOfJobs(o)
	if err != nil || list == nil {
		return err
	}
	return refuse("%q may ask for several jobs, and a .sync Task waits for the one that it starts", l.poll.Name)
}

// chooseWaiter finds how the new loop judges several jobs of one answer, where the entry looks at the first alone: as the old loop
// judges answers about two jobs.
func (l *loop) chooseWaiter(ctx context.Context, tried *observed, o Options) error {
	l.waiter = l.entry.Waiter
	list, response, err := l.listOfJobs(o)
	if err != nil || list == nil {
		return err
	}
	p := newPanel(l.entry, list.String())
	pairs, err := l.tryPairs(ctx, tried, *list, response, o)
	if err != nil {
		return err
	}
	best, least := firstAlone, len(pairs)+1
	for _, q := range quorums {
		wrong := 0
		for _, pair := range pairs {
			if q.verdict(pair.jobs[0].Verdict, pair.jobs[1].Verdict) != pair.verdict {
				wrong++
			}
		}
		if wrong < least {
			best, least = q, wrong
		}
	}
	if l.quorum = best.text(list.String()); best == firstAlone {
		return nil
	}
	if p.incomplete, err = l.waitsForList(ctx, tried, best, *list, response, o); err != nil {
		return err
	}
	if len(p.incomplete) > 0 {
		if p.asked = l.askedList(); p.asked == "" {
			return refuse("%q does not end the loop where %q lists fewer jobs than it asks for, and fix cannot tell "+
				"which argument names them: compare with the number of items in %s",
				l.choice.Name, l.poll.Name, list)
		}
		l.quorum += "; an answer that lists fewer than " + l.poll.Name + " asks for polls on"
	}
	l.waiter, l.judges = p.waiter(best)
	return nil
}

// items is how many jobs the loop is tried with; 0 for one.
func (l *loop) items() int {
	if l.together {
		return 2 //nolint:mnd // as many as tell all from one
	}
	return 0
}

// waitsForList finds the verdicts of one job that do not end the old loop while the answer lists fewer jobs than it asks for.
func (l *loop) waitsForList(
	ctx context.Context, tried *observed, q quorum, list simulate.List, r *simulate.Response, o Options,
) (map[pollcore.Verdict]bool, error) {
	incomplete := map[pollcore.Verdict]bool{}
	for _, v := range []pollcore.Verdict{pollcore.Success, pollcore.Failure} {
		s := l.usualOf(v, tried, r)
		if s == nil || !tried.leads(s.Name) || l.items() == 0 || q.leastOf(v) == leastAny {
			continue
		}
		exit, err := l.exitOf(ctx, tried, list.First(s.Answer), o)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tried.exitsOf(v), exit) {
			incomplete[v] = true
		}
	}
	return incomplete, nil
}

// askedList is the argument by which the poll asks for several jobs, as the model spells it; empty if there is none, or several.
func (l *loop) askedList() string {
	if l.entry.Operation.Input == nil {
		return ""
	}
	given, name := givenNames(cmp.Or(l.poll.Arguments, l.poll.Parameters)), ""
	for _, m := range l.entry.Operation.Input.Members {
		isList := m.Shape.Type == catalog.List && m.Shape.Element.Shape.Type == catalog.String && len(m.Shape.Element.Shape.Enum) == 0
		if !isList || !slices.Contains(given, javasdk.MemberName(m.Name)) {
			continue
		}
		if name != "" {
			return ""
		}
		name = m.Name
	}
	return name
}

// givenNames are the names of the arguments of a Task, as far as they are written there.
func givenNames(arguments *asl.Template) []string {
	var names []string
	switch {
	case arguments == nil:
	case arguments.Expression != nil:
		if object := arguments.Expression.Part(); object.Kind == jsonata.PartObject {
			for i := 0; i < len(object.Parts); i += 2 {
				name, _ := object.Parts[i].Value.(string)
				names = append(names, name)
			}
		}
	default:
		for _, m := range arguments.Object {
			names = append(names, m.Name)
		}
		if literal, is := arguments.Literal.(map[string]any); is {
			names = slices.AppendSeq(names, maps.Keys(literal))
		}
	}
	return names
}

// listOfJobs is the list of jobs in the answer of which the entry looks at the first alone, and the answers that have it;
// nil if an answer is about one job.
func (l *loop) listOfJobs(o Options) (*simulate.List, *simulate.Response, error) {
	if !looksAtFirst(l.entry, `\w+(?:\.\w+)*`) {
		return nil, nil, nil
	}
	responses, _, err := simulate.Responses(l.machine, simulate.Options{
		Models: o.Models, Polls: map[string]*catalog.Entry{l.poll.Name: l.entry}, Running: map[string][]string{l.poll.Name: l.polledOn},
		Items: l.items(), Draw: l.draw,
	})
	if err != nil {
		return nil, nil, err
	}
	response := responses[l.poll.Name]
	if response == nil {
		return nil, nil, nil
	}
	for i, list := range response.Lists {
		if looksAtFirst(l.entry, regexp.QuoteMeta(list.String())) {
			return &response.Lists[i], response, nil
		}
	}
	name, err := l.listsInArguments(o)
	if err == nil && name != "" {
		err = refuse("%q asks for [$%s], where $%[2]s is a list, which JSONata passes as the list itself: write $%[2]s", l.poll.Name, name)
	}
	return nil, nil, err
}

// pairOfJobs is an answer about two jobs, and what the old loop made of it.
type pairOfJobs struct {
	jobs    [2]simulate.StatusResponse
	verdict pollcore.Verdict
}

// noVerdict is that on an answer that leads a loop to no end of a job that it knows.
const noVerdict pollcore.Verdict = "none"

// tryPairs tries the old loop with answers about two jobs at once: a running and a successful one, and one of each failure, as
// the loop may take one of them for a success by mistake. A failure with which it polls on has no say beside others.
func (l *loop) tryPairs(ctx context.Context, tried *observed, list simulate.List, r *simulate.Response, o Options) ([]pairOfJobs, error) {
	var jobs []simulate.StatusResponse
	for _, v := range []pollcore.Verdict{pollcore.Retry, pollcore.Success} {
		if s := l.usualOf(v, tried, r); s != nil && list.Has(s.Answer) {
			jobs = append(jobs, *s)
		}
	}
	var failures, leading []simulate.StatusResponse
	for _, s := range r.Statuses {
		if s.Verdict == pollcore.Failure && s.Failure == nil && r.Tells(list, s.Answer) {
			failures = append(failures, s)
			if tried.leads(s.Name) {
				leading = append(leading, s)
			}
		}
	}
	if leading != nil {
		failures = leading
	}
	jobs = append(jobs, failures...)
	var all []pairOfJobs
	for _, one := range jobs {
		for _, two := range jobs {
			pair := pairOfJobs{jobs: [2]simulate.StatusResponse{one, two}}
			exit, err := l.exitOf(ctx, tried, list.Join(one.Answer, one.Answer, two.Answer), o)
			if err != nil {
				return nil, err
			}
			switch {
			case exit == "":
				pair.verdict = pollcore.Retry
			case slices.Contains(tried.exitsOf(pollcore.Success), exit):
				pair.verdict = pollcore.Success
			case slices.Contains(tried.exitsOf(pollcore.Failure), exit):
				pair.verdict = pollcore.Failure
			default:
				pair.verdict = noVerdict
			}
			all = append(all, pair)
		}
	}
	return all, nil
}

// usualOf is the status of a verdict that stands for all: one that leaves the old loop, if the job has ended.
func (*loop) usualOf(v pollcore.Verdict, tried *observed, r *simulate.Response) *simulate.StatusResponse {
	var found *simulate.StatusResponse
	for i := range r.Statuses {
		s := &r.Statuses[i]
		leaves := tried.leads(s.Name)
		switch {
		case s.Verdict != v || s.Failure != nil:
		case v == pollcore.Retry && i == r.Running, v == pollcore.Success && i == r.End && leaves:
			return s
		case found == nil || v != pollcore.Retry && leaves && !tried.leads(found.Name):
			found = s
		}
	}
	return found
}

// leads tells whether a status of all jobs leads out of the loop.
func (o *observed) leads(status string) bool {
	return slices.ContainsFunc(o.seen, func(s seen) bool { return s.status == status && s.route() != "" })
}

// exitOf is where the old loop leads with an answer at its first poll; empty if it polls again.
func (l *loop) exitOf(ctx context.Context, tried *observed, answer any, o Options) (string, error) {
	polls := 0
	r, err := trial.Play(ctx, tried.machine, trial.Job{Input: tried.input, Seed: 1, MaxEvents: enoughEvents, Answer: func(options *sim.Options) error {
		cast, err := tried.prepare(l, o)
		if err != nil {
			return err
		}
		plan, err := cast.Plan(mock.Exactly(0), "")
		if err != nil {
			return err
		}
		if err := plan.Apply(tried.machine, options); err != nil {
			return err
		}
		options.KeepEvents = sim.KeepNoEvents
		for _, name := range tried.polls {
			options.StateHandlers[name] = func(context.Context, sim.Call) (sim.Reply, error) {
				polls++
				return sim.Reply{Output: answer}, nil
			}
		}
		return nil
	}}, trial.Options{Models: o.Models, Express: l.express})
	if err != nil || polls > 1 { // the loop was tried before: only the context ends it now
		return "", err
	}
	if exit := tried.exit(r); exit != "" {
		return exit, nil
	}
	return string(noVerdict), nil // it broke
}

// listsInArguments is the list $v where an argument of the poll is [$v]: JSONata passes the list itself. It is empty for none.
func (l *loop) listsInArguments(o Options) (string, error) {
	if l.poll.Arguments == nil {
		return "", nil
	}
	types, err := typecheck.New(l.machine, typecheck.Options{Models: o.Models})
	if err != nil {
		return "", err
	}
	variables := types.Input(l.poll)
	for _, m := range l.poll.Arguments.Object {
		if m.Value.Expression == nil {
			continue
		}
		part := m.Value.Expression.Part()
		if part.Kind != jsonata.PartArray || len(part.Parts) != 1 {
			continue
		}
		inner := part.Parts[0]
		if inner.Kind == jsonata.PartVariable && len(inner.Filters) == 0 && variables.Variable(inner.Text).IsArray() {
			return inner.Text, nil
		}
	}
	return "", nil
}

// looksAtFirst tells whether an entry reads the first item of a list of the answer, which a regular
// expression names.
func looksAtFirst(e *catalog.Entry, list string) bool {
	first := regexp.MustCompile(`(?i)^(?:.*\W)?` + list + `\[0\]`)
	return slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		return a.Matcher.Output != nil && first.MatchString(a.Matcher.Output.Path)
	})
}
