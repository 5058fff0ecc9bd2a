package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// judge returns the rule that a row breaks and what to say; empty for none.
func (r *reading) judge(row *Row) (rule string, severity diag.Severity, text string) {
	if row.FailsAt != "" && !row.Lacks { // the rule absent-member reports a member that is missing
		return r.judgeFailing(row)
	}
	row.Meanwhile = row.Meanwhile || r.isMeanwhile(row)
	if row.Meanwhile || row.OtherKind || row.Held && row.Ends == PollsOn {
		return "", 0, ""
	}
	names, to := list(row.Values), first(r.targetsOf(r.wrong(row), r.trunk()))
	of := r.sayMeaning(row, names)
	ends := row.Meaning == MeansFailure || row.Meaning == MeansSuccess || row.Meaning == MeansUnclear && (row.By == ByName || row.By == ByModel)
	switch {
	case ends && row.Ends == PollsOn && (r.Retries || !r.worksOn(r.routes[row.Values[0]])):
		return r.judgePollingOn(row, of, to)
	case row.Meaning == MeansSuccess && row.Ends == EndsFailure:
		severity := diag.Danger
		if to != "" && isWithWarnings(row.Values) {
			severity = diag.Warning
		}
		return StatusMisread, severity, r.sayWrongEnd(of, row.Meaning, row.Ends, to)
	case row.Meaning == MeansFailure && r.tellsOutside(row): // what follows the Map or Parallel judges it
	case row.Partial && (row.Ends == EndsSuccess || row.Ends == GoesOn) && r.joinsSuccess(row):
		if r.leavesUnnamed(row) {
			return StatusMisread, diag.Warning, of + fmt.Sprintf("no rule names it, and the Choice leads to %q, as for a success; "+
				"name the status in a rule: only you know whether a part is enough", to)
		}
	case row.Meaning == MeansFailure && row.Ends == EndsSuccess && r.hides(row):
		return r.judgeHidden(row, of, to)
	case row.Ends == NextJob && row.Meaning == MeansFailure:
		if r.joinsSuccess(row) && r.leavesUnnamed(row) {
			return StatusMisread, diag.Warning, fmt.Sprintf("no rule names %s of %s, and the Choice leads to %q and to the next job, as after a success; "+
				"name the failure in a rule: only you know whether the other jobs need this one", names, r.asked(), to)
		}
	case row.Meaning == MeansFailure && row.Ends != EndsFailure && r.joinsSuccess(row) && r.outside.ignored:
		return StatusMisread, diag.Warning, of + fmt.Sprintf("the Choice leads to %q, as for a success, and behind the Parallel nothing looks at the output "+
			"of this branch; look at it there, too, or lead to a Fail state", to)
	case row.Meaning == MeansFailure && row.Restarts && r.joinsSuccess(row):
		return StatusMisread, diag.Warning, of + r.sayUsedUp(r.wrong(row))
	case row.Meaning == MeansFailure && row.Ends != EndsFailure && r.joinsSuccess(row):
		return StatusMisread, diag.Warning, of + fmt.Sprintf("the Choice leads to %q, as for a success; lead to a Fail state, or look at the status there", to)
	case r.sayStartsAgain(row, to) != "":
		return RepeatedStart, diag.Warning, r.sayStartsAgain(row, to)
	case row.isGoing():
		return r.judgeGoing(row, names, to)
	}
	return "", 0, ""
}

// judgePollingOn returns what judge does of a row that ends the job, and the loop polls on.
func (r *reading) judgePollingOn(row *Row, of, to string) (rule string, severity diag.Severity, text string) {
	text = r.sayWrongEnd(of, row.Meaning, row.Ends, to)
	if row.Lacks {
		why := map[bool]string{false: ", as the answer lacks a member", true: " when it is called again"}[row.lost]
		text += fmt.Sprintf("; before that, %q fails%s", row.FailsAt, why)
	}
	if !slices.ContainsFunc(row.Values, func(value string) bool { return !IsNotBegun(value) }) {
		return StatusPollsOn, diag.Warning, text + ", unless the job may have this status before it begins"
	}
	return StatusPollsOn, diag.Danger, text
}

