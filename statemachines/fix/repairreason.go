package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// isRepairable tells whether a finding should be mended: a NOTE says what may be as it is.
func isRepairable(f lint.Finding) bool { return f.Severity != diag.Note }

// reason says why a finding is not repaired, and what to do instead. smallest is the
// error of the smallest edit; nil if there is none.
func (r *repairer) reason(ctx context.Context, c *checked, f lint.Finding, smallest error) string {
	if f.Rule == lint.UnboundedLoop {
		return r.reasonUnbounded(ctx, c, f, smallest)
	}
	aboutStatus := strings.HasPrefix(f.Rule, "status-")
	if found, ok := errors.AsType[*foundError](smallest); ok && aboutStatus && found.rule == typecheck.NeverHolds {
		return fmt.Sprintf("%q compares words of its own, and not the status: let the state that computes them make one of %s, too",
			c.stateAt(f).Name, strings.Join(f.Subjects, ", "))
	}
	if smallest != nil && (!aboutStatus || !errors.Is(smallest, errStillFound) && !isRejected(smallest)) {
		return smallest.Error()
	}
	if aboutStatus {
		return r.reasonStatus(ctx, c, f, smallest)
	}
	switch f.Rule {
	case lint.UnretriedTask:
		if s := c.stateAt(f); c.writes(s, r.options) {
			return s.Name + " writes, and a retried write may be made twice: add a Retry by hand if that does no harm"
		} else if caught := c.caughtFaults(s, r.options); len(caught) > 0 {
			return fmt.Sprintf("you catch these errors (%s): a Retry would take them before your Catch; add one by hand if they may wait",
				strings.Join(caught, ", "))
		}
		if advice := f.Advice(); strings.HasPrefix(advice, "no error is safe to retry: ") {
			return advice
		}
		if names := c.passingErrors(c.stateAt(f)); names != nil {
			return fmt.Sprintf("only you know which errors of this Task pass by themselves: if it may be called again, add a Retry of %s",
				strings.Join(names, ", "))
		}
		return "fix knows no errors of this Task that may be retried: name those that pass by themselves in a Retry"
	case lint.HotLoop:
		return "only you know how long to pause: put a Wait in front of the Task that polls"
	case lint.HiddenFailure:
		return reasonHidden(f)
	case lint.RepeatedStart:
		if advice := f.Advice(); advice != "" {
			return "only you know whether the job may run twice: " + advice
		}
		return "only you know whether the job may run twice: lead to a state that does not start it if it may not"
	case lint.CallbackTimeout:
		return "only you know how long the answer may take: add TimeoutSeconds to the Task"
	case lint.ShortInterval:
		return fmt.Sprintf("only you know what sets the time of %q: let it be %s or more", c.stateAt(f).Name, spell(lint.ShortestInterval))
	case lint.EventBudget:
		return "only you know how late the end may be seen: wait longer between polls, or bound the loop earlier"
	case typecheck.AbsentMember:
		return c.reasonAbsent(f)
	case typecheck.UnknownMember:
		if parse := c.reasonText(f); parse != "" {
			return parse
		}
		if advice := f.Advice(); advice != "" {
			return "only you know which data the state needs: " + advice
		}
	case typecheck.UnreachableRule:
		return "only you know which of the rules is right: take its values out of the rule in front of it, or swap the two"
	case lint.IdleRetrier:
		if s := c.stateAt(f); s.Task != nil && c.writes(s, r.options) {
			return s.Name + " writes, and a retried write may be made twice: keep only \"ErrorEquals\" and \"MaxAttempts\", or raise that by hand if it does no harm"
		}
		return onlyYouKnow[f.Rule] + ": " + f.Advice()
	case lint.EarlyBound, lint.FailingBranch, lint.LoopingDefault, lint.LargeAnswer:
		if advice := f.Advice(); advice != "" {
			return onlyYouKnow[f.Rule] + ": " + advice
		}
	}
	return cmp.Or(onlyYouKnow[f.Rule], "only you know what is meant") + ": " + f.Message
}

// onlyYouKnow says by the rule of a finding why fix does not choose an edit.
var onlyYouKnow = map[string]string{
	lint.EarlyBound:            "only you know how long a job may run",
	lint.FailingBranch:         "only you know how long a job may run",
	lint.LoopingDefault:        "only you know which statuses you wait on for",
	lint.IdleRetrier:           "only you know whether the error may be retried",
	lint.LargeAnswer:           "only you know how many items you read",
	typecheck.EnumValue:        "only you know which value is meant",
	typecheck.NeverHolds:       "only you know which comparison is meant",
	typecheck.UnknownOperation: "only you know which operation is meant",
	typecheck.UnknownArgument:  "only you know which argument is meant",
	typecheck.UnknownMember:    "only you know which member is meant",
	typecheck.MissingArgument:  "only you know the value of the argument",
	typecheck.ArgumentType:     "only you know which value is meant",
	typecheck.UnsetVariable:    "only you know which value the variable has on that way",
}

