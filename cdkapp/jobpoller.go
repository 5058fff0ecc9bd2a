package cdkapp

import (
	"fmt"
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
	// Dashboard is nil unless it was asked for.
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
	// Strategy is how the state machine polls. Default: compile.Variables.
	Strategy compile.Strategy
	// MaxWait is how long the job may take, in whole seconds.
	MaxWait awscdk.Duration
	// MinDelay and MaxDelay are the bounds of the delay between polls, which
	// grows from one to the other. Default: the waiter's; the longest of these
	// counts up to a minute.
	MinDelay, MaxDelay awscdk.Duration
	// InitialDelay is waited before the first poll. Default: none.
	InitialDelay awscdk.Duration
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
	// Fit lengthens MinDelay until the events suffice. Default: false.
	Fit *bool

	// StateMachineName is the name of the state machine. Default: CloudFormation
	// makes one.
	StateMachineName *string
	// StateMachineType can only be STANDARD, which is the default.
	StateMachineType awsstepfunctions.StateMachineType
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
	// LogLevel is which events are logged. Default: ALL.
	LogLevel awsstepfunctions.LogLevel
	// IncludeExecutionData tells whether inputs and outputs are logged. Default:
	// false.
	IncludeExecutionData *bool
	// LogRetention is how long logs are kept. Default: ONE_MONTH.
	LogRetention awslogs.RetentionDays
	// TracingEnabled sends traces to X-Ray. Default: true.
	TracingEnabled *bool
	// EncryptionKey encrypts the state machine, its data and logs. Default: a key
	// of AWS's.
	EncryptionKey awskms.IKey
	// Alarms tells whether there are alarms. Default: true.
	Alarms *bool
	// AlarmActions are what the alarms do. Default: nothing.
	AlarmActions *[]awscloudwatch.IAlarmAction
	// Dashboard makes a dashboard. Default: false, because one costs 3 dollars a
	// month.
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
		MaxWait: p.MaxWait, MinDelay: p.MinDelay, MaxDelay: p.MaxDelay, InitialDelay: p.InitialDelay,
		Arguments: p.Arguments, Start: p.Start, OnTimeout: p.OnTimeout, CausePatterns: p.CausePatterns, Output: p.Output, Events: p.Events, Fit: p.Fit,
	}
}

type jobPoller struct {
	constructs.Construct

	machine      *machine
	stateMachine awsstepfunctions.StateMachine
	alias        awsstepfunctions.CfnStateMachineAlias
	role         awsiam.Role
	logGroup     awslogs.ILogGroup
	key          awskms.IKey // nil if a key of AWS's encrypts it
	functions    Functions
	store        RecordStore // of a FunctionPoller
	invoked      []invoked
	alarms       []awscloudwatch.Alarm
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
	if m.waitsForCallback() {
		p.functions.announce(p, m.jobs, m.arguments)
		p.functions.answer(p, *p.StateMachineArn(), p.key)
	}
	return p
}

// check refuses props that are not about the wait.
func (p *JobPollerProps) check(in where) {
	checkAll(func() { p.checkType(in) }, func() {
		if p.AlarmActions != nil && !orElse(p.Alarms, true) {
			in.refuse("AlarmActions", "Alarms is false, so no alarm can act: leave one of the two out")
		}
	}, func() {
		if p.LogLevel == awsstepfunctions.LogLevel_OFF && orElse(p.IncludeExecutionData, false) {
			in.refuse("IncludeExecutionData", "LogLevel is OFF, so nothing is logged: leave one of the two out")
		}
	}, func() {
		if p.LogLevel == awsstepfunctions.LogLevel_OFF && p.LogRetention != "" {
			in.refuse("LogRetention", "LogLevel is OFF, so nothing is logged: leave one of the two out")
		}
	})
}

