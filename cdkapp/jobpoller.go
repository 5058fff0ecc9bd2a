package cdkapp

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// JobPoller is a state machine that waits for a job, with all that it needs.
type JobPoller interface {
	constructs.Construct
	// StateMachine is the state machine.
	StateMachine() awsstepfunctions.StateMachine
	// StateMachineArn is its ARN.
	StateMachineArn() *string
	// Alias is "live": the version of the state machine that was deployed last.
	// Versions stay, each with the versions of the functions that it invokes.
	Alias() awsstepfunctions.CfnStateMachineAlias
	// Role is what the state machine runs as.
	Role() awsiam.IRole
	// LogGroup is where its events are logged; nil with the log level OFF.
	LogGroup() awslogs.ILogGroup
	// Functions are the Lambda functions; nil if the state machine invokes none.
	Functions() Functions
	// Alarms are the alarms on the state machine and its functions.
	Alarms() *[]awscloudwatch.Alarm
	// Dashboard is the one of the stack, with a section for this poller; nil unless it
	// was asked for.
	Dashboard() awscloudwatch.Dashboard
	// Definition is the definition with its placeholders, such as ${Partition}.
	Definition() *string
	// Report says what an execution costs; nil if the job is a definition that
	// was not compiled here.
	Report() *compile.Report
	// GrantStartExecution allows to start an execution, of the state machine and of
	// its alias.
	GrantStartExecution(grantee awsiam.IGrantable) awsiam.Grant
	// GrantRead allows to see executions and their results, which an EncryptionKey
	// decrypts then.
	GrantRead(grantee awsiam.IGrantable) awsiam.Grant
	// GrantRedrive allows to redrive executions, where the report says that a
	// redrive goes on.
	GrantRedrive(grantee awsiam.IGrantable) awsiam.Grant
}

// JobPollerProps say what a [JobPoller] waits for, and how. Job and MaxWait are
// required; a Job that is a definition says itself how it waits, and takes none of
// the props from Signal to Fit.
type JobPollerProps struct {
	// Job is what is waited for.
	Job Job
	// Signal is how the state machine learns that the job has ended. Default:
	// SignalPoll.
	Signal Signal
	// Strategy is how the state machine polls. Default: compile.Compile chooses.
	Strategy compile.Strategy
	// MaxWait is how long the job may take, in whole seconds.
	MaxWait awscdk.Duration
	// MinDelay and MaxDelay are the bounds of the delay between polls, which
	// grows from one to the other. Default: the waiter's; the longest of these
	// counts up to a minute.
	MinDelay, MaxDelay awscdk.Duration
	// InitialDelay is waited before the first poll. Default: none.
	InitialDelay awscdk.Duration
	// Schedule has all delays instead: pollcore.ParsePlanned reads it from a file.
	// Default: none.
	Schedule *pollcore.Planned
	// Arguments are those of the call that starts the job, or of the polled one if
	// the machine starts none, with members as SDK integrations spell them: in
	// PascalCase, and DbInstanceIdentifier for DBInstanceIdentifier. Strings can be tokens, or expressions of the query language of
	// the strategy. Default: the input of the execution.
	Arguments *map[string]any
	// Start tells whether the state machine starts the job. Default: true for a job
	// of the catalogue; a waiter does not say how.
	Start *bool
	// OnTimeout is what becomes of a job whose time is over. Default: it is
	// stopped, if the catalogue has a call that does.
	OnTimeout OnTimeout
	// CausePatterns tell errors apart whose codes Step Functions does not pass on:
	// a text that the Cause has, by code (docs/guide/compile.md). Default: none.
	CausePatterns *map[string]*string
	// Output is a JMESPath expression over the response of the polled call, in the
	// model's spelling: what the result has as its output instead of all of it. No
	// result can have more than 256 KiB. Default: all.
	Output *string
	// Events is the poller's share of the 25,000 events of an execution. Default:
	// compile.DefaultEvents.
	Events *float64
	// Fit lengthens also a MinDelay and a MaxDelay that are given until the events
	// suffice. Default: false. Delays that you do not give always grow.
	Fit *bool

	// StateMachineProps are props of the CDK for the state machine, which win over the
	// defaults. A Role gets the statements that are needed. Logs without a Destination go
	// to a log group that is made here, with the Level ALL and without execution data.
	// Timeout takes the place of the definition's TimeoutSeconds. A definition, an Express
	// type and what other props here say is refused.
	StateMachineProps *awsstepfunctions.StateMachineProps
	// FunctionProps are those of functions that are made here, as in [FunctionsProps].
	FunctionProps *awslambda.FunctionProps
	// Functions are the Lambda functions, which several pollers can share.
	// Default: made here, if the definition invokes them.
	Functions Functions
	// Store keeps the start records of functions that are made here. Default: a
	// [RecordBucket] of their own, or for SignalEvents what [NewRecordTable] makes.
	Store RecordStore
	// Resources are ARNs by IAM action: the role, or those of functions that are made
	// here, allow the action on these alone. None leaves the action out. Default: what
	// literal Arguments name. It is required for what the input of the execution
	// chooses.
	Resources *map[string]*[]*string
	// Grants are statements that the same roles get besides. Default: none.
	Grants *[]awsiam.PolicyStatement
	// LogRetention is how long new log groups keep logs. Default: ONE_MONTH.
	LogRetention awslogs.RetentionDays
	// TracingEnabled sends traces to X-Ray. Default: true.
	TracingEnabled *bool
	// EncryptionKey encrypts the state machine, its data and logs. Default: a key
	// of AWS's.
	EncryptionKey awskms.IKey
	// Alarms tells whether there are alarms. Default: true.
	Alarms *bool
	// AlarmActions are what the alarms do, also those of shared functions that another
	// poller of the stack made. Default: nothing.
	AlarmActions *[]awscloudwatch.IAlarmAction
	// Dashboard adds a section to the dashboard of the stack. Default: false, because that
	// costs 3 dollars a month.
	Dashboard *bool
	// RemovalPolicy is what becomes of logs and start records when they are removed
	// from the stack. Default: DESTROY for logs, RETAIN for records.
	RemovalPolicy awscdk.RemovalPolicy
	// Outputs adds CfnOutputs with the ARN of the state machine and the name of the
	// log group. Default: false.
	Outputs *bool
}

