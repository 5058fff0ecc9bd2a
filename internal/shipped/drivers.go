package shipped

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const noVirtualTime = "it calls a real service, which has no virtual time: remove --virtual"

// withoutAWS has no driver of the catalogue's jobs, for a reason.
func withoutAWS(lack string) jobs.Maker {
	return jobs.ByName(func(_ jobs.Environment, name string) (jobs.Driver, error) {
		if _, err := catalog.AWS().Resolve(name); err != nil {
			return nil, fmt.Errorf("%w: %w", jobs.ErrUnknownJob, err)
		}
		return nil, &jobs.NotConfiguredError{Job: name, Lack: lack}
	})
}

// drivers returns those of the Lambda functions, as far as there is what they
// need, and warns of a job that leaves this machine.
func (b *Functions) drivers(stderr io.Writer) (*jobs.Registry, error) {
	invoker := builtin.Invoker(aws.Config{
		BaseEndpoint: aws.String(b.endpoint), Region: sim.DefaultRegion,
		Credentials: credentials.NewStaticCredentialsProvider(b.signers[0].AccessKeyID, b.signers[0].SecretAccessKey, ""),
	})
	makers := []jobs.Maker{
		func(jobs.Environment) (jobs.Driver, error) {
			return lambdajob.New(invoker, b.client, b.bucket, handler.DefaultPrefix+"/jobs"), nil
		},
		func(e jobs.Environment) (jobs.Driver, error) {
			if b.clock.Virtual() {
				return nil, &jobs.NotConfiguredError{Job: httpjob.Name, Lack: noVirtualTime}
			}
			return httpjob.FromEnvironment(e)
		},
		awsjob.Catalogue,
	}
	switch {
	case b.options.Simulated.IsGiven():
		makers[2] = b.simulateDrivers()
	case b.clock.Virtual():
		makers[2] = withoutAWS(noVirtualTime)
	case b.awsErr != nil:
		makers[2] = withoutAWS("AWS configuration: " + b.awsErr.Error())
	}
	job := b.options.Job
	registry, err := jobs.Build(jobs.Environment{
		AWS: b.aws, S3: b.client, Bucket: b.bucket, Prefix: handler.DefaultPrefix, Jobs: append(slices.Clone(b.options.jobs), job), Getenv: os.Getenv,
	}, makers...)
	if err != nil {
		return nil, commandline.Errorf("%w", err)
	}
	if _, err := registry.Driver(job); errors.Is(err, jobs.ErrNotConfigured) {
		return nil, commandline.Errorf("%w", err)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(b.options.jobs), job)))) {
		if _, err := registry.Driver(name); err == nil && name != lambdajob.Name {
			if err := b.announce(stderr, name); err != nil {
				return nil, err
			}
		}
	}
	return registry, nil
}

// announce says where the calls of a job go, unless the flags name a URL.
func (b *Functions) announce(stderr io.Writer, job string) error {
	if b.options.Simulated.IsGiven() {
		return nil
	}
	base := ""
	if key, _, _ := strings.Cut(job, ":"); job != httpjob.Name {
		service, err := models.Load(key)
		if err != nil {
			return err
		}
		if at, named := b.options.Services.Places.Of(service.Key); named && !at.IsAWS() {
			return nil
		}
		if base, err = awssettings.BaseOf(&b.aws, service.Name); err != nil {
			return commandline.Errorf("%w", err)
		}
	}
	if base == "" {
		terminal.Fprintf(stderr, "%s calls the real service\n", job)
	} else {
		terminal.Fprintf(stderr, "%s calls %s instead of AWS, as AWS_ENDPOINT_URL or the AWS configuration says\n", job, base)
	}
	return nil
}

// RequestJob is the job that the input asks for; an input that is not a request
// is for the sample job or for no job at all.
func RequestJob(input []byte) string {
	request := struct {
		Job string `json:"job"`
	}{lambdajob.Name}
	if json.Unmarshal(input, &request) != nil {
		return lambdajob.Name
	}
	return request.Job
}

// JobsIn are the jobs that a definition asks the functions for by name.
func JobsIn(definition string) []string {
	var found []string
	for _, match := range jobMember().FindAllStringSubmatch(definition, -1) {
		found = append(found, match[1])
	}
	return found
}

// jobMember is the member of a request that names a job of the catalogue.
var jobMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"job":\s*"([\w-]+:\w+)"`) })
