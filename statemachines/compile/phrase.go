package compile

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
)

// expression is a field's JSONata.
func expression(text string) string { return "{% " + text + " %}" }

// text writes a string of JSONata.
func text(s string) string { return tojsonata.Quote(s) }

// phrase is a text and the JSONata of what stands behind it, which may be empty.
type phrase struct{ text, value string }

// jsonata writes it as an expression.
func (s phrase) jsonata() string {
	if s.value == "" {
		return text(s.text)
	}
	return text(s.text) + " & " + s.value
}

// field is the value of a field of a state: the text itself if that is all, and
// if Step Functions does not take it for an expression.
func (s phrase) field() string {
	if s.value == "" && !strings.HasPrefix(s.text, "{%") {
		return s.text
	}
	return expression(s.jsonata())
}

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

// ended is the result of a wait by the last response.
func (p *poller) ended(r rule) result {
	o := p.outcome(statusOf[r.state], r.reason)
	o.Attempt, o.Output = "$"+p.variable("attempt"), p.resultOutput(p.response())
	if p.options.Strategy == RetryTask {
		o.Attempt = "$states.input.attempt"
	}
	o.Attempt, o.Output = expression(o.Attempt), expression(o.Output)
	return o
}

// caught is the result where an error has the verdict. The attempt that failed
// is not yet counted when it is written.
func (p *poller) caught(c catch) result {
	o := p.outcome(p.verdictOnError(c, "$states.errorOutput"))
	o.Attempt, o.Error = expression("$"+p.variable("attempt")+" + 1"), expression("$states.errorOutput")
	if p.options.Strategy == RetryTask {
		o.Attempt = expression(retryCount)
	}
	return o
}

func (p *poller) outcome(status pollcore.Status, reason phrase) result {
	started := "$" + p.variable("startedAt")
	return result{
		Status: string(status), Reason: reason.field(), StartedAt: expression(started),
		ElapsedSeconds: expression("$floor(($millis() - $toMillis(" + started + ")) / 1000)"),
	}
}

// statusOf is the status in which a verdict ends a wait, at the latest.
var statusOf = map[pollcore.Verdict]pollcore.Status{
	pollcore.Success: pollcore.Succeeded, pollcore.Failure: pollcore.Failed, pollcore.Retry: pollcore.TimedOut,
}
