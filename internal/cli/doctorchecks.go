package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// doctor checks what the Lambda functions need.
type doctor struct {
	store         *recordStore
	dates         *dateReader
	retentionDays int

	found     []healthFinding
	unreached bool // the store did not answer
}

func (d *doctor) add(check, severity, do, format string, args ...any) {
	d.found = append(d.found, healthFinding{Check: check, Severity: severity, Message: fmt.Sprintf(format, args...), Do: do})
}

// checkTimeout is how long one check may take.
const checkTimeout = 30 * time.Second

// examine makes all checks. What needs the store is left out where it does not answer.
func (d *doctor) examine(ctx context.Context) {
	checks := []func(context.Context){d.checkLifecycle, d.checkClock, d.checkQuota}
	if d.run(ctx, d.checkStore); d.found[0].Severity == healthy {
		d.run(ctx, d.checkConditions)
	}
	for _, check := range checks {
		d.run(ctx, check)
	}
}

func (d *doctor) run(ctx context.Context, check func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	check(ctx)
}

// checkStore reads a record that is not there: S3 says so only to who may list.
func (d *doctor) checkStore(ctx context.Context) {
	key := startrecord.Key{ExecutionARN: startrecord.ProbeKey().ExecutionARN, Poller: "doctor", Scope: "none"}
	switch _, err := d.store.Load(ctx, key); {
	case err == nil, errors.Is(err, startrecord.ErrNotFound):
		d.add("store", healthy, "", "%s answers, and lets you read records", d.store.name())
	case errors.Is(err, startrecord.ErrConfiguration):
		d.add("store", diag.Error.String(), "do what the message says; the roles of the functions need the same", "%s", err)
	default:
		d.unreached = true
		d.add("store", diag.Error.String(), "check the region, --endpoint-url and the network", "%s: %s", d.store.name(), errorText(err))
	}
}

func (d *doctor) checkConditions(ctx context.Context) {
	switch err := startrecord.Probe(ctx, d.store); {
	case err == nil:
		d.add("conditions", healthy, "", "writes whose condition does not hold are refused")
	case errors.Is(err, startrecord.ErrConfiguration):
		d.add("conditions", diag.Danger.String(), "keep the records in another store: here two functions could start one job", "%s", err)
	default:
		d.unreached = true
		d.add("conditions", diag.Error.String(), "run doctor again; the store did not answer", "%s: %s", d.store.name(), errorText(err))
	}
}

func (d *doctor) checkLifecycle(ctx context.Context) {
	if d.store.flags.table != "" {
		d.checkTimeToLive(ctx)
		return
	}
	rule := fmt.Sprintf("add a lifecycle rule for the prefix %s/ that expires objects after %d days",
		strings.TrimSuffix(d.store.flags.prefix, "/"), d.retentionDays)
	out, err := d.store.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &d.store.flags.bucket})
	if err != nil && newCallError(err).Code == "NoSuchLifecycleConfiguration" {
		out, err = &s3.GetBucketLifecycleConfigurationOutput{}, nil
	}
	if err != nil {
		d.skip("lifecycle", "s3:GetLifecycleConfiguration", err)
		return
	}
	shortest := int32(0)
	for _, r := range out.Rules {
		if days := expiryOf(r, d.store.flags.prefix); days > 0 && (shortest == 0 || days < shortest) {
			shortest = days
		}
	}
	switch {
	case shortest == 0:
		d.add("lifecycle", diag.Warning.String(), rule, "no lifecycle rule removes old records: the bucket keeps them for ever")
	case int(shortest) < d.retentionDays:
		d.add("lifecycle", diag.Danger.String(), rule+", no sooner: a job can start twice once its record is gone",
			"a lifecycle rule removes records after %d days, and the functions count on %d", shortest, d.retentionDays)
	default:
		d.add("lifecycle", healthy, "", "a lifecycle rule removes records after %d days", shortest)
	}
}

