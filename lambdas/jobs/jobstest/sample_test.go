package jobstest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// newService is a service that runs samples, protected as the class says.
func newService(class jobs.Class) jobstest.JSONService {
	samples := jobstest.NewJobs("RUNNING")
	byID := func(in map[string]any) (jobstest.Job, error) {
		id, _ := in["Id"].(string)
		job, ok := samples.ByID(id)
		if class == jobs.ByNaturalKey {
			job, ok = samples.ByKey(id)
		}
		if !ok {
			return job, jobstest.Refusal{Code: "NotFoundException", Message: "no such sample", Status: http.StatusNotFound}
		}
		return job, nil
	}
	return jobstest.JSONService{Jobs: samples, Version: "1.0", Target: "Sample", Operations: map[string]func(map[string]any) (any, error){
		"StartSample": func(in map[string]any) (any, error) {
			token, _ := in["Token"].(string)
			var job jobstest.Job
			var err error
			switch class {
			case jobs.ByToken:
				job, err = samples.Start(token, in, jobstest.Refusal{Code: "MismatchException"})
			case jobs.ByNaturalKey:
				job, err = samples.Create(token, in, jobstest.Refusal{Code: "ExistsException"})
				job.ID = token
			case jobs.NoProtection:
				job, err = samples.Start("", in, jobstest.Refusal{})
			}
			return map[string]any{"Id": job.ID}, err
		},
		"GetSample": func(in map[string]any) (any, error) {
			job, err := byID(in)
			return map[string]any{"Sample": map[string]any{"State": job.Status, "Began": "2026-11-20T09:30:00Z", "Why": "out of ink"}}, err
		},
		"ListSamples": func(in map[string]any) (any, error) {
			ids, _ := in["Ids"].([]any)
			found := []any{}
			for _, id := range slices.Backward(ids) {
				job, err := byID(map[string]any{"Id": id})
				if err == nil {
					found = append(found, map[string]any{"Id": id, "State": job.Status, "Began": "2026-11-20T09:30:00Z", "Why": "out of ink"})
				}
			}
			return map[string]any{"Samples": found}, nil
		},
		"StopSample": func(in map[string]any) (any, error) {
			job, err := byID(in)
			if err == nil && job.Status != "RUNNING" {
				err = jobstest.Refusal{Code: "EndedException"}
			}
			if err == nil {
				samples.SetJobStatus(job.ID, "STOPPED")
			}
			return map[string]any{}, err
		},
	}}
}

// arguments are those of a sample.
type arguments struct {
	Text   *string `json:"Text,omitempty"`
	Token  *string `json:"Token,omitempty"`
	Copies *int32  `json:"Copies,omitempty"`
}

// described is what a sample's service says of it.
type described struct {
	Sample struct {
		State, Why string
		Began      time.Time
		VPCState   string // VpcState in the output
	}
}

// sample is a driver with one defect, or none.
type sample struct {
	endpoint string
	client   aws.HTTPClient
	class    jobs.Class
	defect   string
	last     atomic.Value // ID of the last job, a string, for defects that keep it
}

func maker(class jobs.Class, defect string) jobs.Maker {
	return func(e jobs.Environment) (jobs.Driver, error) {
		d := &sample{endpoint: *e.AWS.BaseEndpoint, client: e.AWS.HTTPClient, class: class, defect: defect}
		if class == jobs.ByNaturalKey && defect != "Find: none" {
			return namedSample{d}, nil
		}
		return d, nil
	}
}

func (d *sample) Name() string {
	if d.defect == "Name: no service" {
		return "StartSample"
	}
	return "sample:StartSample"
}

