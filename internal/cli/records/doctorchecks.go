package records

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// doctor checks what the Lambda functions need.
type doctor struct {
	store         *recordStore
	dates         *kit.DateReader
	retentionDays int

	found     []healthFinding
	unreached bool // the store did not answer
}

func (d *doctor) add(check, severity, do, format string, args ...any) {
	d.found = append(d.found, healthFinding{Check: check, Severity: severity, Message: fmt.Sprintf(format, args...), Do: do})
}

// checkTimeout is how long one check may take.
const checkTimeout = 30 * time.Second

// examine makes all checks. Where the store does not answer, the others say no more.
func (d *doctor) examine(ctx context.Context) {
	checks := []func(context.Context){d.checkLifecycle, d.checkClock, d.checkQuota}
	if d.run(ctx, d.checkStore); d.found[0].Severity == healthy {
		d.run(ctx, d.checkWrites)
	}
	if d.unreached {
		return
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

// maxSkew is what a signature may be off: requests beyond it are refused.
const maxSkew = 5 * time.Minute

// checkClock compares this machine's clock with the date of an answer.
func (d *doctor) checkClock(context.Context) {
	skew, ok := d.dates.Skew()
	switch {
	case !ok:
		d.add("clock", diag.Note.String(), "see the findings above", "not checked: no answer had a date")
	case skew.Abs() >= maxSkew:
		d.add("clock", diag.Error.String(), "set the clock: AWS refuses requests whose time is off", "this machine's clock is off by %s", kit.ShortDuration(skew))
	default:
		d.add("clock", healthy, "", "this machine's clock agrees with that of the store to %s", kit.ShortDuration(max(skew.Abs(), time.Second)))
	}
}

// fewExecutions is how many functions at once are soon used up: an account begins
// with ten.
const fewExecutions = 50

// isEmulator tells whether calls of a service go to a server that is not AWS's.
func (d *doctor) isEmulator(service string) bool {
	model, err := models.Load(service)
	if err != nil {
		return false
	}
	base, err := awssettings.BaseOf(&d.store.aws, model.Name)
	if err != nil || base == "" {
		return false
	}
	u, err := url.Parse(base)
	of := awscall.PartitionOf(d.store.aws.Region)
	return err != nil || !strings.HasSuffix(u.Hostname(), "."+of.Suffix) && !strings.HasSuffix(u.Hostname(), "."+of.DualStack)
}

// checkQuota checks what room Lambda has. An emulator has no quota.
func (d *doctor) checkQuota(ctx context.Context) {
	if d.isEmulator("lambda") { //nolint:contextcheck // it calls nothing
		return
	}
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
	if awserror.IsPermissionCode(kit.NewCallError(err).Code) {
		do = "grant yourself " + action + " to have it checked"
	}
	d.add(check, diag.Note.String(), do, "not checked: %s", kit.ErrorText(err))
}
