// Package run is "jobpoller run": state machines on this machine.
package run

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

const runHelp = `Run executes a state machine on this machine. Without FILE it runs the shipped
poller (RunJob, Wait, CheckStatus, Choice) on the request of --input; jobpoller demo
runs it on a sample job. The Lambda functions run here, and the start records go to
an embedded S3 server. You need no AWS account. "-" reads standard input.

Functions with drivers of your own take the place of the shipped ones, by the handler
that each is, also without FILE (with --input):
  --lambda run-job=go:./functions --lambda check-status=go:./functions
They answer the Tasks whose function has that Handler in the template, or a name such
as orders-run-job. A function by its own name needs the handler, too, if no template
has it: orders-run-job=go:./functions#run-job.
Each gets the template's variables, those of your shell, and the store of the run:
the embedded S3 server, or that of --data, --bucket or --table. Their calls of S3 go
there, too.

FILE is a definition of yours in JSON or YAML, or in a template: of several, name one
as template.yaml#LogicalId. It can invoke the functions jobpoller-runjob,
jobpoller-checkstatus and jobpoller-sample-job. The collector runs here, too: it
answers Tasks that wait for jobpoller-runjob with a token. The input is that of
--input: JSON or a file. With the ARN of a state machine, a version or an execution,
run CALLS AWS to read its definition, which runs on this machine.

A request can name any job of the Lambda functions. Except for lambda:Invoke and
http:Request, these CALL AWS with your credentials, as the AWS CLI does, and AWS
charges for them. lambda:Invoke reaches only jobpoller-sample-job. http:Request
reaches the hosts of JOBPOLLER_HTTP_HOSTS (and this machine with
JOBPOLLER_HTTP_LOOPBACK=true). With --virtual only lambda:Invoke works.

Tasks of your definition go where the flags say. The most specific name wins: the
state, then the function, the resource, the service, and all services:
  --endpoint-url [SERVICE=]URL  an emulator such as moto, or a service's own URL
  --aws[=SERVICES]              AWS, with your credentials; run says so first
  --lambda NAME=WHAT            a function, by its name or its logical ID in the
                                template: ./bootstrap or go:./cmd/x runs here, if it
                                speaks the Lambda Runtime API, as Go, Rust and custom
                                runtimes do; http://... is a server that invokes it.
                                One without a path gets signed requests: with your
                                keys on this machine and over https, else with made-up
                                ones
  --simulate, --mocks           no call at all, see below
A .sync Task asks for its job until it ends, and stops it if the Task is given up.
No call sends a placeholder ${Name}: run asks for --substitute Name=VALUE first. It
knows AWS::Region, AWS::Partition and the functions of --lambda.

With --name and --data, --redrive goes on with the run of that name where it failed,
as a redrive at AWS does: states that succeeded do not run again. A run that was
killed goes on with the jobs of jobpoller-runjob if you run it again. If its Tasks
called services or functions of yours, run refuses that name and lists the calls.

--simulate SPEC answers the Tasks of your definition without a file: jobs that
jobpoller knows run for a time and end in a status, and other calls of AWS get a
response that fits the model. Jobs of jobpoller-runjob also run so, and send their
EventBridge event to the collector. SPEC is
` + kit.SpecHelp + `

Nobody knows what a Lambda function, an HTTP endpoint or another state machine
returns: run draws the members that your states read, and says so. In a loop the
answers have a status of a job that runs for TIME, and then one of its end, such as
--ends FAILED. Their names say what they mean, or --status does.

--mocks FILE answers Tasks as you say: by state or by resource, with what they
return, how they fail, or how long a job runs. FILE can also be AWS's
MockConfigFile.json. With --simulate, what FILE names wins. The input is {} or that
of --input. The duration of a mocked call ("after") passes in virtual time
only.

--write-mocks FILE runs nothing: it writes what --simulate would answer (without it,
jobs run for 10m and succeed) as a file for --mocks, to be edited. A Task that nobody
but you knows, such as a Lambda function, has a member "todo": write what it returns,
and remove "todo". "-" is standard output.

Run checks the input before it starts: a state that it enters for sure must be able
to use it. Later it checks arguments and responses against the models of the
services, and stops where they do not fit; of what a service answered, it only warns.
--lenient turns that off.

Output: progress goes to stderr, as one live line on a terminal, else as a line
where the status changes; --virtual shows none. The result goes to stdout.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 130 interrupted.`

