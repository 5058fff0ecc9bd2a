package compile

import (
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// result is what a wait comes to, in JSONata.
type result struct {
	Status         string `json:"status"`
	Reason         string `json:"reason"`
	Attempt        string `json:"attempt"`
	StartedAt      string `json:"startedAt"`
	ElapsedSeconds string `json:"elapsedSeconds"`
	Output         string `json:"output,omitempty"`
	Error          string `json:"error,omitempty"`
}

// endResult is the result of a wait by the last response.
func (j *jsonata) endResult(v pollcore.Verdict, reason phrase) result {
	o := j.outcome(statusOf[v], reason)
	o.Attempt, o.Output = expression(j.attempt), expression(j.selectOutput(j.response))
	return o
}

// errorResult is the result where an error has the verdict. The attempt that failed
// is not yet counted when it is written.
func (j *jsonata) errorResult(c catch) result {
	o := j.outcome(j.verdictOnError(c, "$states.errorOutput"))
	o.Attempt, o.Error = expression(j.failedAttempt), expression("$states.errorOutput")
	return o
}

func (j *jsonata) outcome(status pollcore.Status, reason phrase) result {
	started := "$" + j.variable("startedAt")
	return result{
		Status: string(status), Reason: reason.field(), StartedAt: expression(started),
		ElapsedSeconds: expression("$floor(($millis() - $toMillis(" + started + ")) / 1000)"),
	}
}

// statusOf is the status in which a verdict ends a wait, at the latest.
var statusOf = map[pollcore.Verdict]pollcore.Status{
	pollcore.Success: pollcore.Succeeded, pollcore.Failure: pollcore.Failed, pollcore.Retry: pollcore.TimedOut,
}

// selectOutput is the JSONata of the member output of the result, by that of the
// response. It is null where the expression finds nothing, since a field of a
// state must have a value.
func (d *draft) selectOutput(response string) string {
	if d.selection == nil {
		return response
	}
	value, err := tojsonata.Translate(d.selection, response, d.shapes.Members["output"]).Argument(nil, nil)
	if err != nil {
		d.refuse("Output: %s", err)
		return response
	}
	return "($selected := " + value + "; $exists($selected) ? $selected : null)"
}

// cause is the Cause of a Fail state by its reason, which can be longer than a
// cause.
func cause(reason string) string {
	return expression(fmt.Sprintf("$substring(%s, 0, %d)", reason, asl.MaxCauseLength))
}

// brief is the JSONata of the text of a value that a reason quotes: as far as
// pollcore quotes one, 200 characters. What has no long values is not cut.
func brief(value, path string, output *jsontype.Type) string {
	whole := "$string(" + value + ")"
	if e, err := jmespath.Parse(path); err == nil {
		if t := e.Check(output).Type; t.Enum() != nil || t.Kind == jsontype.Boolean || t.Kind == jsontype.Number {
			return whole
		}
	}
	return "($seen := " + whole + "; $length($seen) > 200 ? $substring($seen, 0, 200) & '...' : $seen)"
}

// verdictOnError is the status and the reason where an error has the verdict. A
// catch without a reason accepts nothing.
func (j *jsonata) verdictOnError(c catch, failure string) (pollcore.Status, phrase) {
	named := failure + ".Error & ': ' & " + failure + ".Cause"
	switch {
	case c.state == pollcore.Retry:
		return pollcore.TimedOut, phrase{j.notFinished() + ": ", named}
	case c.reason == "":
		return pollcore.Failed, phrase{"unexpected error: ", named}
	case c.any:
		return statusOf[c.state], phrase{c.reason + ": ", failure + ".Cause"}
	default:
		return statusOf[c.state], phrase{text: c.reason}
	}
}