// expiryOf is after how many days a rule removes objects under the prefix; 0 if it
// does not.
func expiryOf(r types.LifecycleRule, prefix string) int32 {
	if r.Status != types.ExpirationStatusEnabled || r.Expiration == nil {
		return 0
	}
	of := aws.ToString(r.Prefix) //nolint:staticcheck // rules of before have it
	if f := r.Filter; f != nil {
		of = aws.ToString(f.Prefix)
		if f.Tag != nil || f.And != nil && len(f.And.Tags) > 0 { // records have no tags
			return 0
		}
		if f.And != nil {
			of = aws.ToString(f.And.Prefix)
		}
	}
	if !strings.HasPrefix(strings.TrimSuffix(prefix, "/")+"/", of) {
		return 0
	}
	return aws.ToInt32(r.Expiration.Days)
}

func (d *doctor) checkTimeToLive(ctx context.Context) {
	answer, err := d.call(ctx, "dynamodb", "DescribeTimeToLive", map[string]any{"TableName": d.store.flags.table})
	if err != nil {
		d.skip("lifecycle", "dynamodb:DescribeTimeToLive", err)
		return
	}
	of, _ := answer["TimeToLiveDescription"].(map[string]any)
	status, attribute := fmt.Sprint(of["TimeToLiveStatus"]), fmt.Sprint(of["AttributeName"])
	do := fmt.Sprintf("aws dynamodb update-time-to-live --table-name %s --time-to-live-specification Enabled=true,AttributeName=expiresAt", d.store.flags.table)
	switch {
	case status != "ENABLED" && status != "ENABLING":
		d.add("lifecycle", diag.Warning.String(), do, "the table has no time to live: it keeps old records for ever")
	case attribute != "expiresAt":
		d.add("lifecycle", diag.Danger.String(), do, "the table's time to live reads the attribute %s, and start records have expiresAt", attribute)
	default:
		d.add("lifecycle", healthy, "", "the table's time to live removes records at expiresAt")
	}
}

// maxSkew is what a signature may be off: requests beyond it are refused.
const maxSkew = 5 * time.Minute

// checkClock compares this machine's clock with the date of an answer.
func (d *doctor) checkClock(context.Context) {
	skew, ok := d.dates.skew()
	switch {
	case !ok:
		d.add("clock", diag.Note.String(), "see the findings above", "not checked: no answer had a date")
	case skew.Abs() >= maxSkew:
		d.add("clock", diag.Error.String(), "set the clock: AWS refuses requests whose time is off", "this machine's clock is off by %s", shortDuration(skew))
	default:
		d.add("clock", healthy, "", "this machine's clock agrees with that of the store to %s", shortDuration(max(skew.Abs(), time.Second)))
	}
}

// fewExecutions is how many functions at once are soon used up: an account begins
// with ten.
const fewExecutions = 50

func (d *doctor) checkQuota(ctx context.Context) {
	answer, err := d.call(ctx, "lambda", "GetAccountSettings", map[string]any{})
	if err != nil {
		d.skip("quota", "lambda:GetAccountSettings", err)
		return
	}
	limit, _ := answer["AccountLimit"].(map[string]any)
	var free int
	if _, err := fmt.Sscan(fmt.Sprint(limit["UnreservedConcurrentExecutions"]), &free); err != nil {
		d.add("quota", diag.Note.String(), "look at Lambda's quotas in the console", "not checked: Lambda did not say its limits")
		return
	}
	if free < fewExecutions {
		d.add("quota", diag.Warning.String(), "ask for more in Service Quotas (Lambda, concurrent executions), or reserve some for the two functions",
			"Lambda runs at most %d functions at once that have nothing reserved: polls are throttled, and come late", free)
		return
	}
	d.add("quota", healthy, "", "Lambda runs %d functions at once that have nothing reserved", free)
}

// call calls an operation of a service by its model.
func (d *doctor) call(ctx context.Context, service, operation string, input any) (map[string]any, error) {
	of, err := models.Load(service)
	if err != nil {
		return nil, err
	}
	answer, err := awsjob.New(d.store.aws).Call(ctx, of.Operations[operation], input)
	if err != nil {
		return nil, err
	}
	members, _ := answer.(map[string]any)
	return members, nil
}

// skip tells of a check that could not be made.
func (d *doctor) skip(check, action string, err error) {
	do := "look at the error; the other checks do not depend on this one"
	if awserror.IsPermissionCode(newCallError(err).Code) {
		do = "grant yourself " + action + " to have it checked"
	}
	d.add(check, diag.Note.String(), do, "not checked: %s", errorText(err))
}