func (d *sample) Waiter() *pollcore.Waiter {
	state := pollcore.Output("Sample.State")
	success, failure := pollcore.Succeed(state.Is("DONE")), pollcore.FailWithMessage(state.Is("FAILED"), "Sample.Why")
	switch d.defect {
	case "Waiter: a member that is not there":
		return pollcore.MustNew("Sample", success, failure, pollcore.Fail(pollcore.Output("Sample.Status").Is("STOPPED")))
	case "Waiter: the spelling of the SDK for Go":
		return pollcore.MustNew("Sample", success, failure, pollcore.Fail(pollcore.Output("Sample.VPCState").Is("gone")))
	case "Statuses: one is forgotten":
		return pollcore.MustNew("Sample", success, failure)
	case "Statuses: what is new is a failure":
		return pollcore.MustNew("Sample", success, pollcore.Again(state.Is("RUNNING")), pollcore.FailWithMessage(pollcore.AnyResponse(), "Sample.Why"))
	case "Life: no reason":
		failure = pollcore.Fail(state.Is("FAILED"))
	}
	return pollcore.MustNew("Sample", success, failure, pollcore.Fail(state.Is("STOPPED")), pollcore.Fail(pollcore.Output("Sample.VpcState").Is("gone")))
}

func (d *sample) Idempotency(jobs.Request) jobs.Idempotency {
	if d.class == jobs.ByToken || d.defect == "Token: a window of another class" {
		return jobs.Idempotency{Class: d.class, Window: time.Hour}
	}
	return jobs.Idempotency{Class: d.class}
}

func (d *sample) Permissions() []access.Permission {
	permissions := []access.Permission{
		{Action: "sample:StartSample", For: access.ForStart, Resource: "*"},
		{Action: "sample:GetSample", For: access.ForDescribe, Resource: "arn:${Partition}:sample:${Region}:${Account}:sample/${Id}"},
		{Action: "sample:ListSamples", For: access.ForBatch, Resource: "*"},
		{Action: "sample:StopSample", For: access.ForStop, Resource: "*"},
		{Action: "sample:GetSample", For: access.ForStop, Resource: "*"},
		{Action: "paper:Use", For: access.ForStart, Resource: "*", Dependent: true},
	}
	if d.class == jobs.ByNaturalKey {
		permissions = append(permissions, access.Permission{Action: "sample:GetSample", For: access.ForFind, Resource: "*"})
	}
	switch d.defect {
	case "Permissions: one is missing":
		permissions = permissions[1:]
	case "Permissions: for another method":
		permissions[1].For = access.ForStart
	case "Permissions: one too many":
		permissions = append(permissions, access.Permission{Action: "sample:DeleteSample", For: access.ForStop, Resource: "*"})
	case "Permissions: a wildcard":
		permissions = append(permissions, access.Permission{Action: "sample:*", For: access.ForStart, Resource: "*"})
	case "Permissions: no ARN":
		permissions[0].Resource = "sample"
	}
	return permissions
}

func (d *sample) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[arguments](d.Name(), r.Arguments, jobs.Require("Text"), jobs.Reserve("Token"))
	switch d.defect {
	case "Arguments: read loosely":
		in = new(arguments)
		if err = json.Unmarshal(r.Arguments, in); err != nil {
			err = fmt.Errorf("%w of %s: %w", jobs.ErrArguments, d.Name(), err)
		}
	case "Arguments: nothing is required":
		in, err = jobs.Arguments[arguments](d.Name(), r.Arguments, jobs.Reserve("Token"))
	case "Arguments: nothing is reserved":
		in, err = jobs.Arguments[arguments](d.Name(), r.Arguments, jobs.Require("Text"))
	case "Arguments: an error of another kind":
		if err != nil {
			err = errors.New(err.Error())
		}
	case "Arguments: sent all the same":
		if err != nil {
			_, _ = d.call(ctx, "StartSample", map[string]any{})
		}
	case "Canceled: goes on":
		ctx = context.WithoutCancel(ctx)
	}
	if err != nil {
		return nil, err
	}
	in.Token = &r.Token
	if d.defect == "Token: does not reach the service" {
		in.Token = aws.String("constant")
	}
	out, err := d.call(ctx, "StartSample", in)
	if err != nil && d.defect == "StartHidesNothing: starts again" && goerror.Classify(err).MayHaveActed() {
		out, err = d.call(ctx, "StartSample", in)
	}
	if coded, ok := errors.AsType[serviceError](err); ok && coded.code == "ExistsException" && d.defect != "Token: no adoption" {
		return jobs.Ref{"Id": r.Token}, nil
	}
	switch {
	case err != nil && d.defect == "StartErrors: told in words":
		return nil, errors.New(err.Error())
	case err != nil && d.defect == "StartLosesAnswer: taken for a refusal" && goerror.Classify(err).MayHaveActed():
		return nil, serviceError{http.StatusBadRequest, "LostException"}
	case err != nil:
		return nil, err
	}
	id, _ := out["Id"].(string)
	d.last.Store(id)
	if d.defect == "Ref: kept in memory" {
		return jobs.Ref{"Id": "the last"}, nil
	}
	return jobs.Ref{"Id": id}, nil
}

