package cdkapp

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// LimitBy is what bounds the wait of a [FunctionPoller].
type LimitBy string

// What bounds the wait of a [FunctionPoller].
const (
	// LimitByTime is a deadline that the state machine keeps: MaxWait after RunJob
	// has returned, or after the last redrive. CheckStatus says how long to wait
	// before the next poll; the last poll is at the deadline.
	LimitByTime LimitBy = "TIME"
	// LimitByCount is a number of checks that the state machine counts: the shipped
	// definition lambda-loop-count. The input says it (maxWaitCount, waitSeconds).
	LimitByCount LimitBy = "COUNT"
)

// FunctionPoller is a state machine around two Lambda functions of your own: one
// starts a job, the other is asked in a loop how it is.
//
// Both get the context object of the execution, or an event with it
// (docs/reference/shipped.md), and return at least {"status": "RUNNING", "waitSeconds": 20,
// "reason": "..."}; the status is RUNNING, SUCCEEDED, FAILED or TIMED_OUT. With
// LimitByTime the context object has besides MaxWaitSeconds for RunJob, and StartedAt
// and Deadline for CheckStatus. RunJob
// may be invoked again for the same execution, and must not start a second job
// then. Handlers made with package lambdas/handler keep to that.
type FunctionPoller interface {
	JobPoller
	// Store keeps the start records.
	Store() RecordStore
}

// FunctionPollerProps are the props of a [FunctionPoller]. RunJob and CheckStatus
// are required; what is not said here is as in [JobPollerProps].
type FunctionPollerProps struct {
	// RunJob starts a job, and CheckStatus says how it is. Their timeout should be
	// at most 55 seconds, for a state waits 60.
	//
	// Give versions that are kept, such as CurrentVersion with the RemovalPolicy
	// RETAIN, so that an execution has the same functions from its start to its end.
	RunJob, CheckStatus awslambda.IFunction
	// StopJob stops a job whose time is over, with LimitByTime. It gets what
	// CheckStatus gets, and the last answer of CheckStatus as Result; its return value is
	// ignored. Default: the job is left alone, unless CheckStatus stops it.
	StopJob awslambda.IFunction
	// LimitBy is what bounds the wait. Default: LimitByTime.
	LimitBy LimitBy
	// Store keeps start records, and both functions may read and write them. Default:
	// a [RecordBucket]. Its name, the prefix of its keys and how long it keeps records
	// are in the variables JOBPOLLER_BUCKET or JOBPOLLER_TABLE, JOBPOLLER_PREFIX and
	// JOBPOLLER_RETENTION_DAYS of the functions, unless they are imported. Functions of
	// another stack need a store that is not in this one.
	Store RecordStore
	// PreviousStore is the store of before, after Store was changed: both functions
	// may read and write it, and its name is in variables that begin with
	// JOBPOLLER_PREVIOUS_. Default: none.
	PreviousStore RecordStore
	// MaxWait is how long the job may take. The input of an execution can say less
	// with maxWaitSeconds, and with LimitByCount says it alone. Records are kept for
	// longer. Default: as much as the store's Retention allows.
	MaxWait awscdk.Duration

	StateMachineProps *awsstepfunctions.StateMachineProps
	LogRetention      awslogs.RetentionDays
	TracingEnabled    *bool
	EncryptionKey     awskms.IKey
	Alarms            *bool
	AlarmActions      *[]awscloudwatch.IAlarmAction
	Dashboard         *bool
	RemovalPolicy     awscdk.RemovalPolicy
	Outputs           *bool
}

// machineProps are the props about the state machine.
func (p *FunctionPollerProps) machineProps() *JobPollerProps {
	return &JobPollerProps{
		StateMachineProps: p.StateMachineProps, LogRetention: p.LogRetention,
		TracingEnabled: p.TracingEnabled, EncryptionKey: p.EncryptionKey,
		Alarms: p.Alarms, AlarmActions: p.AlarmActions, Dashboard: p.Dashboard, RemovalPolicy: p.RemovalPolicy, Outputs: p.Outputs,
	}
}

// NewFunctionPoller puts two functions of your own behind a loop. It panics with
// an [*Error] if a prop cannot be used.
func NewFunctionPoller(scope constructs.Construct, id *string, props *FunctionPollerProps) FunctionPoller {
	in := place(scope, id)
	if props == nil {
		props = &FunctionPollerProps{}
	}
	machineProps := props.machineProps()
	p := &jobPoller{machine: props.machine(in, machineProps), store: props.Store}
	constructs.NewConstruct_Override(p, scope, id)
	if p.store == nil {
		p.store = NewRecordBucket(p, new("Records"), &RecordBucketProps{
			MaxWait: props.MaxWait, EncryptionKey: props.EncryptionKey, RemovalPolicy: props.RemovalPolicy,
		})
	}
	p.share(in, "RunJob", props.RunJob, props.PreviousStore)
	p.share(in, "CheckStatus", props.CheckStatus, props.PreviousStore)
	p.invoke(p.own("RunJob", runJobKey, props.RunJob), p.own("CheckStatus", checkStatusKey, props.CheckStatus), p.own("StopJob", stopJobKey, props.StopJob))
	if props.StopJob != nil {
		p.share(in, "StopJob", props.StopJob, props.PreviousStore)
	}
	p.deploy(machineProps)
	return p
}

