package cdkapp

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
)

const (
	// collectorBatch is how many messages one invocation of the collector gets at most, and
	// collectorWindow how long they are gathered.
	collectorBatch  = 100
	collectorWindow = 5 * time.Second
	// defaultConcurrency and those below are of the batches that are collected at once.
	defaultConcurrency = 10
	minConcurrency     = 2 // of Lambda
	maxConcurrency     = 1000
	// maxReceives is how often a message is delivered: for half an hour, with the default
	// Timeout.
	maxReceives = 10
	// queueRetention is shorter than that of the dead-letter queue, because SQS counts
	// both from when the message was sent.
	queueRetention      = 7 * day
	deadLetterRetention = 2 * queueRetention // the longest of SQS
	// visibilityTimeouts is how many timeouts of the function a message stays invisible
	// (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html).
	visibilityTimeouts = 6
)

// collector is the function that answers Tasks which wait, with its queues.
type collector struct {
	function          awslambda.Function
	queue, deadLetter awssqs.Queue
	rules             []rule
}

// rule is a rule of EventBridge, and the construct that it is in.
type rule struct {
	in      constructs.Construct
	pattern map[string]any
}

// collects tells whether there is a collector.
func (f *functions) collects() bool { return orElse(f.props.Collector, false) }

// checkCollector refuses props of the collector that cannot be used.
func (f *functions) checkCollector() {
	if !f.collects() {
		for prop, given := range map[string]bool{"CollectorCode": f.props.CollectorCode != nil, "CollectorConcurrency": f.props.CollectorConcurrency != nil} {
			if given {
				f.in.refuse(prop, "there is no collector: give Collector true, or leave it out")
			}
		}
		return
	}
	if f.props.Store != nil && f.props.Store.Table() == nil {
		f.in.refuse("Store", "the collector finds a record by its job, which a bucket cannot: give what NewRecordTable returns")
	}
	if at := f.concurrency(); at < minConcurrency || at > maxConcurrency || at != float64(int(at)) {
		prop := "CollectorConcurrency"
		if f.props.CollectorConcurrency == nil {
			prop = "FunctionProps.ReservedConcurrentExecutions"
		}
		f.in.refuse(prop, "the collector needs a whole number from %d to %d, found %v", minConcurrency, maxConcurrency, at)
	}
	if reserved := f.passed.ReservedConcurrentExecutions; reserved != nil && f.concurrency() > *reserved {
		f.in.refuse("CollectorConcurrency", "it is more than FunctionProps.ReservedConcurrentExecutions, %v: Lambda would throttle the rest", *reserved)
	}
}

// concurrency is how many batches are collected at once.
func (f *functions) concurrency() float64 {
	otherwise := min(defaultConcurrency, orElse(f.passed.ReservedConcurrentExecutions, defaultConcurrency))
	return orElse(f.props.CollectorConcurrency, otherwise)
}