// leavesUnnamed tells whether no rule of a Choice names some value of a row, and nothing that a state in front of it
// maps statuses by.
func (r *reading) leavesUnnamed(row *Row) bool {
	named := r.namesMapped()
	return slices.ContainsFunc(row.Values, func(value string) bool { return !r.named[value] && !named[value] })
}

// sayMeaning says what the values of a row mean, in front of where they lead.
func (r *reading) sayMeaning(row *Row, names string) string {
	switch {
	case row.Partial:
		return fmt.Sprintf("%s of %s says that the job has ended with a part of its work done, but ", names, r.asked())
	case row.Kind != "":
		return fmt.Sprintf("%s %s of %s with %s, but ", names, row.is(), r.asked(), row.Kind)
	case row.By == ByName:
		return fmt.Sprintf("%s of %s %s, but ", names, r.asked(), row.isByName())
	case row.By == ByModel:
		return fmt.Sprintf("%s of %s %s (derived from the service's model, not reviewed), but ", names, r.asked(), row.looks())
	default:
		return fmt.Sprintf("%s %s of %s, but ", names, row.is(), r.asked())
	}
}

// is says how the values of a row end the job.
func (row *Row) is() string {
	if len(row.Values) > 1 {
		return "are " + map[Meaning]string{MeansFailure: "failures", MeansSuccess: "successes"}[row.Meaning]
	}
	return "is a " + string(row.Meaning)
}

// isByName says how the values of a row end the job by their names alone. One that polls on is an end, whatever else it is.
func (row *Row) isByName() string {
	switch several := len(row.Values) > 1; {
	case several && row.Ends == PollsOn:
		return "are ends by their names"
	case several:
		return row.is() + " by their names"
	case row.Ends == PollsOn:
		return "is an end by its name"
	default:
		return row.is() + " by its name"
	}
}

// looks says how the values of a row end the job that a derived entry is about.
func (row *Row) looks() string {
	several := len(row.Values) > 1
	switch {
	case row.Meaning == MeansUnclear && several:
		return "look like ends"
	case row.Meaning == MeansUnclear:
		return "looks like an end"
	case several:
		return strings.Replace(row.is(), "are", "look like", 1)
	default:
		return strings.Replace(row.is(), "is", "looks like", 1)
	}
}

// isMeanwhile tells whether only somebody else's call leads to the values of a row, no rule spells them out, and
// the machine does not take them for what they are.
func (r *reading) isMeanwhile(row *Row) bool {
	return !slices.ContainsFunc(row.Values, func(value string) bool { return r.spelled[value] || !r.comesMeanwhile(value) }) &&
		(row.isGoing() || row.Meaning == MeansFailure && row.Ends != EndsFailure)
}

// judgeHidden is judge for failures after which the execution succeeds.
func (r *reading) judgeHidden(row *Row, of, to string) (rule string, severity diag.Severity, text string) {
	with := ""
	switch r.tellsCaller(row) {
	case toldNothing:
		return StatusMisread, diag.Danger, r.sayWrongEnd(of, row.Meaning, row.Ends, to)
	case toldMaybe:
		with = "with an output that may tell it"
	case toldSurely:
		with = "with another output than after a success"
	}
	return StatusMisread, diag.Warning, of + fmt.Sprintf("the Choice leads to %q, and the execution succeeds, %s; "+
		"lead to a Fail state, unless its caller looks at the output", to, with)
}