// reasonStatus says why a finding about a status is not repaired. smallest is why the smallest edit is not made; nil
// if there is none.
func (r *repairer) reasonStatus(ctx context.Context, c *checked, f lint.Finding, smallest error) string {
	if other := c.otherFinding(f); other != "" {
		return "repair " + other + " first: that may mend this, too"
	}
	l := c.loopFor(f)
	var row *lint.Row
	if l != nil {
		row = rowOf(l, f)
	}
	switch {
	case row == nil && (l == nil || l.Poll == nil):
		return fmt.Sprintf("the catalogue has no entry for the operation, so fix cannot try a rule: "+
			"if the status ends your job, lead it out of the loop in %q", c.stateAt(f).Name)
	case row == nil:
	case l.Together && c.failureBehind(f, row) != "":
		return fmt.Sprintf("fix does not change the order of rules: if the rule of %q that leads to %q is for jobs with %s, put it in front of the others",
			c.stateAt(f).Name, c.failureBehind(f, row), strings.Join(row.Values, ", "))
	case l.Together:
		return fmt.Sprintf("the loop looks at several jobs at once, and a rule that fix adds would lead all of them by the status of one: %s",
			byHand(row, f, c.stateAt(f).Name))
	case row.Meaning == lint.MeansUnclear && row.By == lint.ByName:
		return fmt.Sprintf("only you know what %s says of the job: pass --status %[1]s=failure, or =success or =running, or lead it out of the loop in %[2]q",
			row.Values[0], c.stateAt(f).Name)
	case f.Rule == lint.StatusUnclear:
		return fmt.Sprintf("fix does not know which values of %s mean that the job has failed: put a rule that looks at it in front of the rule for %s%s",
			row.Member, row.Values[0], r.orReplace(ctx, c, l))
	case row.Raises:
		return fmt.Sprintf("an expression of %q raises an error with the status %s: correct the expression", row.FailsAt, strings.Join(row.Values, ", "))
	case row.FailsAt != "" && !row.Lacks:
		return fmt.Sprintf("%q needs a value that an answer with the status %s does not have, and only you know which one to take then",
			row.FailsAt, strings.Join(row.Values, ", "))
	}
	if s := c.stateAt(f); row != nil && len(row.Values) > 0 {
		if next := c.ruleBehind(l, s, row); next != "" {
			return fmt.Sprintf("the rule of %q that leads to %q names %s, but another rule takes it first: only you know what that is for. "+
				"Put the rule that names %[3]s in front of it, or let it take less", s.Name, next, row.Values[0])
		}
	}
	why := "no rule of the loop shows fix how to compare the status"
	switch {
	case row != nil && row.Meaning == lint.MeansUnclear && row.Member != "":
		return fmt.Sprintf("%s alone does not say how the job ended: add a rule to %q that looks at %s, too, where the loop polls on%s",
			row.Values[0], c.stateAt(f).Name, javasdk.MemberPath(row.Member), r.orReplace(ctx, c, l))
	case smallest != nil:
		why = "no edit that fix knows mends it"
	case row != nil && row.Meaning != lint.MeansFailure && row.Meaning != lint.MeansSuccess && !isGoing(row.Meaning):
		why = fmt.Sprintf("only you know what %s says of the job", strings.Join(row.Values, ", "))
	}
	return why + ": " + ruleByHand(row, c.stateAt(f).Name) + r.orReplace(ctx, c, l)
}

// ruleByHand says which rule to add for the values of a row, which may be nil.
func ruleByHand(row *lint.Row, state string) string {
	if row == nil || len(row.Values) == 0 {
		return fmt.Sprintf("add a rule to %q that leads out of the loop", state)
	}
	return fmt.Sprintf("add a rule to %q that leads %s %s", state, strings.Join(row.Values, ", "), leadsAs(row))
}

// reasonText says how to read a member of what Step Functions gives as a text of JSON; empty if a finding is about
// something else.
func (c *checked) reasonText(f lint.Finding) string {
	if !strings.Contains(f.Message, " is a string, which has no member ") {
		return ""
	}
	const parse = "a text has no members: parse it first, by States.StringToJson in JSONPath or $parse in JSONata"
	for s := range c.machine.All {
		if s.Task != nil && strings.HasSuffix(s.Task.Resource, ":states:startExecution.sync") {
			return fmt.Sprintf("%s. If it is the Output of %q, end its Resource in .sync:2, which gives an object", parse, s.Name)
		}
	}
	return parse
}

