package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// recovery checks what a state does after errors.
func (c *checker) recovery(s *asl.State) {
	const interval, rate = 1, 2 // the defaults
	for i, r := range s.Retry {
		if r.MaxAttempts == 0 && (r.IntervalSeconds != interval || r.BackoffRate != rate || r.MaxDelaySeconds > 0 || r.JitterStrategy != asl.JitterNone) {
			c.report(IdleRetrier, s, fmt.Sprintf("/Retry/%d", i), "the retrier says when to retry, and \"MaxAttempts\" is 0: it never does; "+
				"raise \"MaxAttempts\", or leave only \"ErrorEquals\" and \"MaxAttempts\"")
		}
	}
	if s.Task == nil {
		return
	}
	token := startToken(asl.ParseResource(s.Task.Resource))
	if token == "" || !lacks(s, token) {
		return
	}
	for i, r := range s.Retry {
		if r.MaxAttempts > 0 && (takesAll(r.ErrorEquals) || slices.Contains(r.ErrorEquals, asl.ErrorTimeout)) {
			c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", i), "a call that the service took and whose answer was lost is retried, and the job is started twice: "+
				"give %q a value that is the same in each attempt, made of the execution's name, or retry only throttled calls", token)
			return
		}
	}
}

// startTokens are the members that make starting a job idempotent, by service
// and action of the AWS SDK integration; those of jobs whose name is not unique
// anyway, and that the service does not ask for. AWS's SDK models have them as
// idempotency tokens.
var startTokens = map[string]string{
	"athena:startQueryExecution":                 "ClientRequestToken",
	"athena:startCalculationExecution":           "ClientRequestToken",
	"dynamodb:exportTableToPointInTime":          "ClientToken",
	"dynamodb:importTable":                       "ClientToken",
	"ecs:runTask":                                "ClientToken",
	"glue:startDataQualityRulesetEvaluationRun":  "ClientToken",
	"glue:startDataQualityRuleRecommendationRun": "ClientToken",
	"redshiftdata:executeStatement":              "ClientToken",
	"sfn:startExecution":                         "Name",
}

// optimizedTokens are those of the integrations that Step Functions has made
// for a service.
var optimizedTokens = map[string]string{
	"athena:startQueryExecution": "ClientRequestToken",
	"states:startExecution":      "Name",
}

// startToken returns the token of a call that starts a job and does not wait for
// it, or nothing. To run a job again that failed is what a Retry around one that
// waits is for.
func startToken(r asl.Resource) string {
	if r.Pattern != "" {
		return ""
	}
	if service, ok := r.SDK(); ok {
		return startTokens[service+":"+r.Action]
	}
	return optimizedTokens[r.Service+":"+r.Action]
}

// lacks tells whether the arguments of a Task that calls an integration are written
// down in the definition and have no member of that name.
func lacks(s *asl.State, member string) bool {
	t := s.Parameters
	if t == nil {
		t = s.Arguments
	}
	if t.Kind == asl.TemplateObject {
		return !slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return strings.EqualFold(m.Name, member) })
	}
	given, object := t.Literal.(map[string]any)
	if !object {
		return false
	}
	for name := range given {
		if strings.EqualFold(name, member) {
			return false
		}
	}
	return true
}
