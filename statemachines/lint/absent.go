package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkAbsent reports fields that read a member of the poll's answer where it is not there,
// or need not be: before the job has ended, failed or succeeded, or after an end without it.
func (c *checker) checkAbsent(r *reading) {
	if slices.Contains(c.off, typecheck.AbsentMember) {
		return
	}
	operation := operationNamed(r.Operation)
	if operation == nil || r.status == nil && len(c.operations.of(r.Poll).statuses) == 0 {
		return
	}
	var later [][]string
	for _, path := range operation.Later() {
		steps, _ := spellSteps(operation.Output, path)
		later = append(later, steps)
		if !c.mentions(steps[len(steps)-1]) {
			continue
		}
		when := operation.Presence[path]
		in := c.types.Input(r.Poll)
		if !when.Has(pollcore.Retry) { // nor had the answers before
			in = c.types.InputAfter(r.Poll, typecheck.Without(c.types.Result(r.Poll), steps))
		}
		for _, m := range []struct {
			meaning Meaning
			verdict pollcore.Verdict
		}{{MeansRunning, pollcore.Retry}, {MeansSuccess, pollcore.Success}, {MeansFailure, pollcore.Failure}, {MeansUnclear, pollcore.Failure}} {
			if !when.Has(m.verdict) {
				c.reportAbsent(r, in, path, steps, m.meaning)
			} else if when.MayLack(m.verdict) {
				c.reportMissing(r, in, path, steps, m.meaning)
			}
		}
	}
	for _, j := range c.statusOf(r).judges {
		for _, path := range j.secondPaths() { // the service gives it after the first job
			steps, _ := spellSteps(operation.Output, path)
			if !slices.ContainsFunc(later, func(l []string) bool { return slices.Equal(l, steps) }) && c.mentions(steps[len(steps)-1]) {
				c.reportMissing(r, c.types.Input(r.Poll), path, steps, MeansUnclear)
				c.reportMissing(r, c.types.Input(r.Poll), path, steps, MeansRunning)
			}
		}
	}
}

// statusOf is the status that a loop reads, or the first one of the answer: what is absent
// itself may keep the table from being read.
func (c *checker) statusOf(r *reading) *status {
	if r.status != nil {
		return r.status
	}
	return c.operations.of(r.Poll).statuses[0]
}

// reportAbsent reports what reads a member while the job has a status of the meaning.
func (c *checker) reportAbsent(r *reading, in typecheck.Env, path string, steps []string, m Meaning) {
	when := operationNamed(r.Operation).Presence[path]
	since := sayAbsent(when, m)
	for _, f := range c.findAbsent(r, in, steps, m) {
		p := f.Problem
		s := c.machine.StateAt(p.Pointer)
		fails, advice := c.adviseAbsent(s, p.Pointer)
		p.Severity = diag.Danger
		if s.QueryLanguage != asl.JSONata && when != catalog.AfterPart { // no status says that a part is done
			advice = "read it behind the rule that only such jobs take"
		} else if pollsByRetry(s) {
			p.Severity = diag.Warning // it works as long as the attempts last
		}
		p.Message = javasdk.MemberPath(path) + " is in the answer of " + r.Operation + " only since " + since + ", the state fails with " + fails + "; " + advice
		c.findings = append(c.findings, Finding{Problem: p, Rule: typecheck.AbsentMember, Subjects: []string{javasdk.MemberPath(path)}})
	}
}

// sayAbsent says since when a member is in the answer about a job, and that it is not there while the
// job has a status of the meaning.
func sayAbsent(when catalog.Presence, m Meaning) string {
	if when == catalog.AfterPart {
		return "a part of the job is done: until then"
	}
	since := map[catalog.Presence]string{catalog.AfterFailure: "failed", catalog.AfterSuccess: "succeeded"}[when]
	return "the job has " + cmp.Or(since, "ended") + ": " + map[Meaning]string{
		MeansRunning: "while the job runs", MeansSuccess: "when the job has succeeded",
		MeansFailure: "when the job has failed", MeansUnclear: "when the job has ended",
	}[m]
}

// reportMissing reports what reads a member which the answer about a job with a status of
// the meaning may have, and need not.
func (c *checker) reportMissing(r *reading, in typecheck.Env, path string, steps []string, m Meaning) {
	for _, f := range c.findAbsent(r, in, steps, m) {
		p := f.Problem
		fails, advice := c.adviseAbsent(c.machine.StateAt(p.Pointer), p.Pointer)
		p.Severity = diag.Warning
		p.Message = javasdk.MemberPath(path) + " may be missing in the answer of " + r.Operation + ": then the state fails with " + fails + "; " + advice
		c.findings = append(c.findings, Finding{Problem: p, Rule: typecheck.AbsentMember, Subjects: []string{javasdk.MemberPath(path)}})
	}
}

