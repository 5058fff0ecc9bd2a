package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// runOptions are the flags of "jobpoller run".
type runOptions struct {
	localrun.Options

	definition string // file, "-", or empty for the shipped poller

	input  string
	sample localrun.Sample

	mocks       string
	writeMocks  string // a file, or "-" for standard output
	simulated   answers.Simulated
	statuses    []string
	services    answers.Services
	lambdas     []string
	functions   answers.Functions // of --lambda
	testCase    string
	substitutes []string
}

// validate reports what is wrong with the flags, all at once.
func (o *runOptions) validate(changed func(flag string) bool) error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	template, _, named := strings.Cut(o.definition, "#")
	if !named {
		template = ""
	}
	problems = append(problems, o.sample.Check(), o.Check(o.definition, template, o.mocks, strings.TrimPrefix(o.input, "@")))
	if o.Records.S3Endpoint != "" {
		problems = append(problems, awssettings.CheckEndpoint("s3-endpoint", o.Records.S3Endpoint))
	}
	if o.Records.Bucket != "" {
		if _, err := s3store.New(nil, o.Records.Bucket, handler.DefaultPrefix); err != nil {
			report("--bucket: %w", err)
		}
	}
	problems = append(problems, o.services.Parse(), o.readLambdas(), o.readStatuses(), o.checkMocked(changed))
	problems = append(problems, o.conflicts(changed)...)
	if err := errors.Join(problems...); err != nil {
		return kit.Usage("%w", err)
	}
	o.SetName()
	return nil
}

// readLambdas reads --lambda, and reports what is wrong with it.
func (o *runOptions) readLambdas() (err error) {
	o.functions, err = answers.ReadFunctions(o.lambdas)
	return err
}

// readStatuses reads --status, and reports what is wrong with it.
func (o *runOptions) readStatuses() (err error) {
	o.simulated.Said, err = kit.ReadStatuses(o.statuses)
	o.Views.Said = o.simulated.Said
	return err
}

// addStatuses adds what the settings of the definition say of statuses.
func (o *runOptions) addStatuses(m *source.Machine) (err error) {
	o.simulated.Said, err = kit.SaidOf(m.Definition.File, o.simulated.Said)
	o.Views.Said = o.simulated.Said
	return err
}

// conflicts reports flags that do not go together.
func (o *runOptions) conflicts(changed func(flag string) bool) (problems []error) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.input != "" {
		for _, flag := range localrun.SampleFlags() {
			if changed(flag) {
				report("--%s is for the sample job, and --input has another request: remove one of them", flag)
			}
		}
	}
	if o.definition == kit.Stdin && o.input == kit.Stdin {
		report("only one of the definition and --input can be -, the standard input")
	}
	if o.Records.Data != "" && o.Records.UsesS3() {
		report("--data is for the embedded S3 server, and --s3-endpoint and --bucket are for another: remove one of them")
	}
	if o.Records.Table != "" && o.Records.Bucket != "" {
		report("--table and --bucket are two stores: remove one of them")
	}
	if o.Records.S3Endpoint != "" && o.Records.Bucket == "" {
		report("--s3-endpoint needs --bucket")
	}
	return problems
}

// usesMocks tells whether mocks alone answer the Tasks.
func (o *runOptions) usesMocks() bool {
	return (o.mocks != "" || o.simulated.IsGiven()) && !o.services.IsGiven() && len(o.lambdas) == 0
}

// answersTasks tells whether the flags say what answers the Tasks of the definition.
func (o *runOptions) answersTasks() bool {
	return o.mocks != "" || o.simulated.IsGiven() || len(o.lambdas) > 0 || o.definition != "" && o.services.IsGiven()
}

// checkMocked reports what is wrong with the flags about mocks.
func (o *runOptions) checkMocked(changed func(flag string) bool) error {
	var problems []error
	if o.testCase != "" && o.mocks == "" {
		problems = append(problems, errors.New("--test-case needs --mocks"))
	}
	problems = append(problems, o.simulated.Check(o.mocks))
	if !o.answersTasks() {
		if o.Express {
			problems = append(problems, errors.New("--express needs a definition and its answers, such as --simulate: the shipped poller is a Standard workflow"))
		}
		return errors.Join(problems...)
	}
	by, or := "--mocks", ""
	switch {
	case o.simulated.IsGiven():
		by = "--simulate"
	case len(o.lambdas) > 0:
		by, or = "--lambda", ", or both run-job and check-status, which take the place of the shipped functions"
	}
	switch {
	case o.definition != "":
	case !o.functions.Has(answers.RunJob) || !o.functions.Has(answers.CheckStatus):
		problems = append(problems, fmt.Errorf("%s needs a definition, such as: jobpoller run poller.asl.json --simulate 12m%s", by, or))
	case o.input == "":
		problems = append(problems, errors.New("--lambda run-job needs a request for one of your jobs: pass --input request.json"))
	}
	if o.Virtual && !o.usesMocks() {
		problems = append(problems, errors.New("--virtual is for simulated jobs and mocks: what is called has no virtual time"))
	}
	for _, flag := range localrun.SampleFlags() {
		if changed(flag) {
			problems = append(problems, fmt.Errorf("--%s is for the sample job, and this definition has its own: remove the flag", flag))
		}
	}
	if !o.usesMocks() {
		return errors.Join(problems...)
	}
	for _, flag := range []string{"processes", "s3-endpoint", "bucket", "table"} {
		if changed(flag) {
			problems = append(problems, fmt.Errorf("--%s is for the sample job and its functions, and %s replaces them: remove one of them", flag, by))
		}
	}
	return errors.Join(problems...)
}