// namedSample is a driver whose jobs have the token as their name.
type namedSample struct{ *sample }

func (d namedSample) Find(ctx context.Context, r jobs.Request) (jobs.Ref, bool, error) {
	_, err := d.call(ctx, "GetSample", map[string]any{"Id": r.Token})
	coded, ok := errors.AsType[serviceError](err)
	switch {
	case ok && coded.code == "NotFoundException", d.defect == "Find: never":
		return nil, false, nil
	case err != nil && d.defect == "Find: no errors":
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return jobs.Ref{"Id": r.Token}, true, nil
}

func (d *sample) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	id := ref["Id"]
	if d.defect == "Ref: kept in memory" || d.defect == "UnknownRef: describes the last job" {
		id, _ = d.last.Load().(string)
	}
	out, err := d.call(ctx, "GetSample", map[string]any{"Id": id})
	switch {
	case err != nil && d.defect == "UnknownRef: a success":
		return map[string]any{"Sample": map[string]any{"State": "DONE"}}, nil
	case err != nil && d.defect == "DescribeErrors: told in words":
		return nil, errors.New(err.Error())
	case err != nil:
		return nil, err
	}
	switch members, _ := out["Sample"].(map[string]any); d.defect {
	case "Output: a null":
		members["Owner"] = nil
	case "Output: a Go number":
		members["Copies"] = 1
	case "Output: another case":
		members["owner"] = "x"
	case "Output: no timestamp":
		members["Began"] = json.Number("1795167000")
	}
	return out, nil
}

func (d *sample) Batch(jobs.Ref) (jobs.Batch, error) {
	return jobs.Batch{Group: "all", Size: 1, Max: 10}, nil
}

func (d *sample) DescribeBatch(ctx context.Context, refs []jobs.Ref) ([]any, error) {
	var ids []string
	for _, ref := range refs {
		ids = append(ids, ref["Id"])
	}
	out, err := d.call(ctx, "ListSamples", map[string]any{"Ids": ids})
	if err != nil && d.defect != "Batch: no errors" {
		return nil, err
	}
	outputs := make([]any, len(refs))
	found, _ := out["Samples"].([]any)
	for n, one := range found {
		members, _ := one.(map[string]any)
		for i, id := range ids {
			if members["Id"] == id || d.defect == "Batch: a wrong job" && outputs[i] == nil {
				outputs[i] = map[string]any{"Sample": map[string]any{"State": members["State"], "Began": members["Began"], "Why": members["Why"]}}
			}
		}
		if d.defect == "Batch: in the order of the service" {
			outputs[n] = map[string]any{"Sample": members}
		}
	}
	return outputs, nil
}

func (d *sample) Stop(ctx context.Context, ref jobs.Ref) error {
	if d.defect == "Stop: nothing happens" {
		_, err := d.call(ctx, "GetSample", map[string]any{"Id": ref["Id"]})
		return err
	}
	_, err := d.call(ctx, "StopSample", map[string]any{"Id": ref["Id"]})
	switch d.defect {
	case "StopEnded: refused":
		return err
	case "StopErrors: none":
		_, _ = d.Describe(ctx, ref)
		return nil
	}
	return jobs.StopResult(ctx, d, ref, err)
}

// call makes a call of the service.
func (d *sample) call(ctx context.Context, operation string, in any) (map[string]any, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "Sample."+operation)
	response, err := d.client.Do(request)
	if err != nil {
		return nil, &smithyhttp.RequestSendError{Err: err}
	}
	defer response.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		code, _ := out["__type"].(string)
		return nil, serviceError{response.StatusCode, code}
	}
	return out, nil
}

// serviceError is an error that the service answers with.
type serviceError struct {
	status int
	code   string
}

func (e serviceError) Error() string       { return e.code }
func (e serviceError) ErrorCode() string   { return e.code }
func (e serviceError) HTTPStatusCode() int { return e.status }