func (p *JobPollerProps) polling(in where) *polling {
	return &polling{
		where: in,
		Job:   p.Job, Signal: p.Signal, Strategy: p.Strategy, collected: canCollect(p.Functions, p.Store),
		MaxWait: p.MaxWait, MinDelay: p.MinDelay, MaxDelay: p.MaxDelay, InitialDelay: p.InitialDelay, Schedule: p.Schedule,
		Arguments: p.Arguments, Start: p.Start, OnTimeout: p.OnTimeout, CausePatterns: p.CausePatterns, Output: p.Output, Events: p.Events, Fit: p.Fit,
	}
}

type jobPoller struct {
	constructs.Construct

	machine      *machine
	stateMachine awsstepfunctions.StateMachine
	alias        awsstepfunctions.CfnStateMachineAlias
	role         awsiam.IRole
	logGroup     awslogs.ILogGroup
	key          awskms.IKey // nil if a key of AWS's encrypts it
	functions    Functions
	store        RecordStore // of a FunctionPoller
	invoked      []invoked
	alarms       []awscloudwatch.Alarm
	shared       []awscloudwatch.Alarm // of the functions, which another poller made
	dashboard    awscloudwatch.Dashboard
}

// invoked is a function that the definition invokes.
type invoked struct {
	id, key  string // the key is that of its placeholder
	function awslambda.IFunction
	arn      *string  // that the definition names
	granted  []string // that the role may invoke
	// alarms is what has the alarms on it, and failing tells that its errors are
	// failures. JobPoller.Running is none, though Lambda counts it.
	alarms  constructs.Construct
	failing bool
}

// NewJobPoller makes a state machine that waits for a job. It panics with an
// [*Error] if a prop cannot be used.
func NewJobPoller(scope constructs.Construct, id *string, props *JobPollerProps) JobPoller {
	if props == nil {
		props = &JobPollerProps{}
	}
	in := place(scope, id)
	var m *machine
	checkAll(func() { props.check(in) }, func() {
		m = props.polling(in).machine()
		m.settle(in, props)
	})

	p := &jobPoller{machine: m}
	constructs.NewConstruct_Override(p, scope, id) // so that p itself is the construct
	warn(p, m.report)
	m.inform(p)
	m.warnUnnamed(p)
	p.makeFunctions(props)
	p.deploy(props)
	if m.waitsForCallback {
		p.functions.announce(p, m.jobs, m.arguments)
		p.functions.answer(p, *p.StateMachineArn(), p.key)
	}
	return p
}

// check refuses props that are not about the wait.
func (p *JobPollerProps) check(in where) {
	checkAll(func() { in.checkMachineProps(p.StateMachineProps) }, func() {
		if p.AlarmActions != nil && !orElse(p.Alarms, true) {
			in.refuse("AlarmActions", "Alarms is false, so no alarm can act: leave one of the two out")
		}
	}, func() { in.checkFunctionProps(p.FunctionProps) })
}

