package cdkapp

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// ShippedStack is a stack with definitions that jobpoller ships, each as a
// [JobPoller]. The context of the app says which, and how (docs/guide/cdk-app.md).
type ShippedStack interface {
	awscdk.Stack
	// Pollers are those that are deployed, by the names of their definitions.
	Pollers() map[string]JobPoller
	// Functions are what the pollers share; nil if none invokes them.
	Functions() Functions
}

// The context of a [ShippedStack]. Lists are separated by commas.
const (
	// contextJobs are the names of the definitions, or "all".
	contextJobs = "jobs"
	// contextFunctionJobs are the jobs that requests to lambda-loop and
	// lambda-loop-count may name.
	contextFunctionJobs = "functionJobs"
	// contextHTTPHosts are the hosts of the job http:Request.
	contextHTTPHosts = "httpHosts"
	// contextRetiredJobs are jobs that were among those, and are started no more.
	contextRetiredJobs = "retiredJobs"
	contextStore       = "store" // "bucket" or "table"
	// contextPreviousStore is what contextStore was before it was changed.
	contextPreviousStore = "previousStore"
	contextLogLevel      = "logLevel" // "ALL", "ERROR", "FATAL" or "OFF"
	contextTracing       = "tracing"
	contextAlarms        = "alarms"
	contextAlarmTopic    = "alarmTopic" // the ARN of a topic
	contextDashboard     = "dashboard"
	contextRemoval       = "removal" // "retain" or "destroy"
	// contextRemove are definitions that the next deployment may leave out, so that
	// they are deleted. What is left out without that stays at AWS.
	contextRemove    = "remove"
	contextStackName = "stackName"
)

// contextKeys are those that have no name of a definition in front.
var contextKeys = []string{
	contextJobs, contextFunctionJobs, contextHTTPHosts, contextStore, contextLogLevel, contextTracing, contextAlarms,
	contextAlarmTopic, contextDashboard, contextRemoval, contextStackName, ContextCodeFolder, contextRetiredJobs, contextPreviousStore, contextRemove,
}

const (
	allJobs = "all"
	// theFunctions stands for the functions where a key begins with the name of a
	// definition.
	theFunctions = "functions"
	// sampleJob is what the functions run if nothing is said. It is also what the
	// definition lambda-retry has them run.
	sampleJob = "dynamodb:ExportTableToPointInTime"
)

// defaultJobs are a definition with functions, and one without.
var defaultJobs = []string{"dynamodb-export-variables", "lambda-loop"}

// jobsOfFunctions are the definitions that need the functions, with the job that
// they name; "" if their input does.
var jobsOfFunctions = map[string]string{"lambda-loop": "", "lambda-loop-count": "", "lambda-retry": sampleJob}