// makeQueues makes the queue of the collector, and that of the messages which it cannot
// read, for the rules of this account.
func (f *functions) makeQueues() {
	if !f.collects() {
		return
	}
	encryption := awssqs.QueueEncryption_SQS_MANAGED
	if f.props.EncryptionKey != nil {
		encryption = awssqs.QueueEncryption_KMS
	}
	queue := func(id string, retention time.Duration, props awssqs.QueueProps) awssqs.Queue {
		props.Encryption, props.EncryptionMasterKey, props.EnforceSSL = encryption, f.props.EncryptionKey, new(true)
		props.RetentionPeriod, props.RemovalPolicy = days(retention), awscdk.RemovalPolicy_DESTROY
		made := awssqs.NewQueue(f, &id, &props)
		made.AddToResourcePolicy(f.fromRules(*made.QueueArn(), "ArnLike", "aws:SourceArn", *rulesOf(f), "sqs:SendMessage"))
		return made
	}
	f.collector = &collector{deadLetter: queue("DeadLetters", deadLetterRetention, awssqs.QueueProps{})}
	visible := visibilityTimeouts*f.in.duration("FunctionProps.Timeout", f.propsOf(collectorFunction).Timeout) + collectorWindow
	f.collector.queue = queue("Waits", queueRetention, awssqs.QueueProps{
		VisibilityTimeout: awscdk.Duration_Seconds(new(visible.Seconds())),
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: f.collector.deadLetter, MaxReceiveCount: new(float64(maxReceives))},
	})
	if key := f.props.EncryptionKey; key != nil {
		// It cannot name rules, which name the queue, which names the key.
		statement := f.fromRules(anyResource, "StringEquals", "aws:SourceAccount", *awscdk.Stack_Of(f).Account(), "kms:Decrypt", "kms:GenerateDataKey")
		if !*key.AddToResourcePolicy(statement, new(true)).StatementAdded {
			awscdk.Annotations_Of(f).AddWarningV2(new("jobpoller:keyPolicy"), new(
				"the EncryptionKey belongs to another app: its policy must allow events.amazonaws.com to use the key, else no event reaches the collector"))
		}
	}
}

// fromRules lets EventBridge do something for rules of this account.
func (f *functions) fromRules(resource, operator, key, value string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: pointers(actions), Resources: pointers([]string{resource}),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(new("events.amazonaws.com"), nil)},
		Conditions: &map[string]any{operator: map[string]any{key: value}},
	})
}

// rulesOf are the rules of the account and the region of a stack. Those of pollers in
// other stacks are among them, to which this one cannot refer.
func rulesOf(scope constructs.Construct) *string {
	return awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{Service: new("events"), Resource: new("rule"), ResourceName: new("*")})
}

// tell adds the queue to the environment of a function. It returns the statements that
// let it send messages; none without a queue.
func (f *functions) tell(plain map[string]*string) (environment map[string]*string, sends []awsiam.PolicyStatement) {
	environment = maps.Clone(plain)
	if f.collector == nil {
		return environment, nil
	}
	environment[envQueueURL] = f.collector.queue.QueueUrl()
	sends = append(sends, allowOn(*f.collector.queue.QueueArn(), nil, "sqs:SendMessage"))
	if key := f.props.EncryptionKey; key != nil {
		sends = append(sends, allowOn(*key.KeyArn(), nil, "kms:Decrypt", "kms:GenerateDataKey"))
	}
	return environment, sends
}

// allowOn is a statement of a role.
func allowOn(resource string, conditions *map[string]any, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: pointers(actions), Resources: pointers([]string{resource}), Conditions: conditions,
	})
}