// judgeGoing is judge for statuses of a job that has not ended.
func (r *reading) judgeGoing(row *Row, names, to string) (rule string, severity diag.Severity, text string) {
	unhandled := row.Meaning == MeansRunning && row.Ends != PollsOn && row.Ends != EndsUnknown && r.states(row)
	switch {
	case (row.Meaning == MeansEnding || row.Held) && (row.Ends == EndsSuccess || row.Ends == GoesOn) && r.states(row) && !r.takes(row) && r.joinsSuccess(row):
		advice := "name the status and poll on"
		if row.Held {
			advice = "name the status in a rule"
		}
		return StatusUnhandled, diag.Warning, fmt.Sprintf("no rule names %s, in which the job has not ended yet: "+
			"the Choice leads to %q, as for a success; %s", names, to, advice)
	case row.Held, row.Meaning == MeansRunning && row.Ends == NextJob && r.goesRound():
		return "", 0, ""
	case row.Meaning == MeansRunning && row.Ends == EndsFailure && r.failsByRule(row):
		return StatusMisread, diag.Danger, fmt.Sprintf("a rule leads %s of %s, in which the job still runs, to %q, "+
			"and the execution fails; poll on", names, r.asked(), to)
	case unhandled && len(row.Routes) == 0:
		return StatusUnhandled, diag.Warning, fmt.Sprintf("no rule takes %s, in which the job still runs: "+
			"the execution fails with States.NoChoiceMatched; name the status and poll on", names)
	case unhandled:
		return StatusUnhandled, diag.Warning, fmt.Sprintf("no rule names %s, in which the job still runs: "+
			"the Choice leads to %q; name the status and poll on", names, to)
	}
	return "", 0, ""
}

// goesRound tells whether the loop asks for the jobs in turn, whether or not they have ended.
func (r *reading) goesRound() bool {
	return !slices.ContainsFunc(r.status.values, func(value string) bool {
		return r.status.meaning(r.judges, value) == MeansRunning && mayPollOn(r.routes[value])
	})
}

// sayWrongEnd says, behind what values mean, where they lead that end the job in another way.
func (r *reading) sayWrongEnd(of string, means Meaning, end End, to string) string {
	switch {
	case end == PollsOn && r.Retries:
		return of + "the Task raises an error for it, and its Retry polls again; give a result, and look at it in a Choice"
	case end == PollsOn:
		return of + fmt.Sprintf("the loop goes on to %q and polls again; lead to a state outside of the loop", to)
	case means == MeansFailure:
		return of + fmt.Sprintf("the Choice leads to %q, and the execution succeeds; lead to a Fail state", to)
	case to == "":
		return of + "no rule takes it, and the execution fails with States.NoChoiceMatched; add a rule"
	default:
		return of + fmt.Sprintf("the Choice leads to %q, and the execution fails; lead to what follows the job", to)
	}
}

// judgeUnclear finds a status that goes on as a success though another member of the
// answer, which the machine never looks at, may say that it is a failure.
func (c *checker) judgeUnclear(r *reading, row *Row) (rule string, severity diag.Severity, text string) {
	if row.Meaning != MeansUnclear || row.Ends != EndsSuccess && row.Ends != GoesOn || len(row.Routes) != 1 {
		return "", 0, ""
	}
	if c.looksAt(beyond(r.status.path, row.Member)) {
		return "", 0, ""
	}
	return StatusUnclear, diag.Danger, fmt.Sprintf("%s of %s does not say whether the job succeeded: the Choice leads to %q either way; look at %s, too",
		list(row.Values), r.asked(), first(row.Routes), javasdk.MemberPath(row.Member))
}

// beyond is the first member of a path that another does not go through, or what leads to it: LastCrawl of
// Crawler.LastCrawl.Status beyond Crawler.State. It is as Step Functions spells it.
func beyond(path, second string) string {
	before, steps := strings.Split(items().ReplaceAllString(path, ""), "."), strings.Split(items().ReplaceAllString(second, ""), ".")
	i := 0
	for i < len(steps)-1 && i < len(before) && steps[i] == before[i] {
		i++
	}
	return javasdk.MemberName(steps[i])
}

// looksAt tells whether the definition reads a member, and for more than a variable that nothing reads.
func (c *checker) looksAt(name string) bool {
	if !c.mentions(name) {
		return false
	}
	unread := 0
	for s := range c.machine.All {
		if s.Assign == nil {
			continue
		}
		for _, m := range s.Assign.Object {
			if !c.mentions("$" + m.Name) {
				unread += strings.Count(strings.Join(appendTexts(nil, m.Value), " "), name)
			}
		}
	}
	return strings.Count(c.text, name) > unread
}