// machine is what the props ask for. It refuses props that cannot be used, all at once.
func (p *FunctionPollerProps) machine(in where, props *JobPollerProps) (m *machine) {
	checkAll(
		func() { props.check(in) },
		func() { props.checkRetention(in, false) },
		func() { in.checkFunction("RunJob", p.RunJob) },
		func() { in.checkFunction("CheckStatus", p.CheckStatus) },
		func() {
			if p.StopJob != nil {
				in.checkFunction("StopJob", p.StopJob)
			}
		},
		func() { in.precedes(p.PreviousStore, p.Store) },
		func() { p.checkLimit(in) },
		func() {
			longest := in.wholeSeconds("MaxWait", p.MaxWait)
			if p.Store != nil {
				in.fits(p.Store, longest)
			}
			if longest == 0 && p.LimitBy != LimitByCount {
				longest = p.longestKept()
			}
			m = (&polling{where: in, Job: p.loop(longest)}).machine()
			m.useProps(in, p.StateMachineProps, longest)
		},
	)
	return m
}

// own is a function of the user's; nil stands for none.
func (p *jobPoller) own(id, key string, function awslambda.IFunction) invoked {
	f := invoked{id: id, key: key, function: function, alarms: p, failing: true}
	if function != nil {
		f.arn, f.granted = function.FunctionArn(), []string{*function.FunctionArn()}
		if of := findFunction(function); of != function {
			f.granted = withVersions([]string{*of.FunctionArn()})
		}
	}
	return f
}

func (p *FunctionPollerProps) checkLimit(in where) {
	switch p.LimitBy {
	case "", LimitByTime:
	case LimitByCount:
		if p.StopJob != nil {
			in.refuse("StopJob", "with LimitByCount nothing stops the job: leave it out, or use LimitByTime")
		}
	default:
		in.refuse("LimitBy", "it must be %q or %q, is %q", LimitByTime, LimitByCount, p.LimitBy)
	}
}

// longestKept is the longest wait that the store keeps records for.
func (p *FunctionPollerProps) longestKept() time.Duration {
	kept := defaultRetention
	if p.Store != nil {
		kept = p.Store.keeps()
	}
	return min(kept-asl.RedriveWindow-day, asl.MaxStandardTime)
}

// loop is the definition around the functions.
func (p *FunctionPollerProps) loop(longest time.Duration) Job {
	if p.LimitBy == LimitByCount {
		return JobFromShipped(new("lambda-loop-count"))
	}
	definition := loopFor(longest, p.StopJob != nil)
	return JobFromDefinition(&definition)
}

// checkFunction refuses a function that its state does not wait for.
func (p where) checkFunction(prop string, function awslambda.IFunction) {
	if function == nil {
		p.refuse(prop, "it is required: give a Lambda function")
	}
	if f, ok := findFunction(function).(awslambda.Function); ok && f.Timeout() != nil {
		if timeout := p.duration(prop, f.Timeout()); timeout > maxTimeout {
			p.refuse(prop, "the function may take %s, but its state waits only 60 seconds: give it a Timeout of at most %s", timeout, maxTimeout)
		}
	}
}

// findFunction is the function that has the version or alias, if it is one.
func findFunction(function awslambda.IFunction) awslambda.IFunction {
	switch f := function.(type) {
	case awslambda.IAlias:
		return f.Version().Lambda()
	case awslambda.IVersion:
		return f.Lambda()
	default:
		return function
	}
}

// share lets a function use the stores, and tells it where they are.
func (p *jobPoller) share(in where, prop string, function awslambda.IFunction, previous RecordStore) {
	if f, ok := findFunction(function).(awslambda.Function); ok { // it is not imported
		if !sameStack(f, p) && sameStack(p.store, p) {
			in.refuse("Store", "%s is in another stack, which cannot refer to a store in this one: "+
				"give a store in the stack of the function", prop)
		}
		for name, value := range storeEnvironment(p.store, previous) {
			f.AddEnvironment(&name, value, nil)
		}
	}
	p.store.GrantRecords(function)
	if previous != nil {
		previous.GrantRecords(function)
	}
}
