// Package serve is "jobpoller serve": Step Functions' API on this machine.
package serve

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

const serveHelp = `Serve answers the API of AWS Step Functions on this machine, for SDKs, the AWS CLI,
Terraform and every other client. State machines and executions are in memory, unless
you pass --data. You need no AWS account.

It prints the URL of its page. Point clients there in one of two ways:
  eval "$(jobpoller serve --print-env)"   in the shell of the client
  jobpoller serve -- pytest tests/        runs a command with that environment, and
                                          ends with its exit code

Only programs of this machine reach it, unless you pass --listen. It refuses pages of
other sites, and hosts that are neither loopback names nor those of --host.

It is open to every user of this machine, as emulators are: whoever connects can
read and run what you serve. It acts with your rights if you pass --aws, --data,
--lambda with a program, or --listen, --endpoint-url or --forward with another
machine. Then it takes only requests that are signed with its keys. It draws them at
the start: the command after -- and --print-env have them, and a file that only you
can read. JOBPOLLER_SECRET_ACCESS_KEY replaces the drawn secret. The page opens by
the address with a token that serve prints on your terminal.

--time says how fast the clock goes:
  real     as this machine's (default)
  virtual  it jumps to the next timer when nothing runs: an execution ends at once
  x60      60 times as fast, or any other factor
  manual   it stands until a client moves it
Histories have the times of that clock. Any program can move it, of an open server:
  curl -H 'Content-Type: application/json' -d '{"advance": "10m"}' \
    http://127.0.0.1:8083/_jobpoller/clock

Tasks go where the flags say, as those of run. The most specific name wins: the
state, then the function, the resource, the service, and all services:
  --lambda NAME=WHAT            a function: ./bootstrap, go:./cmd/x or http://...
                                (run-job=go:./functions is one with drivers of your
                                own, see jobpoller run --help)
  --lambda-endpoint URL         a server that invokes the other functions, such as
                                sam local start-lambda (or the variable LAMBDA_ENDPOINT).
                                Your keys sign for one on this machine or over https,
                                made-up ones for any other
  --endpoint-url [SERVICE=]URL  an emulator, or a service's own URL
  --aws[=SERVICES]              AWS, with your credentials, which AWS charges for
  --simulate, --mocks           no call at all
A Task that waits with a token waits until a client sends it back. A Task that
nothing answers fails, and its cause says which flag answers it.
SPEC of --simulate is
` + kit.SpecHelp + `
--status says what statuses of functions, HTTP APIs and other machines mean, as for
run, and which findings of --watch are right.
--mocks FILE has the form of jobpoller run --mocks. --mock-config FILE is AWS's
MockConfigFile.json (or the variables SFN_MOCK_CONFIG, LOCALSTACK_SFN_MOCK_CONFIG):
start an execution of STATE_MACHINE_ARN#TestCase to use it.

--watch loads the state machines of a definition, a template, a folder or cdk.out, by
the names of their files or logical IDs, and again when a file changes. They are in
the region of --region or of your AWS settings. A template says which are Express
workflows; for other files, pass --express or --express=NAMES.

--forward URL sends every request that is not for Step Functions to another server,
such as moto or LocalStack: then AWS_ENDPOINT_URL serves all services. Tasks that no
other flag names call it, too.

--events-to URL posts each change of an execution's status as EventBridge sends it.
If the receiver is too slow, an event of the source jobpoller tells it how many it
lost.

--limits aws throttles clients as AWS does in the region of the request.

Exit codes: 0 ended by a signal; 1 failed; 2 wrong usage; that of the command.`

// New is "jobpoller serve".
func New() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [-- COMMAND ARGS]",
		Short: "Serve the Step Functions API on this machine, with a clock and a page",
		Long:  serveHelp,
		Example: `  jobpoller serve --watch statemachines/ --simulate 10m --time virtual
  jobpoller serve --lambda enrich=go:./cmd/enrich --watch template.yaml
  jobpoller serve --forward http://127.0.0.1:5000
  jobpoller serve --time manual --port 0 -- pytest tests/
  eval "$(jobpoller serve --print-env)"`,
		Args: func(c *cobra.Command, args []string) error {
			before := len(args)
			if at := c.ArgsLenAtDash(); at >= 0 {
				before = at
			}
			if before > 0 {
				return kit.Usage("serve takes no argument %q: name state machines with --watch, and put -- before a command", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.command = args
			if err := o.validate(os.Getenv); err != nil {
				return err
			}
			if o.printEnv {
				if err := o.awaitServer(c.Context()); err != nil {
					return err
				}
				printEnvironment(c.OutOrStdout(), o.clientEnvironment(c.Context(), os.Getenv))
				return nil
			}
			return runServe(c, &o)
		},
	}
	o.addTo(c)
	return c
}

