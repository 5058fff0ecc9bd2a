package records

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// jobNow is what a service says of a job of a record now.
type jobNow struct {
	Verdict pollcore.Verdict `json:"verdict,omitempty"`
	Reason  string           `json:"reason,omitempty"`
	Error   string           `json:"error,omitempty"` // why it was not asked, or did not answer

	missing bool // the service refuses to describe it
}

func (n jobNow) text() string {
	if n.Error != "" {
		return "not known: " + n.Error
	}
	return fmt.Sprintf("%s: %s", n.Verdict, n.Reason)
}

// askJob describes the job of a record once, and judges the answer by the record's
// waiter.
func askJob(ctx context.Context, cfg aws.Config, rec startrecord.Record) jobNow {
	q, err := requestOf(rec)
	if err != nil {
		return jobNow{Error: err.Error()}
	}
	driver, err := awsjob.NewDriver(cfg, catalog.AWS(), q.Job) //nolint:contextcheck // it calls nothing
	if err != nil {
		return jobNow{Error: fmt.Sprintf("the job %s cannot be described here", q.Job)}
	}
	var ref jobs.Ref
	if err := json.Unmarshal(rec.JobRef, &ref); err != nil {
		return jobNow{Error: "the record's job reference cannot be read: " + err.Error()}
	}
	waiter := q.Waiter
	if waiter == nil {
		waiter = driver.Waiter()
	}
	check, err := pollcore.Compile[jobs.Ref, any](waiter)
	if err != nil {
		return jobNow{Error: err.Error()}
	}
	out, err := kit.AnswerWithin(ctx, kit.CallPatience, func(ctx context.Context) (any, error) { return driver.Describe(ctx, ref) })
	result := check.Check(ref, out, err)
	if err != nil && result.Acceptor == pollcore.NoAcceptor {
		code := kit.NewCallError(err).Code
		missing := goerror.Classify(err) == awserror.Refused && code != "" && !awserror.IsPermissionCode(code) && !awserror.IsCredentialsCode(code)
		return jobNow{Error: kit.EndReason(describeActions(q), err), missing: missing}
	}
	return jobNow{Verdict: result.Verdict, Reason: kit.WithoutSource(check.Reason(result, ref, out, err))}
}

// describeActions are what the describe call of a request's job needs.
func describeActions(q handler.Request) []string {
	if named, err := catalog.AWS().Resolve(q.Job); err == nil {
		return named.Operation.Actions
	}
	return nil
}
