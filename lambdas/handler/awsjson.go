package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// jsonService is a service that speaks the protocol awsJson1.0. A function calls two
// operations of it, for which the SDK's client would be a large part of its start.
type jsonService struct {
	calls *awscall.Client
	// name is the SDK's name of the service, target the prefix of its operations.
	name, target string
	endpoint     awscall.Endpoint
}

// newJSONService returns a service that signs for a name. Its host begins with what prefix
// returns for a region.
func newJSONService(
	cfg aws.Config, name, target, signing string, prefix func(settings awscall.Settings, region string) string,
) (*jsonService, error) {
	if err := awscall.CheckRegion(cfg.Region); err != nil {
		return nil, err
	}
	settings, err := awscall.SettingsOf(&cfg, name)
	if err != nil {
		return nil, err
	}
	if settings.Base != nil && (settings.FIPS || settings.DualStack) {
		return nil, fmt.Errorf("endpoints for FIPS or dual-stack are asked for, and the endpoint %s is set: leave out the one or the other", settings.Base)
	}
	to := awscall.Endpoint{URL: settings.Base, Region: cfg.Region, SigningName: signing}
	if to.URL == nil {
		suffix := awscall.PartitionOf(cfg.Region).Suffix
		if settings.DualStack {
			suffix = awscall.PartitionOf(cfg.Region).DualStack
		}
		to.URL = &url.URL{Scheme: "https", Host: prefix(settings, cfg.Region) + "." + cfg.Region + "." + suffix}
	}
	return &jsonService{awscall.New(cfg, awscall.Options{}), name, target, to}, nil
}

// call calls an operation, whose answer it reads into out.
func (s *jsonService) call(ctx context.Context, operation string, in, out any) error {
	return s.calls.Do(ctx, &awscall.Call{
		Service: s.name, Operation: operation, Agent: "jobpoller-collector",
		Write: func(_ context.Context, request *smithyhttp.Request) error {
			body, err := json.Marshal(in)
			if err != nil {
				return err
			}
			request.Method, request.URL.Path = http.MethodPost, "/"
			request.Header.Set("Content-Type", "application/x-amz-json-1.0")
			request.Header.Set("X-Amz-Target", s.target+"."+operation)
			sent, err := request.SetStream(bytes.NewReader(body))
			if err != nil {
				return err
			}
			*request = *sent
			return nil
		},
		Endpoint: func(aws.Credentials) (awscall.Endpoint, error) { return s.endpoint, nil },
		Read: func(_ context.Context, answer *smithyhttp.Response, body []byte) error {
			if !awscall.Succeeds(answer) {
				return awscall.ReadRefusal(answer, body)
			}
			if err := json.Unmarshal(body, out); err != nil {
				return &smithy.DeserializationError{Err: fmt.Errorf("%w: %w", awscall.ErrAnswer, err)}
			}
			return nil
		},
	})
}