// failsByRule tells whether a rule of a Choice, and not its Default, leads the values of
// a row that the catalogue states to where they go.
func (r *reading) failsByRule(row *Row) bool {
	for _, value := range row.Values {
		for _, route := range r.routes[value] {
			if len(route.chosen) == 0 {
				return false
			}
			last := route.chosen[len(route.chosen)-1]
			if last.taken == nil || last.taken.Kind != asl.TransitionRule {
				return false
			}
		}
		if !r.isStated(value) {
			return false
		}
	}
	return true
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// worksOn tells whether ways back to the poll go through Tasks that a job that
// runs does not go through: they may start it anew.
func (r *reading) worksOn(ways []route) bool {
	usual := map[string]bool{}
	for value, routes := range r.routes {
		if r.status.meaning(r.judges, value) == MeansRunning {
			for _, route := range routes {
				for _, task := range route.tasks {
					usual[task] = true
				}
			}
		}
	}
	return slices.ContainsFunc(ways, func(way route) bool {
		return slices.ContainsFunc(way.tasks, func(task string) bool { return !usual[task] })
	})
}

// joinsSuccess tells whether a row leaves the loop for a state for which a success
// does, too.
func (r *reading) joinsSuccess(row *Row) bool {
	return slices.ContainsFunc(r.routes[row.Values[0]], r.isOfSuccess)
}

// wrong is the route of a row that its finding is about: the first that leaves the loop as a
// success does, if there is one.
func (r *reading) wrong(row *Row) []route {
	value := row.Values[0]
	routes := r.takenBy(value)
	if r.lacking[value] {
		routes = r.routes[value]
	}
	i := 0
	if row.Meaning == MeansFailure {
		i = max(0, slices.IndexFunc(routes, r.isOfSuccess))
	}
	return routes[i : i+1]
}

// isOfSuccess tells whether a route leaves the loop for a state for which a success does, too, and which
// may end well.
func (r *reading) isOfSuccess(way route) bool {
	if way.ends == EndsFailure {
		return false
	}
	for value, routes := range r.routes {
		if means := r.status.meaning(r.judges, value); means != MeansSuccess && (means != MeansUnclear || r.ByName) || r.meant[value] {
			continue
		}
		for _, success := range routes {
			if success.leaf != nil && success.leaf == way.leaf && (success.ends != StartsAgain || !endsWell(routes)) {
				return true
			}
		}
	}
	return false
}

// endsWell tells whether one of the routes of a success leads on without a bound. Those beside it that
// start the job again are then of answers that another member says are no success.
func endsWell(routes []route) bool {
	return slices.ContainsFunc(routes, func(way route) bool { return !way.late && (way.ends == EndsSuccess || way.ends == GoesOn) })
}

// hides tells whether a failure ends the execution as a success, with nobody told: in a Succeed state, or the way a
// success goes, where nothing can look at it.
func (r *reading) hides(row *Row) bool {
	for _, way := range r.routes[row.Values[0]] {
		if way.leaf == nil || !r.succeedsBlind(way) {
			return false
		}
	}
	return r.joinsSuccess(row)
}

// states tells whether the catalogue states that a row's values are no end, and no
// rule names one.
func (r *reading) states(row *Row) bool {
	for _, value := range row.Values {
		if r.named[value] || !r.isStated(value) {
			return false
		}
	}
	return true
}

// comesLater tells whether only a later call than that of the loop's job leads to a value.
func (r *reading) comesLater(value string) bool { return r.passes(value, catalog.PassingLater) }

// comesMeanwhile tells whether only somebody else's call leads to a value.
func (r *reading) comesMeanwhile(value string) bool { return r.passes(value, catalog.PassingMeanwhile) }

// passes tells whether a judge says of a value how it passes.
func (r *reading) passes(value string, how catalog.Passing) bool {
	return slices.ContainsFunc(r.judges, func(j *judge) bool {
		if j.entry == nil {
			return false
		}
		passing, _ := j.entry.Passing(value)
		return passing == how
	})
}

// takes tells whether a waiter of the operation takes the values for a success, as AWS's own
// takes a stack that is being updated for one that was created.
func (r *reading) takes(row *Row) bool {
	return r.isTaken(row.Values[0])
}

func (r *reading) isTaken(value string) bool {
	return slices.ContainsFunc(r.judges, func(j *judge) bool { return j.taken[value] })
}

// findDecision returns the state and the field of it that send a value where it goes.
func (r *reading) findDecision(value string) (s *asl.State, field string) {
	if r.lacking[value] {
		return r.decisionOf(r.routes[value])
	}
	return r.decisionOf(r.takenBy(value))
}

// checkNeed notes a loop that need not poll: the flow starts the job, does nothing but
// poll it, and does not stop it at a deadline of its own. An Express workflow can
// neither use .sync nor wait for a token.
func (c *checker) checkNeed(r *reading) {
	if r.Express || r.Start == nil || r.Entry == nil || r.Entry.Job == nil || r.Flow.State(r.Start.Name) != r.Start {
		return
	}
	text := r.sayWhoTells(r.Entry.Job)
	if text == "" {
		return
	}
	if stop := r.Entry.Job.Stop; stop != nil && c.tasks()[strings.ToLower(r.Entry.Service.Key+":"+stop.Operation)] != nil {
		return
	}
	for _, s := range r.inner.states {
		if s != r.Poll && (s.Task != nil || len(s.Flows()) > 0) {
			return
		}
	}
	c.reportAs(diag.Note, PollNeedless, r.Start, "/Resource", "%s", text)
}

// sayWhoTells says what tells that the job has ended, and why one may poll it all the
// same; empty if nothing tells.
func (r *reading) sayWhoTells(job *catalog.Job) string {
	service, event := r.Entry.Service.Key, job.Event
	switch delay := time.Duration(job.SyncDelay) * time.Second; {
	case job.Sync != "" && r.Turn.Wait > 0 && r.Turn.Wait < delay:
		return fmt.Sprintf("%s has .sync: a Task on \"arn:aws:states:::%s\" starts the job and waits for it, and needs no loop; "+
			"it looks at the job once in %s, this loop every %s: poll on where that matters", service, job.Sync, span(delay), pause(r.Turn.Wait))
	case job.Sync != "":
		return fmt.Sprintf("%s has .sync: a Task on \"arn:aws:states:::%s\" starts the job and waits for it, and needs no loop", service, job.Sync)
	case event == nil:
		return ""
	}
	text := fmt.Sprintf("%s sends the event %s when the job ends%s: wait for it with a task token", service, quoteAny(event.DetailTypes), r.onlyWith())
	if event.Delivery == catalog.BestEffort {
		text += ", and poll seldom in case it is lost (best effort)"
	}
	if event.Note != "" {
		text += ". " + strings.TrimSuffix(event.Note, ".")
	}
	return text
}

// checkDefault warns of a Default that polls on for values of which nobody knows that
// the job runs, in a loop that nothing else ends.
func (c *checker) checkDefault(r *reading) {
	if r.status == nil || r.Bound.Kind != Unbounded || r.Express || endOf(r.routes[otherValue]) != PollsOn {
		return
	}
	var unnamed []string
	for _, value := range r.status.values {
		unknown := r.status.meaning(r.judges, value) == MeansUnknown && !isOnItsWay(value) && !r.comesLater(value)
		if !r.named[value] && unknown && endOf(r.routes[value]) == PollsOn {
			unnamed = append(unnamed, value)
		}
	}
	if len(unnamed) == 0 {
		return
	}
	example := unnamed[max(0, slices.IndexFunc(unnamed, endName().MatchString))]
	s, field := r.findDecision(otherValue)
	c.report(LoopingDefault, s, field, "every status that no rule names polls on, such as %s: "+
		"a failure that is not listed is polled until something else ends the loop; "+
		"name the statuses that keep polling, and let \"Default\" lead to a Fail state", example)
}
