package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
		_, text, _ := strings.Cut(withoutSDK(err), d.store.Location(key)+": ")
		d.add("store", diag.Error.String(), d.mend(err), "%s", text)
	default:
		d.unreached = true
		d.add("store", diag.Error.String(), "check the region, --endpoint-url and the network", "%s: %s", d.store.name(), errorText(err))
	}
}

// mend is what to do about a store that cannot be used.
func (d *doctor) mend(err error) string {
	flags := d.store.flags
	table := " --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=key,AttributeType=S" +
		" --key-schema AttributeName=key,KeyType=HASH" + flags.aws.spell()
	switch code := newCallError(err).Code; {
	case code == "NoSuchBucket":
		return "aws s3 mb s3://" + flags.bucket + flags.aws.spell()
	case code == "ResourceNotFoundException":
		return "aws dynamodb create-table --table-name " + flags.table + table
	case code == "ValidationException":
		return "aws dynamodb create-table --table-name NEW_TABLE" + table
	case awserror.IsPermissionCode(code):
		return "grant it to yourself and to the roles of the functions"
	default:
		return ""
	}
}

func (d *doctor) checkConditions(ctx context.Context) {
	switch err := startrecord.Probe(ctx, d.store); {
	case err == nil:
		d.add("conditions", healthy, "", "writes whose condition does not hold are refused")
	case errors.Is(err, startrecord.ErrConfiguration):
		d.add("conditions", diag.Danger.String(), "keep the records in another store: here two functions could start one job", "%s", withoutSDK(err))
	default:
		d.unreached = true
		d.add("conditions", diag.Error.String(), "run doctor again; the store did not answer", "%s: %s", d.store.name(), errorText(err))
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