// byHand says what to do in a Choice for a status of one of several jobs.
func byHand(row *lint.Row, f lint.Finding, state string) string {
	names := strings.Join(row.Values, ", ")
	switch {
	case f.Rule == lint.StatusUnclear:
		return fmt.Sprintf("let %q look at %s of each job with %s", state, javasdk.MemberPath(row.Member), names)
	case isGoing(row.Meaning):
		return fmt.Sprintf("let %q poll on while a job has %s", state, names)
	case row.Meaning == lint.MeansSuccess:
		return fmt.Sprintf("let %q count jobs with %s as succeeded", state, names)
	default:
		return fmt.Sprintf("let %q lead to a state that fails if a job has %s, by a rule in front of those that succeed or poll on", state, names)
	}
}

// failureBehind is where a rule leads, behind the rule of a finding, to which a failure of some jobs goes as it should;
// empty if there is none.
func (c *checked) failureBehind(f lint.Finding, row *lint.Row) string {
	s := c.stateAt(f)
	if s.Choice == nil || row.Meaning != lint.MeansFailure {
		return ""
	}
	behind := false
	for i := range s.Choice.Rules {
		rule := &s.Choice.Rules[i]
		if behind && slices.Contains(row.Forks, lint.Fork{Route: rule.Next, Ends: lint.EndsFailure}) {
			return rule.Next
		}
		behind = behind || strings.HasPrefix(f.Pointer, fmt.Sprintf("%s/Choices/%d/", s.Position.Pointer, i))
	}
	return ""
}

// leadsAs says where a rule leads that fix could copy for the statuses of a row.
func leadsAs(row *lint.Row) string {
	switch {
	case row != nil && isGoing(row.Meaning):
		return "back to the poll"
	case row != nil && row.Meaning == lint.MeansSuccess:
		return "to where a success goes"
	case row != nil && row.Meaning == lint.MeansFailure:
		return "to where a failure goes"
	default:
		return "out of the loop"
	}
}

// ruleBehind is where a rule leads that takes a status, which another rule or Choice takes first; empty if there is
// none. A rule for a state that leads on to the routes of the status may be the one that takes it.
func (c *checked) ruleBehind(l *lint.Loop, s *asl.State, row *lint.Row) string {
	if s == nil || s.Choice == nil || l == nil {
		return ""
	}
	rules := nodeAt(c.root, s.Position.Pointer).Get("Choices").Items
	for i := range s.Choice.Rules {
		next := s.Choice.Rules[i].Next
		to := l.Flow.State(next)
		if to == nil || !takesText(rules[i], row.Values[0]) || slices.ContainsFunc(row.Routes, func(route string) bool {
			at := l.Flow.State(route)
			return at == nil || at == to || l.Flow.Leads(to, at)
		}) {
			continue
		}
		return next
	}
	return ""
}

// takesText tells whether a rule takes whatever has a text: it compares one operand with that, or with a list that has it.
func takesText(rule *jsontree.Node, text string) bool {
	if rule.Get("Condition") != nil {
		return slices.Contains(wordsIn(rule), text)
	}
	return comparesWith(rule, text) != nil
}

// lacksEvents tells of an edit whether the history has no room for the bound that it makes.
func lacksEvents(err error) bool {
	found, ok := errors.AsType[*foundError](err)
	return errors.Is(err, errStillFound) || ok && found.rule == lint.EventBudget
}

// notShown says why no trial run shows that an edit mends a finding.
func (c *checked) notShown(report *trial.Report, f lint.Finding) error {
	if at := c.stateAt(f); slices.Contains(report.NotMet, at.Name) {
		return fmt.Errorf("the trial runs of an edit in %q do not get there, so nothing shows what it changes: make it by hand", at.Name)
	}
	if end := c.endOfLoop(report, f); end != "" {
		return errors.New(end)
	}
	answered := slices.DeleteFunc(slices.Clone(report.Runs), func(r trial.Run) bool { return failingTask(&r) != "" })
	first := ""
	for _, other := range c.findings {
		if s := c.stateAt(other); s != nil && other.Rule != f.Rule && (other.Severity <= diag.Danger || other.Suggestion != "") {
			first = "mend " + other.Rule + "@" + s.Name + " first"
			break
		}
	}
	if len(answered) > 0 && !slices.ContainsFunc(answered, func(r trial.Run) bool {
		return !r.Before.IsBroken() || describeEnd(r.Before) != describeEnd(answered[0].Before)
	}) {
		return fmt.Errorf("with each answer the machine %s before the edit can show: %s", describeEnd(answered[0].Before), cmp.Or(first, "mend that first"))
	}
	const unseen = "no trial run of fix ends otherwise with the smallest edit, so nothing shows that it is right: " +
		"make it by hand, and test it by jobpoller run --mocks"
	if first != "" {
		return errors.New("no trial run of fix ends otherwise with the smallest edit: " + first)
	}
	return errors.New(unseen)
}

