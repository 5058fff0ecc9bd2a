package cdkapp

import (
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
	contextStore       = "store" // bucketStore or tableStore
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

// The stores that the context can name.
const (
	bucketStore = "bucket"
	tableStore  = "table"
)

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

	settings  *settings
	pollers   map[string]JobPoller
	functions Functions
}

// NewShippedStack deploys what the context of the app says. It panics with an
// [*Error] if that cannot be used.
func NewShippedStack(scope constructs.Construct, id *string, props *awscdk.StackProps) ShippedStack {
	c := readSettings(scope, id)
	s := &shippedStack{settings: c, pollers: map[string]JobPoller{}}
	own := orElse(props, awscdk.StackProps{})
	if c.stackName != "" {
		own.StackName = &c.stackName
	}
	if own.Description == nil {
		own.Description = new("Waits for jobs with " + strings.Join(c.names[:min(len(c.names), 5)], ", "))
	}
	awscdk.NewStack_Override(s, scope, id, &own)
	s.makeFunctions(place(scope, id))
	var actions *[]awscloudwatch.IAlarmAction
	if c.alarmTopic != "" {
		topic := awssns.Topic_FromTopicArn(s, new("AlarmTopic"), &c.alarmTopic)
		actions = &[]awscloudwatch.IAlarmAction{awscloudwatchactions.NewSnsAction(topic)}
	}
	for _, name := range c.names {
		poller := JobPollerProps{
			Job: JobFromShipped(&name), Resources: c.resources[name], TracingEnabled: c.tracing,
			StateMachineProps: &awsstepfunctions.StateMachineProps{Logs: &awsstepfunctions.LogOptions{Level: c.level}},
			Alarms:            c.alarms, AlarmActions: actions, Dashboard: c.dashboard, RemovalPolicy: c.removal, Outputs: new(true),
		}
		if _, ok := jobsOfFunctions[name]; ok {
			poller.Functions = s.functions
		}
		s.pollers[name] = NewJobPoller(s, new(idOf(name)), &poller)
	}
	s.keep()
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
func (s *shippedStack) keep() {
	settle := func(name string, of constructs.Construct, tagged ...constructs.IConstruct) {
		policy := awscdk.RemovalPolicy_RETAIN
		if s.settings.removal == awscdk.RemovalPolicy_DESTROY || slices.Contains(s.settings.remove, name) {
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
	for _, name := range s.settings.names {
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
func (s *shippedStack) makeFunctions(in where) {
	c := s.settings
	if len(c.jobs) == 0 {
		return
	}
	store, previous := s.stores(in)
	s.functions = NewFunctions(s, new("Functions"), &FunctionsProps{
		Jobs: pointers(c.jobs), RetiredJobs: c.retired, Resources: c.resources[theFunctions],
		HttpHosts: c.hosts, Store: store, PreviousStore: previous, TracingEnabled: c.tracing,
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
func (s *shippedStack) stores(in where) (store, previous RecordStore) {
	removal := s.settings.removal
	first, other := new("Records"), new("PreviousRecords")
	if s.settings.store == tableStore {
		store = NewRecordTable(s, first, &RecordTableProps{RemovalPolicy: removal})
	} else {
		store = NewRecordBucket(s, first, &RecordBucketProps{RemovalPolicy: removal})
	}
	switch s.settings.previousStore {
	case tableStore:
		previous = NewRecordTable(s, other, &RecordTableProps{Table: newRecordTable(store, &RecordTableProps{RemovalPolicy: removal})})
	case bucketStore:
		props := &RecordBucketProps{RemovalPolicy: removal}
		previous = NewRecordBucket(s, other, &RecordBucketProps{Bucket: newRecordBucket(store, newRecords(in, nil, nil, nil), props)})
	}
	return store, previous
}

// actionsOfDefinition are the IAM actions that the role of a definition without functions
// needs, which the context can narrow.
func actionsOfDefinition(definition string) ([]string, error) {
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