func (p *JobPollerProps) checkType(in where) {
	switch p.StateMachineType {
	case "", awsstepfunctions.StateMachineType_STANDARD:
	case awsstepfunctions.StateMachineType_EXPRESS:
		in.refuse("StateMachineType", "it must be STANDARD: an Express execution ends after 5 minutes, may run twice and start the job again, "+
			"and cannot be redriven; leave it out")
	default:
		in.refuse("StateMachineType", "it must be %q, is %q", awsstepfunctions.StateMachineType_STANDARD, p.StateMachineType)
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
	p.makeRole()
	p.makeLogGroup(props)
	p.makeStateMachine(props)
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
	switch {
	case m.auto && !m.throughFunctions(): // another signal would have used them
		m.settleRole(in, props)
	case props.Store != nil && !m.throughFunctions():
		in.refuse("Store", "it keeps the records of Lambda functions, and the state machine invokes none: leave it out, or take %s", functionWays)
	case props.Store != nil && given != nil:
		in.refuse("Store", "Functions has a store already: leave one of the two out")
	case !m.throughFunctions() && given != nil:
		in.refuse("Functions", "the state machine invokes none: leave it out, or take %s", functionWays)
	case !m.throughFunctions():
		m.settleRole(in, props)
	case m.waitsForCallback() && props.Store != nil && props.Store.Table() == nil:
		in.refuse("Store", "the collector finds a record by its job, which a bucket cannot: give what NewRecordTable returns")
	case m.waitsForCallback() && given != nil && given.Collector() == nil:
		in.refuse("Functions", "they have no collector, which answers the Task that waits: give NewFunctions Collector true, or take another Signal")
	case given == nil && (m.open || len(m.jobs) == 0):
		in.refuse("Functions", "the definition does not say which jobs its functions run, and for how long: "+
			"pass what NewFunctions returns, with the jobs in its prop Jobs")
	case given != nil && props.Grants != nil:
		in.refuse("Grants", "the functions call the service, with roles of their own: give the statements to NewFunctions")
	case given != nil && props.Resources != nil:
		in.refuse("Resources", "the functions call the service, with roles of their own: narrow these in the prop Resources of NewFunctions")
	case given != nil:
		allowed := texts(given.Jobs())
		for _, job := range m.jobs {
			if !slices.Contains(allowed, job) {
				in.refuse("Functions", "they cannot run the job %s: add it to the prop Jobs of NewFunctions, which has %s", job, strings.Join(allowed, ", "))
			}
		}
		in.fits(given.Store(), m.maxWait)
	case props.Store != nil:
		in.fits(props.Store, m.maxWait)
	}
}

// settleRole narrows what the role of the state machine itself may do.
func (m *machine) settleRole(in where, props *JobPollerProps) {
	m.narrowed = in.narrowResources(m.needed, m.unnamed, props.Resources)
	m.granted = orElse(props.Grants, nil)
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
			LogRetention: props.LogRetention, TracingEnabled: props.TracingEnabled,
			EncryptionKey: props.EncryptionKey, Store: props.Store, RemovalPolicy: props.RemovalPolicy,
			Collector: new(p.machine.waitsForCallback()),
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

func (p *jobPoller) makeStateMachine(props *JobPollerProps) {
	name := props.StateMachineName
	var encryption awsstepfunctions.EncryptionConfiguration
	if props.EncryptionKey != nil {
		encryption = awsstepfunctions.NewCustomerManagedEncryptionConfiguration(props.EncryptionKey, nil)
		if name == nil {
			// The CDK lets the role use the key for the state machine of this name.
			name = awscdk.Names_UniqueResourceName(p, &awscdk.UniqueResourceNameOptions{
				MaxLength: new(80.0), AllowedSpecialCharacters: new("-_"), Separator: new("-"),
			})
			awscdk.Annotations_Of(p).AddWarningV2(new("jobpoller:encryptionKey"), new(fmt.Sprintf(
				"with EncryptionKey the name of the state machine is %s: this deployment replaces one that was deployed without a key, "+
					"and its executions cannot be redriven; give StateMachineName from the first deployment on", *name)))
		}
	}
	var logs *awsstepfunctions.LogOptions
	if p.logGroup != nil {
		level := props.LogLevel
		if level == "" {
			level = awsstepfunctions.LogLevel_ALL
		}
		logs = &awsstepfunctions.LogOptions{Destination: p.logGroup, Level: level, IncludeExecutionData: new(orElse(props.IncludeExecutionData, false))}
	}
	values := map[string]*string{}
	for _, f := range p.invoked {
		values[f.key] = f.arn
	}
	if p.machine.invokes(partitionKey) {
		values[partitionKey] = awscdk.Stack_Of(p).Partition()
	}
	p.stateMachine = awsstepfunctions.NewStateMachine(p, new("StateMachine"), &awsstepfunctions.StateMachineProps{
		DefinitionBody:          awsstepfunctions.DefinitionBody_FromString(&p.machine.definition),
		DefinitionSubstitutions: &values,
		EncryptionConfiguration: encryption,
		Logs:                    logs,
		Role:                    p.role,
		StateMachineName:        name,
		StateMachineType:        awsstepfunctions.StateMachineType_STANDARD,
		TracingEnabled:          new(orElse(props.TracingEnabled, true)),
	})
	p.releaseMachine()
}

func (p *jobPoller) output(id, description string, value *string) {
	awscdk.NewCfnOutput(p, &id, &awscdk.CfnOutputProps{Value: value, Description: &description})
}