// New is "jobpoller run".
func New() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [FILE|ARN]",
		Short: "Run a state machine on this machine, in real or virtual time",
		Long:  runHelp,
		Example: `  jobpoller run poller.asl.json --virtual --simulate 12m --ends CANCELLED
  jobpoller run poller.asl.json --virtual --simulate 12m --status 'busy=running,done=success'
  jobpoller run poller.asl.json --endpoint-url http://127.0.0.1:5000 --input '{"sql": "SELECT 1"}'
  jobpoller run poller.asl.json --lambda enrich=go:./cmd/enrich --simulate 0s
  jobpoller run --lambda run-job=go:./functions --lambda check-status=go:./functions --input request.json
  jobpoller run poller.asl.json --simulate 'uniform(5m,30m)' --write-mocks mocks.json
  jobpoller run poller.asl.json --virtual --mocks mocks.json --trace --html report.html
  jobpoller run --virtual --input request.json - <poller.asl.json
  jobpoller run poller.asl.json --input request.json --s3-endpoint http://127.0.0.1:9000 --bucket jobs`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return kit.Usage("expected one definition at most, found %s", kit.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.definition = args[0]
			}
			if o.writeMocks != "" {
				if err := o.checkWriteMocks(c); err != nil {
					return err
				}
				return writeMocks(c, o, "write-mocks")
			}
			if err := o.validate(c.Flags().Changed); err != nil {
				return err
			}
			nameDemo(c, &o)
			if o.answersTasks() {
				return runAnswered(c, o)
			}
			return runFunctions(c, o)
		},
	}
	o.addTo(c)
	return c
}

// addTo gives the command its flags.
func (o *runOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	o.sample.AddTo(c)
	for _, flag := range localrun.SampleFlags() {
		f.Lookup(flag).Hidden = true // for one release: demo has the sample job
	}
	o.AddTo(c)
	f.StringVar(&o.input, "input", "", "`INPUT` of the execution: JSON, a file, or - for standard input; default {}")
	f.StringVar(&o.mocks, "mocks", "", "`FILE` that answers the Tasks of the definition")
	kit.AddSimulated(f, &o.simulated)
	kit.AddStatuses(f, &o.statuses)
	f.StringVar(&o.writeMocks, "write-mocks", "", "`FILE` to write for --mocks, which must be new, instead of a run")
	kit.AddServices(c, &o.services)
	f.StringArrayVar(&o.lambdas, "lambda", nil, "`NAME=WHAT` of a Lambda function to run: ./bootstrap, go:./cmd/x (with #HANDLER) or http://...; repeatable")
	f.BoolVar(&o.Lenient, "lenient", false, "let calls and responses pass that do not fit the services' models")
	f.Uint64Var(&o.Seed, "seed", kit.DefaultSeed, "seed of all that is drawn: a run with the same seed is the same")
	f.StringVar(&o.testCase, "test-case", "", "`CASE` of a MockConfigFile.json to test: \"machine#case\" or \"case\"")
	kit.AddSubstitutes(f, &o.substitutes)
	f.BoolVar(&o.Express, "express", false, "run the definition as an Express workflow")
	f.BoolVar(&o.Redrive, "redrive", false, "go on with the run of --name and --data that failed, where it failed")
	f.StringVar(&o.Records.S3Endpoint, "s3-endpoint", "", "`URL` of an S3 server, instead of the embedded one (with your AWS credentials)")
	f.StringVar(&o.Records.Bucket, "bucket", "", "`BUCKET` that exists, instead of one on the embedded S3 server")
	f.StringVar(&o.Records.Table, "table", "", "`TABLE` of DynamoDB that exists, for start records")
	kit.CompleteNothing(c, "simulate", "ends", "status", "seed", "test-case", "substitute", "s3-endpoint", "bucket", "table", "lambda")
}

// deployed says which AWS has the definition that an ARN names: calls of Step Functions go
// where the flags send them.
func (o *runOptions) deployed() *kit.AwsFlags {
	at, _ := o.services.Places.Of("stepfunctions")
	return &kit.AwsFlags{Profile: o.services.Profile, Endpoint: at.URL()}
}

func (o *runOptions) readDefinition(ctx context.Context, in io.Reader) (*source.Machine, error) {
	if o.definition != "" {
		return kit.ReadMachine(ctx, o.definition, in, o.substitutes, o.deployed())
	}
	return localrun.ReadShipped()
}

// readInput returns the execution input: of the file, or what AWS takes where a start
// names none, or a request for the sample job.
func (o *runOptions) readInput(c *cobra.Command) ([]byte, error) {
	switch {
	case o.input != "":
		return kit.ReadInput(o.input, c.InOrStdin())
	case o.definition != "" && !slices.ContainsFunc(localrun.SampleFlags(), c.Flags().Changed):
		return []byte("{}"), nil
	default:
		return o.sample.Request()
	}
}
