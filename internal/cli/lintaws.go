package cli

import (
	"context"
	"errors"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// awsRule is the rule of what AWS itself says of a definition.
const awsRule = "aws"

// awsOpinion asks AWS about definitions until it cannot be asked: it would say
// the same of every definition.
type awsOpinion struct {
	client  *stepfunctions.Client
	failure error
}

// newAWSOpinion reads the configuration. It calls nothing.
func newAWSOpinion(ctx context.Context, flags awsFlags) (*awsOpinion, error) {
	service, err := models.Load("stepfunctions")
	if err != nil {
		return nil, err
	}
	cfg, err := flags.configuration(ctx, false)
	if err != nil {
		return nil, &exitError{exitUnknown, err}
	}
	return &awsOpinion{client: stepfunctions.New(service, awsjob.New(cfg).Call)}, nil
}

// validate returns what AWS finds in a definition; nothing once it cannot be asked.
func (a *awsOpinion) validate(ctx context.Context, text []byte, as asl.ExecutionType) diag.Problems {
	if a.failure != nil {
		return nil //nolint:nilerr // the command ends with it
	}
	problems, err := a.client.Validate(ctx, text, as)
	a.failure = err
	if refused, ok := errors.AsType[*stepfunctions.CallError](err); ok {
		a.failure = errors.New(endReason([]string{refused.Action}, refused.Err))
	}
	return problems
}