// serveOptions are the flags of "jobpoller serve".
type serveOptions struct {
	port    int
	listen  string
	hosts   []string
	time    string
	command []string

	printEnv       bool
	quiet, verbose bool

	watch       []string
	express     []string // names of state machines, or everyDefinition
	substitutes []string
	forward     string
	limits      string
	data        string
	eventsTo    string

	lambdas        []string
	functions      answers.Functions // of --lambda
	lambdaEndpoint string
	services       answers.Services
	simulated      answers.Simulated
	statuses       []string
	mocks          []string
	mockConfig     string
	seed           uint64

	clock clockMode

	// access is what the server asks for; nil if it is open.
	access     *access
	accessFile string // that has it; empty for none
}

const (
	// servePort is that of Step Functions Local.
	servePort = 8083
	// drainTime is how long requests may take to end when the server does.
	drainTime = 10 * time.Second
	// postTime is how long events may then take to be sent.
	postTime = 5 * time.Second
)

func (o *serveOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&o.port, "port", servePort, "`PORT` to listen at; 0 is a free one")
	f.StringVar(&o.listen, "listen", "", "`ADDRESS` that other machines can reach, such as 0.0.0.0")
	f.StringArrayVar(&o.hosts, "host", nil, "`NAME[:PORT]` by which clients call the server, beside the loopback names; repeatable")
	f.StringVar(&o.time, "time", "real", "real, virtual, manual, or a factor such as x60")
	f.BoolVar(&o.printEnv, "print-env", false, "print the environment of clients for a shell, and serve nothing")
	f.StringArrayVar(&o.watch, "watch", nil, "`NAME` of a definition, template, folder or cdk.out whose state machines are loaded; repeatable")
	f.StringSliceVar(&o.express, "express", nil, "`NAMES` of definitions of --watch that are Express workflows; all with --express alone")
	f.Lookup("express").NoOptDefVal = everyDefinition
	kit.AddSubstitutes(f, &o.substitutes)
	f.StringVar(&o.forward, "forward", "", "`URL` of the server that gets the requests for other services")
	f.StringVar(&o.data, "data", "", "`FOLDER` that keeps everything, also if the server is killed, instead of memory")
	kit.SetOwn(c, "data")
	f.StringVar(&o.limits, "limits", "", "`aws` to throttle by the quotas of AWS")
	f.StringVar(&o.eventsTo, "events-to", "", "`URL` that gets the executions' status changes as events, or events=URL by PutEvents")
	f.StringArrayVar(&o.lambdas, "lambda", nil, "`NAME=WHAT` of a Lambda function to run: ./bootstrap, go:./cmd/x (with #HANDLER) or http://...; repeatable")
	f.StringVar(&o.lambdaEndpoint, "lambda-endpoint", "", "`URL` of a server that invokes all other Lambda functions")
	kit.AddServices(c, &o.services)
	kit.AddSimulated(f, &o.simulated)
	kit.AddStatuses(f, &o.statuses)
	f.StringArrayVar(&o.mocks, "mocks", nil, "`FILE` that answers Tasks; repeatable")
	f.StringVar(&o.mockConfig, "mock-config", "", "`FILE` in the form of AWS's MockConfigFile.json")
	f.Uint64Var(&o.seed, "seed", kit.DefaultSeed, "seed of all that is drawn")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "log nothing")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every event, and the functions' logs")
	kit.CompleteWords(c, "time", "real", "virtual", "manual", "x60")
	kit.CompleteWords(c, "limits", "aws")
	kit.Must(c.MarkFlagDirname("data"))
	kit.CompleteNothing(c, "port", "listen", "host", "substitute", "forward", "events-to", "express", "lambda", "lambda-endpoint",
		"simulate", "ends", "status", "seed")
}