// makeCollector makes the function behind the queue.
func (f *functions) makeCollector(
	needed []permission, narrowed map[string][]string, environment map[string]*string, sends []awsiam.PolicyStatement,
) {
	c := f.collector
	if c == nil {
		return
	}
	receives := allowOn(*c.queue.QueueArn(), nil, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
	c.function = f.function(collectorFunction, f.props.CollectorCode, needed, narrowed, environment, append(sends, receives)...)
	awslambda.NewEventSourceMapping(f, new("Messages"), &awslambda.EventSourceMappingProps{
		Target: c.function, EventSourceArn: c.queue.QueueArn(),
		BatchSize: new(float64(collectorBatch)), MaxBatchingWindow: awscdk.Duration_Seconds(new(collectorWindow.Seconds())),
		MaxConcurrency: new(f.concurrency()), ReportBatchItemFailures: new(true),
	})
}

// answer lets the collector answer Tasks of state machines whose key is not nil if they
// are encrypted. The documentation knows no resource of the actions; Step Functions checks
// them on the state machine all the same, without the version of an execution.
func (f *functions) answer(scope constructs.Construct, machine string, key awskms.IKey) {
	all := []awsiam.PolicyStatement{allowOn(machine, nil, "states:SendTaskSuccess", "states:SendTaskFailure")}
	if key != nil {
		context := map[string]any{"kms:EncryptionContext:aws:states:stateMachineArn": machine}
		all = append(all, allowOn(*key.KeyArn(), &map[string]any{"StringEquals": context}, "kms:Decrypt", "kms:GenerateDataKey"))
	}
	role := f.collector.function.Role()
	switch {
	case !isChangeable(role):
		warnUnchanged(scope, role, collectorFunction.title(), actionsOf(all))
	case f.passed.Role != nil, // run-job waits for its policies, and the state machine for run-job
		!sameStack(f, scope): // to which this stack cannot refer
		awsiam.NewPolicy(scope, new("Answers"), &awsiam.PolicyProps{Statements: &all, Roles: &[]awsiam.IRole{role}})
	default:
		addStatements(role, all...)
	}
}

// announce sends the collector the events of the end of jobs that are started with these
// arguments, which are nil if they are not known. Each rule sends an event once more, so
// pollers share one with the functions, or in a stack where arguments narrow it.
func (f *functions) announce(scope constructs.Construct, jobs []string, arguments map[string]any) {
	for _, named := range eventsOf(jobs) {
		event := named.Job.Event
		if event.Switch != "" && arguments[event.Switch] != true {
			awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:event"), new(
				"AWS sends the event of the job's end only to who starts it with "+event.Switch+" = true: say so in Arguments, or the collector polls alone"))
		}
		pattern := named.Job.EventPattern(arguments)
		in := scope // arguments may refer to resources of its stack
		if reflect.DeepEqual(pattern, named.Job.EventPattern(nil)) {
			in = f
		}
		f.listen(in, named.FullName, pattern)
	}
	for _, job := range jobs {
		if source, ok := f.driver(job).(EventSource); ok {
			f.listen(f, job, source.EventPattern())
		}
	}
}

// listen sends the collector the events of the end of a job, once.
func (f *functions) listen(in constructs.Construct, job string, pattern map[string]any) {
	same := func(r rule) bool { return sameStack(r.in, in) && reflect.DeepEqual(r.pattern, pattern) }
	if slices.ContainsFunc(f.collector.rules, same) {
		return
	}
	f.collector.rules = append(f.collector.rules, rule{in, pattern})
	awsevents.NewCfnRule(in, new("Ended"+strings.ReplaceAll(job, ":", "-")), &awsevents.CfnRuleProps{
		Description:  new("Tells the collector of jobpoller that a job of " + job + " has ended"),
		EventPattern: pattern,
		Targets: &[]any{&awsevents.CfnRule_TargetProperty{
			Id: new("Collector"), Arn: f.collector.queue.QueueArn(),
			DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: f.collector.deadLetter.QueueArn()},
		}},
	})
}

// backlogAge is when the collector is late for sure, in seconds: a message may be 15
// minutes old when it is due, for SQS does not say that it counts from the end of the
// delay. Tasks end 20 minutes after the deadline.
const backlogAge = 20 * 60

// alarmCollector makes the alarms on the collector and its queues.
func (f *functions) alarmCollector(scope constructs.Construct, options *awscloudwatch.MetricOptions, watch watch) {
	c := f.collector
	if c == nil {
		return
	}
	oldest := *options
	oldest.Statistic = new("Maximum")
	watch(scope, "CollectorThrottles", "Lambda throttled the collector: ends of jobs are seen late", c.function.MetricThrottles(options), 1)
	watch(scope, "CollectorErrors", "The collector fails, so that ends of jobs are seen late", c.function.MetricErrors(options), enoughErrors)
	watch(scope, "CollectorBacklog", "Messages wait for the collector, and ends of jobs are seen late: see docs/guide/operate.md",
		c.queue.MetricApproximateAgeOfOldestMessage(&oldest), backlogAge)
	watch(scope, "CollectorDeadLetters", "The collector cannot read a message, or an event did not reach it: see docs/guide/operate.md",
		c.deadLetter.MetricApproximateNumberOfMessagesVisible(&oldest), 1)
}