// adviseAbsent says by which error a state fails that reads at a place what is not there, and
// what to write instead, as fix does.
func (c *checker) adviseAbsent(s *asl.State, at string) (fails, advice string) {
	field := strings.Split(strings.TrimPrefix(at, s.Position.Pointer+"/"), "/")
	in := field[0] // the field of the state, of a rule or of a catcher
	if (in == "Choices" || in == "Catch") && len(field) > 2 {
		in = field[2]
	} else if in == "ItemBatcher" {
		in = field[1]
	}
	if s.QueryLanguage == asl.JSONata {
		fails, advice = asl.ErrorQueryEvaluation, c.adviseExpression(in)
	} else {
		fails, advice = asl.ErrorRuntime, advisePath(in, field[0] == "Choices")
	}
	switch {
	case s.Type == asl.TypeFail:
		fails += ", and its own error is lost"
	case s.QueryLanguage != asl.JSONata:
		fails += ", which nothing catches"
	}
	return fails, advice
}

// adviseExpression says what to write in a field of JSONata.
func (c *checker) adviseExpression(field string) string {
	switch field {
	case "Condition":
		return "ask for it first: {% $exists(X) and ... %}"
	case "Arguments":
		return "write {% $exists(X) ? X : null %} if the call does not need it, or ask for it in a Choice before the state"
	case "Assign", "Output", "ItemSelector", "BatchInput", "Error", "Cause":
		if c.types.SendsText() {
			return "write {% $exists(X) ? X : null %}, or {% $exists(X) ? X : 'none' %} where a text is needed, as SNS and SQS refuse an empty one"
		}
		return "write {% $exists(X) ? X : null %}, or {% '' & X %} where a text is needed"
	default:
		return "write {% $exists(X) ? X : D %}, with a value D that the field takes"
	}
}

// advisePath says what to write in a field of JSONPath. Only some take intrinsic functions.
func advisePath(field string, ofRule bool) string {
	switch field {
	case "Parameters", "Assign", "ItemSelector", "BatchInput", "CausePath":
		return "pass the object around it, by States.JsonToString"
	case "ResultSelector":
		return "give it a default by States.JsonMerge, or select the object around it"
	case "ErrorPath":
		return "write an \"Error\" of your own"
	}
	if ofRule {
		return "ask for IsPresent first, in one And"
	}
	return "ask for IsPresent in a Choice before the state"
}

// findAbsent finds what reads a member that is not there while the job has a status of the
// meaning, by the input of the poll.
func (c *checker) findAbsent(r *reading, in typecheck.Env, steps []string, m Meaning) []typecheck.Finding {
	status, judges := c.statusOf(r), r.judges
	if r.status == nil {
		judges = status.judges
	}
	// A status that goes the way of another meaning is the finding of another rule.
	values := slices.DeleteFunc(slices.Clone(status.values), func(value string) bool {
		goes := func(end End) bool {
			return slices.ContainsFunc(r.routes[value], func(way route) bool { return way.ends == end })
		}
		return status.meaning(judges, value) != m || r.status != nil &&
			(m == MeansRunning && !goes(PollsOn) || m == MeansSuccess && !goes(EndsSuccess) && goes(EndsFailure))
	})
	if len(values) == 0 {
		return nil
	}
	whole := typecheck.NarrowTo(c.types.Result(r.Poll), status.steps, values)
	base := withoutOthers(whole, operationNamed(r.Operation), steps, m)
	found := slices.CompactFunc(c.types.FindAbsent(r.Poll, in, typecheck.Without(base, steps)),
		func(a, b typecheck.Finding) bool { return a.Pointer == b.Pointer })
	found = slices.DeleteFunc(found, func(f typecheck.Finding) bool { return c.isReported(typecheck.AbsentMember, f.Pointer) })
	if len(found) == 0 {
		return nil
	}
	isIn := func(all []typecheck.Finding, f typecheck.Finding) bool {
		return slices.ContainsFunc(all, func(other typecheck.Finding) bool { return other.Pointer == f.Pointer })
	}
	// A field that fails without another member has the finding of that member. One that fails with all members has that of the
	// status, if the state fails for it.
	byElse, byOthers := c.types.FindAbsent(r.Poll, in, whole), c.types.FindAbsent(r.Poll, in, base)
	return slices.DeleteFunc(found, func(f typecheck.Finding) bool {
		if isIn(byElse, f) {
			return r.fails(c.machine.StateAt(f.Pointer))
		}
		return isIn(byOthers, f)
	})
}

// withoutOthers is an answer without the members that it does not have with a status of the meaning, but for those around or in
// one of them: a rule may ask whether they are there.
func withoutOthers(answer typecheck.Value, operation *catalog.Operation, member []string, m Meaning) typecheck.Value {
	verdict, known := map[Meaning]pollcore.Verdict{MeansRunning: pollcore.Retry, MeansSuccess: pollcore.Success, MeansFailure: pollcore.Failure}[m]
	if !known {
		return answer
	}
	for _, path := range operation.Later() {
		steps, _ := spellSteps(operation.Output, path)
		shared := min(len(steps), len(member))
		if !operation.Presence[path].Has(verdict) && !slices.Equal(steps[:shared], member[:shared]) {
			answer = typecheck.Without(answer, steps)
		}
	}
	return answer
}

// takesFailedExpressions are the names of errors that a failed expression goes by.
var takesFailedExpressions = []string{asl.ErrorQueryEvaluation, asl.ErrorTaskFailed, asl.ErrorAll}

// longRetry is a minute of retries.
const longRetry = 60

// isReported tells whether a rule has a finding at a place.
func (c *checker) isReported(rule, pointer string) bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Rule == rule && f.Pointer == pointer })
}