// logs say what is logged, as far as it is given.
func (p *JobPollerProps) logs() awsstepfunctions.LogOptions {
	return orElse(orElse(p.StateMachineProps, awsstepfunctions.StateMachineProps{}).Logs, awsstepfunctions.LogOptions{})
}

// checkRetention refuses a LogRetention where no log group is made, of the machine or of
// functions that are made with it.
func (p *JobPollerProps) checkRetention(in where, functions bool) {
	if logs := p.logs(); p.LogRetention == "" || logs.Level != awsstepfunctions.LogLevel_OFF && logs.Destination == nil {
		return
	}
	if passed := orElse(p.FunctionProps, awslambda.FunctionProps{}); !functions || passed.LogGroup != nil {
		in.refuse("LogRetention", "it is for a new log group, but StateMachineProps.Logs has a Destination or the Level OFF: leave one of the two out")
	}
}

func (p *jobPoller) StateMachine() awsstepfunctions.StateMachine  { return p.stateMachine }
func (p *jobPoller) StateMachineArn() *string                     { return p.stateMachine.StateMachineArn() }
func (p *jobPoller) Alias() awsstepfunctions.CfnStateMachineAlias { return p.alias }
func (p *jobPoller) Role() awsiam.IRole                           { return p.role }
func (p *jobPoller) LogGroup() awslogs.ILogGroup                  { return p.logGroup }
func (p *jobPoller) Functions() Functions                         { return p.functions }
func (p *jobPoller) Store() RecordStore                           { return p.store }
func (p *jobPoller) Alarms() *[]awscloudwatch.Alarm               { return &p.alarms }
func (p *jobPoller) Dashboard() awscloudwatch.Dashboard           { return p.dashboard }
func (p *jobPoller) Definition() *string                          { return &p.machine.definition }
func (p *jobPoller) Report() *compile.Report                      { return p.machine.report }

func (p *jobPoller) GrantStartExecution(grantee awsiam.IGrantable) awsiam.Grant {
	granted := p.stateMachine.GrantStartExecution(grantee)
	return granted.Combine(allow(grantee, []string{*p.alias.AttrArn()}, nil, "states:StartExecution"))
}

func (p *jobPoller) GrantRead(grantee awsiam.IGrantable) awsiam.Grant {
	granted := p.stateMachine.GrantRead(grantee)
	if p.key != nil {
		of := map[string]any{"kms:EncryptionContext:aws:states:stateMachineArn": p.StateMachineArn()}
		granted = granted.Combine(allow(grantee, []string{*p.key.KeyArn()}, map[string]map[string]any{"StringEquals": of}, "kms:Decrypt"))
	}
	return granted
}

func (p *jobPoller) GrantRedrive(grantee awsiam.IGrantable) awsiam.Grant {
	return p.stateMachine.GrantRedriveExecution(grantee)
}

// deploy makes the state machine and what stands around it.
func (p *jobPoller) deploy(props *JobPollerProps) {
	p.key = props.EncryptionKey
	needs := p.makeRole(props)
	p.makeLogGroup(props)
	p.makeStateMachine(props)
	p.warnRole(props, needs)
	p.machine.warnLimit(p)
	if orElse(props.Alarms, true) {
		p.makeAlarms(props.AlarmActions)
	}
	if orElse(props.Dashboard, false) {
		p.makeDashboard()
	}
	if orElse(props.Outputs, false) {
		p.output("StateMachineArn", "ARN of the state machine", p.StateMachineArn())
		if p.logGroup != nil {
			p.output("LogGroupName", "Log group of the state machine", p.logGroup.LogGroupName())
		}
	}
}

// settle narrows the policy of a machine that calls services itself, and checks
// the functions of one that does not.
func (m *machine) settle(in where, props *JobPollerProps) {
	given := props.Functions
	checkAll(func() {
		switch {
		case m.auto && !m.throughFunctions(): // another signal would have used them
			m.settleRole(in, props)
		case !m.throughFunctions():
			checkAll(func() {
				in.refuseGiven(map[string]bool{"Functions": given != nil, "FunctionProps": props.FunctionProps != nil, "Store": props.Store != nil},
					"it is for Lambda functions, and the state machine invokes none: leave it out, or take %s", functionWays)
			}, func() { m.settleRole(in, props) })
		case m.waitsForCallback && props.Store != nil && props.Store.Table() == nil:
			in.refuse("Store", "the collector finds a record by its job, which a bucket cannot: give what NewRecordTable returns")
		case m.waitsForCallback && given != nil && given.Collector() == nil:
			in.refuse("Functions", "they have no collector, which answers the Task that waits: give NewFunctions Collector true, or take another Signal")
		case given == nil && (m.open || len(m.jobs) == 0):
			in.refuse("Functions", "the definition does not say which jobs its functions run, and for how long: "+
				"pass what NewFunctions returns, with the jobs in its prop Jobs")
		case given == nil && props.Store != nil:
			in.fits(props.Store, m.maxWait)
		case given != nil:
			m.checkFunctions(in, props)
		}
	}, func() {
		if m.throughFunctions() && given == nil {
			m.settleFunctions(props)
		}
	}, func() { props.checkRetention(in, m.throughFunctions() && given == nil) }, func() {
		m.useProps(in, props.StateMachineProps, max(m.maxWait, in.wholeSeconds("MaxWait", props.MaxWait)))
	})
}

