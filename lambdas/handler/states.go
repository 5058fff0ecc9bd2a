package handler

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// stepFunctions answers Tasks at Step Functions.
type stepFunctions struct{ service *jsonService }

func newStepFunctions(cfg aws.Config) (*stepFunctions, error) {
	service, err := newJSONService(cfg, "SFN", "AWSStepFunctions", "states", statesPrefix)
	if err != nil {
		return nil, err
	}
	return &stepFunctions{service}, nil
}

// statesPrefix is what Step Functions' hosts begin with. In GovCloud those of the dual
// stack are all for FIPS, and so are those of us-gov-west-1. A test compares this with the
// SDK's client.
func statesPrefix(settings awscall.Settings, region string) string {
	gov := awscall.PartitionOf(region).Name == "aws-us-gov"
	if settings.FIPS && (settings.DualStack || region != "us-gov-west-1") || gov && settings.DualStack {
		return "states-fips"
	}
	return "states"
}

// Succeed implements Tasks.
func (s *stepFunctions) Succeed(ctx context.Context, token string, output json.RawMessage) error {
	return s.service.call(ctx, "SendTaskSuccess", struct {
		TaskToken string `json:"taskToken"`
		Output    string `json:"output"`
	}{token, string(output)}, &struct{}{})
}

// Fail implements Tasks.
func (s *stepFunctions) Fail(ctx context.Context, token, name, cause string) error {
	return s.service.call(ctx, "SendTaskFailure", struct {
		TaskToken string `json:"taskToken"`
		Error     string `json:"error"`
		Cause     string `json:"cause"`
	}{token, name, cause}, &struct{}{})
}
