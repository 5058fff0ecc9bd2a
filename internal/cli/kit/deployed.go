package kit

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/deployed"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// definitionARN says what an ARN may name.
const definitionARN = "the ARN of a state machine, a version or an execution"

// StepFunctions is a client and where it calls.
type StepFunctions struct {
	*stepfunctions.Client

	Region string
	URL    string // of an endpoint; empty for AWS
}

// StepFunctions returns the client for a region; without a region the configured one. It
// calls nothing.
func (a *AwsFlags) StepFunctions(ctx context.Context, region string) (*StepFunctions, error) {
	service, err := models.Load("stepfunctions")
	if err != nil {
		return nil, err
	}
	flags := *a
	if region != "" {
		flags.Region = region
	}
	cfg, err := flags.Configuration(ctx, false)
	if err != nil {
		return nil, ConfigurationError(err)
	}
	url, err := awssettings.BaseOf(&cfg, "SFN") //nolint:contextcheck // it reads settings that are there
	if err != nil {
		return nil, Usage("%w", err)
	}
	// The client tries again by itself, so that each request counts for its pace.
	client := stepfunctions.New(service, awsjob.New(cfg, awsjob.WithoutRetries()).Call)
	return &StepFunctions{client, cfg.Region, url}, nil
}

// Fetch reads the definitions that an ARN names, as source.Options want it. The region is
// that of the ARN.
func (a *AwsFlags) Fetch(ctx context.Context, arn string) ([]source.Deployed, error) {
	of, err := deployed.Parse(arn)
	switch {
	case err != nil:
		return nil, Usage("%w", err)
	case a.Region != "" && a.Region != of.Region:
		return nil, Usage("--region %s contradicts %s, which is of %s: leave --region out", a.Region, arn, of.Region)
	}
	if err := a.Validate(); err != nil {
		return nil, Usage("%w", err)
	}
	client, err := a.StepFunctions(ctx, of.Region)
	if err != nil {
		return nil, err
	}
	if a.stderr != nil {
		r := StartReading(a.stderr(), "the definition of "+of.String())
		defer r.Close()
		client.Tried = r.ShowTrouble
	}
	all, err := deployed.Read(ctx, client.Client, of)
	if err != nil {
		return all, DeployedError(ctx, arn, err)
	}
	return all, nil
}

// DeployedError is the error of a call about a definition at AWS as one of the command.
func DeployedError(ctx context.Context, arn string, err error) error {
	if ctx.Err() != nil {
		return WithCode(ExitInterrupted, errors.New("interrupted"))
	}
	refused, ok := errors.AsType[*stepfunctions.CallError](err)
	if !ok {
		return WithCode(ExitUnknown, err)
	}
	switch NewCallError(refused.Err).Code {
	case "StateMachineDoesNotExist", "ResourceNotFound", "ExecutionDoesNotExist":
		return WithCode(ExitUnknown, terminal.Errorf("%s: AWS has none: check the name, the account and the region", arn))
	}
	return WithCode(ExitUnknown, fmt.Errorf("%s: %s", terminal.Quote(arn), DeployedReason(err)))
}

// DeployedReason says why a definition at AWS was not read, and what permission lacks. The
// error is of a call.
func DeployedReason(err error) string {
	if advice := AdviseDeployed(err); advice != "" {
		return fmt.Sprintf("%s (%s)", advice, ErrorText(err))
	}
	if refused, ok := errors.AsType[*stepfunctions.CallError](err); ok {
		return EndReason([]string{refused.Action}, refused.Err)
	}
	return err.Error()
}

// AdviseDeployed says what to do where the caller may not read a definition at AWS, or its
// key cannot be used; empty for other errors.
func AdviseDeployed(err error) string {
	if ofKey, ok := errors.AsType[*deployed.KeyError](err); ok {
		key := "the key of the state machine"
		if ofKey.Key != "" {
			key = "the key " + terminal.Quote(ofKey.Key)
		}
		if NewCallError(err).Code == "KmsInvalidStateException" {
			return key + " cannot be used: enable it"
		}
		return "access denied: grant kms:Decrypt on " + key
	}
	refused, ok := errors.AsType[*stepfunctions.CallError](err)
	if !ok || !awserror.IsPermissionCode(NewCallError(err).Code) {
		return ""
	}
	return adviseGrant([]string{refused.Action}, refused.Err)
}
