package shipped

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// packages are the packages of the two Lambda functions by function name.
var packages = map[string]string{
	statemachines.RunJobFunction:      lambdabuild.RunJob,
	statemachines.CheckStatusFunction: lambdabuild.CheckStatus,
}

// startProcesses builds the two functions and puts each behind a local Runtime
// API.
func (b *Functions) startProcesses(ctx context.Context, log io.Writer) error {
	dir, err := os.MkdirTemp("", "jobpoller-")
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() error { return os.RemoveAll(dir) })
	source, err := lambdabuild.Folder(ctx)
	if err != nil {
		return fmt.Errorf("--processes needs the go command, and the jobpoller module in the current folder or among its dependencies: %w", err)
	}
	env, err := b.environment()
	if err != nil {
		return err
	}
	b.handlers = map[string]sim.LambdaFunction{}
	for name, pkg := range packages {
		binary := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			binary += ".exe"
		}
		if err := lambdabuild.Executable(ctx, source, pkg, lambdabuild.Host(), binary); err != nil {
			return err
		}
		function, err := runtimeapi.New(runtimeapi.Config{
			Name: name, Binary: binary, Env: env, Timeout: localloop.Timeout, Log: log,
		})
		if err != nil {
			return err
		}
		b.closers = append(b.closers, function.Close)
		b.handlers[name] = localloop.Process(function)
	}
	return nil
}

// environment is the environment of the functions: what is on this machine, the
// user's settings of http:Request, and those of AWS if a job or the store needs
// them.
func (b *Functions) environment() ([]string, error) {
	env := []string{
		"AWS_ACCESS_KEY_ID=" + b.signers[0].AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + b.signers[0].SecretAccessKey,
		"AWS_EC2_METADATA_DISABLED=true", "AWS_REGION=" + sim.DefaultRegion,
	}
	if b.options.needsAWS() {
		env = nil
		for _, variable := range os.Environ() {
			if strings.HasPrefix(variable, "AWS_") {
				env = append(env, variable)
			}
		}
		// As the Lambda service sets them, of whatever profile they are.
		env = append(env, "AWS_REGION="+b.aws.Region, "AWS_ACCESS_KEY_ID="+b.credentials.AccessKeyID,
			"AWS_SECRET_ACCESS_KEY="+b.credentials.SecretAccessKey, "AWS_SESSION_TOKEN="+b.credentials.SessionToken)
	}
	env, err := b.options.Services.Places.Environ(env)
	if err != nil {
		return nil, err
	}
	env = append(env, "AWS_ENDPOINT_URL_LAMBDA="+b.endpoint)
	for _, name := range []string{httpjob.EnvHosts, httpjob.EnvLoopback} {
		env = append(env, name+"="+os.Getenv(name))
	}
	url := b.options.Records.S3Endpoint
	if b.server != nil {
		url = b.server.URL()
	}
	return answers.SetStore(env, b.storeAt(url)), nil
}