// What CloudFormation takes as the name of a stack, and an ARN of SNS begins with.
var (
	stackName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,127}$`)
	topicARN  = regexp.MustCompile(`^arn:[a-z-]+:sns:`)
)

type shippedStack struct {
	awscdk.Stack

	context   *appContext
	names     []string
	pollers   map[string]JobPoller
	functions Functions
}

// NewShippedStack deploys what the context of the app says. It panics with an
// [*Error] if that cannot be used.
func NewShippedStack(scope constructs.Construct, id *string, props *awscdk.StackProps) ShippedStack {
	context := newContext(scope, id)
	s := &shippedStack{context: context, names: context.definitions(), pollers: map[string]JobPoller{}}
	resources := context.resources(s.names)
	own := orElse(props, awscdk.StackProps{})
	if name, ok := context.text(contextStackName); ok {
		if !stackName.MatchString(name) {
			context.refuse(contextStackName, "expected up to 128 letters, digits and hyphens, and a letter first, found %q", name)
		}
		own.StackName = &name
	}
	if own.Description == nil {
		own.Description = new("Waits for jobs with " + strings.Join(s.names[:min(len(s.names), 5)], ", "))
	}
	awscdk.NewStack_Override(s, scope, id, &own)
	removal := context.removal()
	s.makeFunctions(resources[theFunctions], removal)
	level := awsstepfunctions.LogLevel(context.oneOf(contextLogLevel, "ALL", "ERROR", "FATAL", "OFF"))
	tracing, alarms, dashboard := context.flag(contextTracing), context.flag(contextAlarms), context.flag(contextDashboard)
	actions := s.alarmActions(alarms)
	for _, name := range s.names {
		poller := JobPollerProps{
			Job: JobFromShipped(&name), Resources: resources[name], TracingEnabled: tracing,
			StateMachineProps: &awsstepfunctions.StateMachineProps{Logs: &awsstepfunctions.LogOptions{Level: level}},
			Alarms:            alarms, AlarmActions: actions, Dashboard: dashboard, RemovalPolicy: removal, Outputs: new(true),
		}
		if _, ok := jobsOfFunctions[name]; ok {
			poller.Functions = s.functions
		}
		s.pollers[name] = NewJobPoller(s, new(idOf(name)), &poller)
	}
	s.keep(removal)
	return s
}

func (s *shippedStack) Pollers() map[string]JobPoller { return maps.Clone(s.pollers) }
func (s *shippedStack) Functions() Functions          { return s.functions }

// removalTag says what becomes of a state machine or a function that the next
// deployment leaves out. CloudFormation takes another policy for that only with a
// change of a resource, and the tag is one.
const removalTag = "jobpoller:removal"

// keep lets all stay that a deployment leaves out, so that a definition forgotten in
// the context does not end executions: but for what the context removes.
func (s *shippedStack) keep(removal awscdk.RemovalPolicy) {
	remove := s.context.readRemovals(s.names, s.functions != nil)
	settle := func(name string, of constructs.Construct, tagged ...constructs.IConstruct) {
		policy := awscdk.RemovalPolicy_RETAIN
		if removal == awscdk.RemovalPolicy_DESTROY || slices.Contains(remove, name) {
			policy = awscdk.RemovalPolicy_DESTROY
		}
		for _, child := range *of.Node().FindAll(constructs.ConstructOrder_PREORDER) {
			if r, ok := child.(awscdk.CfnResource); ok && !strings.HasPrefix(*r.CfnResourceType(), "AWS::CloudWatch::") {
				r.ApplyRemovalPolicy(policy, nil)
			}
		}
		for _, each := range tagged {
			awscdk.Tags_Of(each).Add(new(removalTag), new(strings.ToLower(string(policy))), nil)
		}
	}
	for _, name := range s.names {
		settle(name, s.pollers[name], s.pollers[name].StateMachine())
	}
	if s.functions != nil {
		settle(theFunctions, s.functions, s.functions.RunJob(), s.functions.CheckStatus())
	}
}

// idOf is the ID of the construct of a definition: dynamodb-export-loop is
// DynamodbExportLoop.
func idOf(definition string) string {
	var id strings.Builder
	for part := range strings.SplitSeq(definition, "-") {
		id.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return id.String()
}

// makeFunctions makes the functions and their store, if a definition needs them.
func (s *shippedStack) makeFunctions(resources *map[string]*[]*string, removal awscdk.RemovalPolicy) {
	jobs := s.context.functionJobs(s.names)
	if len(jobs) == 0 {
		return
	}
	store, previous := s.stores(removal)
	s.functions = NewFunctions(s, new("Functions"), &FunctionsProps{
		Jobs: pointers(jobs), RetiredJobs: s.context.readRetiredJobs(jobs), Resources: resources,
		HttpHosts: s.context.hosts(jobs), Store: store, PreviousStore: previous,
		TracingEnabled: s.context.flag(contextTracing),
	})
	record := func(id string, name *string) {
		awscdk.NewCfnOutput(s, &id, &awscdk.CfnOutputProps{Value: name, Description: new("What keeps the start records")})
	}
	if table := store.Table(); table != nil {
		record("RecordTable", table.TableName())
	} else {
		record("RecordBucket", store.Bucket().BucketName())
	}
}

// stores keep the start records, or kept them before. The bucket and
// the table have the same logical IDs in both roles, so that a store which becomes the
// previous one stays.
func (s *shippedStack) stores(removal awscdk.RemovalPolicy) (store, previous RecordStore) {
	const bucket, table = "bucket", "table"
	kind, before := s.context.oneOf(contextStore, bucket, table), s.context.oneOf(contextPreviousStore, bucket, table)
	kind = cmp.Or(kind, bucket)
	if before == kind {
		s.context.refuse(contextPreviousStore, "it is the current %s: leave it out, or change %s", contextStore, contextStore)
	}
	first, other := new("Records"), new("PreviousRecords")
	if kind == table {
		store = NewRecordTable(s, first, &RecordTableProps{RemovalPolicy: removal})
	} else {
		store = NewRecordBucket(s, first, &RecordBucketProps{RemovalPolicy: removal})
	}
	switch before {
	case table:
		previous = NewRecordTable(s, other, &RecordTableProps{Table: newRecordTable(store, &RecordTableProps{RemovalPolicy: removal})})
	case bucket:
		props := &RecordBucketProps{RemovalPolicy: removal}
		previous = NewRecordBucket(s, other, &RecordBucketProps{Bucket: newRecordBucket(store, newRecords(s.context.path, nil, nil, nil), props)})
	}
	return store, previous
}

func (s *shippedStack) alarmActions(alarms *bool) *[]awscloudwatch.IAlarmAction {
	arn, ok := s.context.text(contextAlarmTopic)
	switch {
	case !ok:
		return nil
	case !orElse(alarms, true):
		s.context.refuse(contextAlarmTopic, "%s is false, so no alarm is sent: leave one of the two out", contextAlarms)
	case !topicARN.MatchString(arn):
		s.context.refuse(contextAlarmTopic, "expected the ARN of an SNS topic, found %q", arn)
	}
	topic := awssns.Topic_FromTopicArn(s, new("AlarmTopic"), &arn)
	return &[]awscloudwatch.IAlarmAction{awscloudwatchactions.NewSnsAction(topic)}
}

// actionsOf are the IAM actions that the role of a definition without functions
// needs, which the context can narrow.
func actionsOf(definition string) ([]string, error) {
	compiled, err := compile.Recipe(definition)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", definition, err)
	}
	var actions []string
	for _, s := range compiled.Policy.Statement {
		actions = append(actions, s.Action...)
	}
	slices.Sort(actions)
	return slices.Compact(actions), nil
}