// endOfLoop says how a loop that lint finds unbounded ends in the trial runs of a job that does not
// end; empty if it does not.
func (c *checked) endOfLoop(report *trial.Report, f lint.Finding) string {
	l := c.loopOf(c.stateAt(f))
	if f.Rule != lint.UnboundedLoop || l == nil || l.Poll == nil || slices.ContainsFunc(c.loops, func(other lint.Loop) bool {
		return other.Poll != l.Poll && slices.Contains(l.States, other.Poll) // which sees another status in a run
	}) {
		return ""
	}
	for i := range report.Runs {
		r := &report.Runs[i]
		stays := slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool {
			return k.Task == l.Poll.Name && k.Sort == trial.Never && pollsOnFor(l, k.Value)
		})
		if stays && !breaks(r.Before) {
			return fmt.Sprintf("something else ends the loop: with %s, the machine %s after %s", r.Script, describeEnd(r.Before), spell(r.Before.Lasts))
		}
	}
	return ""
}

// pollsOnFor tells whether a loop polls on for a status by its table.
func pollsOnFor(l *lint.Loop, status string) bool {
	return slices.ContainsFunc(l.Rows, func(row lint.Row) bool { return row.Ends == lint.PollsOn && slices.Contains(row.Values, status) })
}

// orReplace advises to replace a loop; empty if that is refused, or if enough loops were tried.
func (r *repairer) orReplace(ctx context.Context, c *checked, l *lint.Loop) string {
	if l == nil || l.Poll == nil {
		return ""
	}
	can, known := r.replaceable[l.Poll.Name]
	if !known && len(r.replaceable) < mostTried {
		var err error
		o := Options{Only: []string{l.Poll.Name}, MaxWait: r.options.MaxWait, Express: r.options.Express, Models: r.options.Models, Said: r.options.Said}
		can, err = CanReplace(ctx, c.file, r.read, o)
		if r.replaceable == nil {
			r.replaceable = map[string]bool{}
		}
		r.replaceable[l.Poll.Name] = can && err == nil
	}
	if !can {
		return ""
	}
	return ", or pass --replace"
}

// otherFinding is a finding that may be the cause of one about a status: a word of the loop that is
// wrong, or a rule of the same state that an earlier one hides.
func (c *checked) otherFinding(f lint.Finding) string {
	s := c.stateAt(f)
	l := c.loopOf(s)
	for _, other := range c.findings {
		at := c.stateAt(other)
		isCorrected := other.Suggestion != "" && (at == s || l != nil && slices.Contains(l.States, at))
		if isCorrected || at == s && other.Rule == typecheck.UnreachableRule {
			return other.Rule + "@" + at.Name
		}
	}
	return ""
}

// onlyTask is the Task of a loop that has no other; empty if there are several, or none.
func onlyTask(l *lint.Loop) string {
	only := ""
	if l == nil {
		return only
	}
	for _, s := range l.States {
		if s.Task != nil && only != "" {
			return ""
		}
		if s.Task != nil {
			only = s.Name
		}
	}
	return only
}

// startsAgainAt is where an error of the poll leads that starts the job again; empty if none does.
func startsAgainAt(l *lint.Loop) string {
	for _, row := range l.Errors {
		if row.Ends == lint.StartsAgain && len(row.Routes) > 0 {
			return row.Routes[0]
		}
	}
	return ""
}

// adder is the name of a state of the loop that adds a number, as a count does; empty if there is none.
func (c *checked) adder(l *lint.Loop) string {
	if l == nil {
		return ""
	}
	i := slices.IndexFunc(l.States, func(s *asl.State) bool {
		return slices.ContainsFunc([]string{"Assign", "Output", "Parameters"}, func(field string) bool {
			n := nodeAt(c.root, s.Position.Pointer).Get(field)
			return n != nil && addedNumber().Match(n.Raw())
		})
	})
	if i < 0 {
		return ""
	}
	return l.States[i].Name
}