// checkFunctions refuses functions that cannot run the jobs, and props that are theirs.
func (m *machine) checkFunctions(in where, props *JobPollerProps) {
	checkAll(func() {
		in.refuseGiven(map[string]bool{
			"FunctionProps": props.FunctionProps != nil, "Grants": props.Grants != nil,
			"Resources": props.Resources != nil, "Store": props.Store != nil,
		}, "Functions is given, which have a store and roles of their own: give this to NewFunctions")
	}, func() {
		allowed := texts(props.Functions.Jobs())
		for _, job := range m.jobs {
			if !slices.Contains(allowed, job) {
				in.refuse("Functions", "they cannot run the job %s: add it to the prop Jobs of NewFunctions, which has %s", job, strings.Join(allowed, ", "))
			}
		}
	}, func() { in.fits(props.Functions.Store(), m.maxWait) })
}

// settleRole narrows what the role of the state machine itself may do.
func (m *machine) settleRole(in where, props *JobPollerProps) {
	m.narrowed = in.narrowResources(m.needed, m.unnamed, props.Resources)
	m.granted = orElse(props.Grants, nil)
}

// settleFunctions finds what the roles of functions that are made here may do on more than
// one execution needs.
func (m *machine) settleFunctions(props *JobPollerProps) {
	m.unnamed, m.narrowed = unnamed{}, map[string][]string{}
	for _, job := range m.jobs {
		if needed, err := permissionsOf(job, m.arguments); err == nil { // else NewFunctions refuses the job
			maps.Copy(m.unnamed, needed.wide)
		}
	}
	for action, arns := range orElse(props.Resources, nil) {
		m.narrowed[action] = texts(arns)
	}
}

// makeFunctions makes the functions, if they are needed and not given.
func (p *jobPoller) makeFunctions(props *JobPollerProps) {
	if !p.machine.throughFunctions() {
		return
	}
	p.functions = props.Functions
	made := p.functions == nil
	if made {
		of := &FunctionsProps{
			Jobs: pointers(p.machine.jobs), Resources: props.Resources, Grants: props.Grants, MaxWait: awscdk.Duration_Seconds(new(p.machine.maxWait.Seconds())),
			FunctionProps: props.FunctionProps, LogRetention: props.LogRetention, TracingEnabled: props.TracingEnabled,
			EncryptionKey: props.EncryptionKey, Store: props.Store, RemovalPolicy: props.RemovalPolicy,
			Collector: new(p.machine.waitsForCallback),
		}
		if passed := props.FunctionProps; passed != nil && passed.LogGroup != nil {
			of.LogRetention = "" // that of the state machine's log
		}
		if props.Store != nil {
			of.RemovalPolicy = "" // it has one of its own
		}
		p.functions = newFunctions(p, new("Functions"), of, p.machine.arguments)
	}
	runJob, checkStatus := p.functions.releases()
	shipped := func(id, key string, r released, failing bool) invoked {
		return invoked{id, key, r.Function, r.arnFor(p), withVersions([]string{*r.FunctionArn()}), p.functions, failing}
	}
	p.invoke(
		shipped("RunJob", runJobKey, runJob, true),
		shipped("CheckStatus", checkStatusKey, checkStatus, made && p.machine.strategy.UsesFunctions() && !p.machine.strategy.PollsByRetry()),
	)
}

// invoke keeps those functions that the definition invokes.
func (p *jobPoller) invoke(functions ...invoked) {
	p.invoked = slices.DeleteFunc(functions, func(f invoked) bool { return !p.machine.invokes(f.key) })
}

func (p *jobPoller) output(id, description string, value *string) {
	awscdk.NewCfnOutput(p, &id, &awscdk.CfnOutputProps{Value: value, Description: &description})
}