// boundByHand says how to count the turns of a loop by hand. A rule behind the others is asked only where none of
// them leads back.
func (c *checked) boundByHand(l *lint.Loop) string {
	if adds := c.adder(l); adds != "" {
		if s := l.Flow.State(adds); s.Choice != nil && s.Assign != nil {
			return fmt.Sprintf("%q counts by its own Assign, which works with its Default alone: count in the Assign of each rule that polls on, too, "+
				"or in a state of each turn, and leave the loop by a rule that compares the count", adds)
		}
		return fmt.Sprintf("%q adds to a number in the loop: let no other state of the loop set that anew, and leave the loop by a Choice that compares it", adds)
	}
	if l == nil || len(l.Waits) != 1 {
		return "count the turns by Assign, and put a Choice into each turn that leaves the loop by the count"
	}
	count := fmt.Sprintf("count the turns by Assign in %q, and ", l.Waits[0].Name)
	if choice := backByDefault(l); choice != nil {
		return count + fmt.Sprintf("leave the loop by a rule of %q behind the others", choice.Name)
	}
	return count + "put a Choice in front of it that leaves the loop by the count"
}

// backByDefault is the one Choice of a loop, if nothing but its Default leads back; else nil.
func backByDefault(l *lint.Loop) *asl.State {
	var choice *asl.State
	for _, s := range l.States {
		if s.Choice == nil {
			continue
		}
		back := func(r asl.ChoiceRule) bool {
			return slices.ContainsFunc(l.States, func(s *asl.State) bool { return s.Name == r.Next })
		}
		if choice != nil || s.Choice.Default == "" || slices.ContainsFunc(s.Choice.Rules, back) {
			return nil
		}
		choice = s
	}
	return choice
}

// reasonUnbounded says why a loop gets no bound.
func (r *repairer) reasonUnbounded(ctx context.Context, c *checked, f lint.Finding, smallest error) string {
	l, maxWait := c.loopOf(c.stateAt(f)), r.options.MaxWait
	switch {
	case l == nil || l.Poll == nil:
		byHand := c.boundByHand(l)
		if task := onlyTask(l); task != "" {
			return fmt.Sprintf("fix knows no job that %q polls, so it cannot try a bound: %s", task, byHand)
		}
		return "fix does not know which Task polls: " + byHand
	case l.Retries && smallest == nil:
		return "its turns are retries: set MaxAttempts to the most polls that you want"
	case maxWait == 0 && smallest == nil && len(l.Waits) > 0 && r.lacksRoom(c.newBound(l)):
		return fmt.Sprintf("the bounds of the other loops leave no room%s in the history of 25,000 events: shorten them, or pass --max-wait",
			r.all.roomOf(l.Poll.Name).forItems())
	case smallest != nil && c.newBound(l).pollsSeveral():
		return "the loop may ask for another job in each turn, so no count and no time is of one job: " + smallest.Error()
	case errors.Is(smallest, errStillFound) && c.roundsOf(l).number == lint.ManyRounds && c.stateAt(f) != l.Waits[0]:
		return "the loop around it has no bound either: count its rounds, and put a Choice into each that leaves it by the count"
	case errors.Is(smallest, errStillFound) && startsAgainAt(l) != "":
		return fmt.Sprintf("an error of %q leads to %q, which starts another job, and no bound of the polls counts that: "+
			"retry the call, and let the Catch lead to a state that fails", l.Poll.Name, startsAgainAt(l))
	case maxWait == 0 && smallest != nil && l.Bound.Idle != "":
		return "mend the bound that the loop has: " + l.Bound.Idle + ": " + f.Advice()
	case maxWait == 0 && errors.Is(smallest, errStillFound) && r.all.roomOf(l.Poll.Name).loops == 1:
		return smallest.Error() + ": count the turns on each way around the loop by hand, and put a Choice on each that leaves it by the count"
	case maxWait > 0 && lacksEvents(smallest):
		return fmt.Sprintf("the loop cannot wait for %s: %s; pass a shorter --max-wait", spell(maxWait), smallest)
	case errors.Is(smallest, errStillFound):
		return "other loops fill the same history of 25,000 events: pass --max-wait with a time that leaves room for them"
	case smallest == nil:
		return "no state of the loop is in all of its turns, so none can count them: count them by hand" + r.orReplace(ctx, c, l)
	default:
		return smallest.Error()
	}
}

func reasonHidden(f lint.Finding) string {
	if isOfBound(f) {
		return "only you know whether a job that still runs may count as done: lead the bound to your failure if it may not"
	}
	return "only you know which errors are a success: name them in the Catch, and lead the others to your failure"
}
