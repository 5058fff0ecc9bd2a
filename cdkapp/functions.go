package cdkapp

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
)

// The environment variables of the functions (lambdas/handler has their meaning).
const (
	envBucket        = "JOBPOLLER_BUCKET"
	envTable         = "JOBPOLLER_TABLE"
	envPrefix        = "JOBPOLLER_PREFIX"
	envJobs          = "JOBPOLLER_JOBS"
	envHosts         = "JOBPOLLER_HTTP_HOSTS"
	envMaxWait       = "JOBPOLLER_MAX_WAIT_SECONDS"
	envRetentionDays = "JOBPOLLER_RETENTION_DAYS"
	envLogLevel      = "JOBPOLLER_LOG_LEVEL"
	envQueueURL      = "JOBPOLLER_QUEUE_URL"
	envMetrics       = "JOBPOLLER_METRICS_NAMESPACE"
	envDeployment    = "JOBPOLLER_DEPLOYMENT"

	envPreviousBucket = "JOBPOLLER_PREVIOUS_BUCKET"
	envPreviousTable  = "JOBPOLLER_PREVIOUS_TABLE"
	envPreviousPrefix = "JOBPOLLER_PREVIOUS_PREFIX"
)

// ownVariables are those that props say.
var ownVariables = []string{
	envBucket, envTable, envPrefix, envJobs, envHosts, envMaxWait, envRetentionDays, envLogLevel, envQueueURL, envMetrics, envDeployment,
	envPreviousBucket, envPreviousTable, envPreviousPrefix,
}

// maxEnvironment is what the environment of a function can hold, in bytes.
const maxEnvironment = 4096

const passRole = "iam:PassRole"

// Functions are the Lambda functions behind a poller with the strategy lambda-loop or
// lambda-retry, or the signal EVENTS, with what they keep their start records in.
// Several pollers can share them.
type Functions interface {
	constructs.Construct
	// RunJob starts a job at most once for each execution.
	RunJob() awslambda.IFunction
	// CheckStatus says whether a job has ended.
	CheckStatus() awslambda.IFunction
	// Collector answers the Tasks of pollers with the signal EVENTS; nil if there is none.
	Collector() awslambda.IFunction
	// Queue has the messages of the waits, and events; nil without a collector.
	Queue() awssqs.IQueue
	// DeadLetterQueue has what the collector could not read, and events that did not
	// reach it (docs/guide/operate.md); nil without a collector.
	DeadLetterQueue() awssqs.IQueue
	// Store keeps the start records.
	Store() RecordStore
	// Bucket is that of the store; nil if it is a table.
	Bucket() awss3.IBucket
	// Table is that of the store; nil if it is a bucket.
	Table() awsdynamodb.ITable
	// Jobs are those that the functions have drivers of.
	Jobs() *[]*string
	// GrantInvoke lets the role of a state machine call RunJob and CheckStatus, in all
	// their versions.
	GrantInvoke(grantee awsiam.IGrantable) awsiam.Grant

	// releases are both functions with their versions.
	releases() (runJob, checkStatus released)
	// namespace is that of their metrics; "" for none. deployment is a dimension.
	namespace() string
	deployment() string
	// answer, announce and alarmCollector are for those with a collector.
	answer(scope constructs.Construct, machine string, key awskms.IKey)
	announce(scope constructs.Construct, jobs []string, arguments map[string]any)
	alarmCollector(scope constructs.Construct, options *awscloudwatch.MetricOptions, watch watch)
}

// FunctionsProps are the props of [Functions].
type FunctionsProps struct {
	// Jobs are the jobs that the functions start and check, such as
	// "glue:StartJobRun" or "comprehend:StartEntitiesDetectionJob", or waiters, such as
	// "dynamodb:ExportCompleted" (docs/guide/drivers.md). The roles of the functions get
	// what these need. Required without Drivers.
	Jobs *[]*string
	// Drivers are your own, which the functions in Package have: the roles get their
	// permissions, and the collector the events of an [EventSource].
	Drivers *[]Driver
	// Package is the main package of the functions, such as "./functions": one main, by
	// handler.Main. It is built in your module, as CodeFolder says. Default: the functions
	// of jobpoller.
	Package *string
	// RetiredJobs are jobs that the functions start no more. Name those that are
	// dropped from Jobs while executions that have started them run: CheckStatus keeps
	// the permissions to look after them. Default: none.
	RetiredJobs *[]*string
	// Resources are ARNs by IAM action: the roles allow the action on these alone.
	// None leaves the action out. Default: all resources of the account and the
	// region that the action can be on; iam:PassRole has no default.
	Resources *map[string]*[]*string
	// Grants are statements that the roles of all functions get besides. Default: none.
	Grants *[]awsiam.PolicyStatement
	// HttpHosts are the hosts that the job "http:Request" may call, such as
	// "api.example.com", "api.example.com:8443" or "*.example.com".
	HttpHosts *[]*string //nolint:revive // as jsii spells it
	// MaxWait is the longest wait that a request may ask for. Default: as much as
	// the store's Retention allows.
	MaxWait awscdk.Duration
	// Collector deploys the function collector with its queue, for pollers with the
	// signal EVENTS. Of functions that were deployed without, it changes the default Store:
	// give Store, and the bucket of before as PreviousStore. Default: false.
	Collector *bool
	// CollectorConcurrency is how many batches of messages are collected at once, from 2
	// to 1,000. Default: 10, and no more than ReservedConcurrentExecutions.
	CollectorConcurrency *float64
	// Store keeps the start records; with Collector it must be a table. Default: a
	// [RecordBucket], or with Collector what [NewRecordTable] makes, encrypted with
	// EncryptionKey and with this RemovalPolicy.
	Store RecordStore
	// PreviousStore is the store of before, after Store was changed. The functions
	// find in it what they have started until then. Leave it out when its records
	// have expired. Default: none.
	PreviousStore RecordStore
	// CodeFolder is where make lambdas has written the packages of the functions.
	// Default: the context value jobpoller:codeFolder, or else they are built from
	// this module, which needs the Go toolchain and no Docker.
	CodeFolder *string
	// RunJobCode, CheckStatusCode and CollectorCode are functions of your own with the
	// handlers of lambdas/handler, for drivers of your own: an executable named
	// bootstrap. Jobs may have names that are yours then; let RunJob, CheckStatus and
	// Collector do what they need with AddToRolePolicy.
	RunJobCode, CheckStatusCode, CollectorCode awslambda.Code
	// FunctionProps are props of the CDK for each of the functions, which win over the
	// defaults: arm64, 128 MiB, 30 seconds. FunctionName is what the names begin with:
	// "orders" makes orders-run-job, orders-check-status and orders-collector. A Role gets
	// the statements that are needed, and a LogGroup takes the logs of all. The Timeout is
	// at most 55 seconds. Code, Handler, Runtime and what other props here say is refused.
	FunctionProps *awslambda.FunctionProps
	// LogLevel is "debug", "info", "warn" or "error". Payloads are in the log at
	// debug alone. Default: "info".
	LogLevel *string
	// LogRetention is how long logs are kept. Default: ONE_MONTH.
	LogRetention awslogs.RetentionDays
	// MetricsNamespace is that of the metrics in CloudWatch; "none" for no
	// metrics. Default: "JobPoller".
	MetricsNamespace *string
	// TracingEnabled sends traces to X-Ray, which gets the messages of errors too.
	// Default: true.
	TracingEnabled *bool
	// EncryptionKey encrypts the records of a store that is made here, and the
	// logs. Default: keys of the services.
	EncryptionKey awskms.IKey
	// RemovalPolicy says what becomes of the store that is made here when the stack
	// goes. Logs go with it. A bucket that has records cannot be removed: give a
	// RecordBucket with AutoDeleteObjects for that. Default: RETAIN.
	RemovalPolicy awscdk.RemovalPolicy
}

type functions struct {
	constructs.Construct

	in                  where
	props               *FunctionsProps
	passed              awslambda.FunctionProps
	jobs                []string
	arguments           map[string]any // of each start; nil if not known
	store               RecordStore
	runJob, checkStatus released
	collector           *collector // nil for none
}

// NewFunctions deploys the functions.
func NewFunctions(scope constructs.Construct, id *string, props *FunctionsProps) Functions {
	return newFunctions(scope, id, props, nil)
}

// newFunctions makes functions that start their job with these arguments; nil are not
// known.
func newFunctions(scope constructs.Construct, id *string, props *FunctionsProps, arguments map[string]any) Functions {
	in := place(scope, id)
	if props == nil {
		props = &FunctionsProps{}
	}
	f := &functions{in: in, props: props, passed: orElse(props.FunctionProps, awslambda.FunctionProps{}), arguments: arguments}
	needed, narrowed, longest := f.check()
	constructs.NewConstruct_Override(f, scope, id)
	f.makeStore()
	f.makeQueues()
	plain := f.environment(longest)
	told, sends := f.tell(plain)
	f.runJob = release(f, runJobFunction.id, f.function(runJobFunction, props.RunJobCode, needed.runJob, narrowed, told, sends...))
	f.checkStatus = release(f, checkStatusFunction.id, f.function(checkStatusFunction, props.CheckStatusCode, needed.checkStatus, narrowed, plain))
	f.makeCollector(slices.Concat(needed.checkStatus, needed.batch), narrowed, told, sends)
	return f
}

func (f *functions) RunJob() awslambda.IFunction      { return f.runJob.Function }
func (f *functions) CheckStatus() awslambda.IFunction { return f.checkStatus.Function }
func (f *functions) Store() RecordStore               { return f.store }
func (f *functions) Bucket() awss3.IBucket            { return f.store.Bucket() }
func (f *functions) Table() awsdynamodb.ITable        { return f.store.Table() }
func (f *functions) Jobs() *[]*string                 { return pointers(f.jobs) }

func (f *functions) Collector() awslambda.IFunction {
	if f.collector == nil {
		return nil
	}
	return f.collector.function
}

func (f *functions) Queue() awssqs.IQueue {
	if f.collector == nil {
		return nil
	}
	return f.collector.queue
}

func (f *functions) DeadLetterQueue() awssqs.IQueue {
	if f.collector == nil {
		return nil
	}
	return f.collector.deadLetter
}

func (f *functions) GrantInvoke(grantee awsiam.IGrantable) awsiam.Grant {
	return allowInvoke(grantee, []string{*f.runJob.FunctionArn(), *f.checkStatus.FunctionArn()})
}

// makeStore makes the store, unless one is given.
func (f *functions) makeStore() {
	switch p := f.props; {
	case p.Store != nil:
		f.store = p.Store
	case f.collects():
		f.store = NewRecordTable(f, new("Records"), &RecordTableProps{MaxWait: p.MaxWait, EncryptionKey: p.EncryptionKey, RemovalPolicy: p.RemovalPolicy})
	default:
		f.store = NewRecordBucket(f, new("Records"), &RecordBucketProps{MaxWait: p.MaxWait, EncryptionKey: p.EncryptionKey, RemovalPolicy: p.RemovalPolicy})
	}
}

func (f *functions) namespace() string {
	switch namespace := text(f.props.MetricsNamespace); namespace {
	case "":
		return "JobPoller"
	case "none":
		return ""
	default:
		return namespace
	}
}

// deployment is the name of the stack and the path in it: no other functions of the
// account and region have both. CloudWatch takes values of dimensions in ASCII alone.
func (f *functions) deployment() string {
	return *awscdk.Stack_Of(f).StackName() + "/" + strings.Trim(strconv.QuoteToASCII(pathInStack(f)), `"`)
}

// pathInStack returns the path of a construct without that of its stack.
func pathInStack(c constructs.Construct) string {
	return strings.TrimPrefix(*c.Node().Path(), *awscdk.Stack_Of(c).Node().Path()+"/")
}

func (f *functions) releases() (runJob, checkStatus released) { return f.runJob, f.checkStatus }

// check refuses props that cannot be used, all at once. It returns what the functions
// need, on which resources, and how long a job may take; 0 if that is not said.
func (f *functions) check() (needed permissions, narrowed map[string][]string, longest time.Duration) {
	checkAll(func() {
		f.jobs = f.checkJobs()
		checkAll(
			f.checkHosts,
			f.checkStore,
			func() {
				needed = f.permissions()
				narrowed = f.in.narrowResources(slices.Concat(needed.runJob, needed.checkStatus, needed.batch), unnamed{passRole: needed.roles}, f.props.Resources)
			},
		)
	}, func() {
		longest = f.in.wholeSeconds("MaxWait", f.props.MaxWait)
		if f.props.Store != nil {
			f.in.fits(f.props.Store, longest)
		}
	}, func() {
		if f.props.Store != nil {
			f.in.refuseProps("Store", map[string]bool{"RemovalPolicy": f.props.RemovalPolicy != ""})
		}
	}, func() {
		f.in.precedes(f.props.PreviousStore, f.props.Store)
	}, func() {
		f.in.checkFunctionProps(f.props.FunctionProps)
	}, func() {
		if f.passed.LogGroup != nil {
			f.in.refuseProps("FunctionProps.LogGroup", map[string]bool{"LogRetention": f.props.LogRetention != ""})
		}
	}, f.checkCollector, func() { f.logLevel() })
	return needed, narrowed, longest
}

// checkJobs returns the names of the jobs, sorted.
func (f *functions) checkJobs() []string {
	jobs := texts(f.props.Jobs)
	for _, d := range orElse(f.props.Drivers, nil) {
		jobs = append(jobs, d.Name())
	}
	if len(jobs) == 0 {
		f.in.refuse("Jobs", "it is required: name the jobs that the functions start and check, such as %q", "glue:StartJobRun")
	}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

func (f *functions) checkHosts() {
	hosts := texts(f.props.HttpHosts)
	switch asks := slices.Contains(f.jobs, httpJob); {
	case asks && len(hosts) == 0:
		f.in.refuse("HttpHosts", "the job %s needs it: name the hosts that it may call, such as %q", httpJob, "api.example.com")
	case !asks && len(hosts) > 0:
		f.in.refuse("HttpHosts", "it is only for the job %s: add that to Jobs, or leave HttpHosts out", httpJob)
	}
}

func (f *functions) checkStore() {
	isTable := f.collects() || f.props.Store != nil && f.props.Store.Bucket() == nil
	if isTable && slices.Contains(f.jobs, bucketJob) {
		f.in.refuse("Store", "the job %s keeps the status of its functions in a bucket, but the store is a table: give a RecordBucket, and no collector", bucketJob)
	}
}

// permissions are what the drivers of all jobs need. What a driver of the user's
// own needs is not known here.
func (f *functions) permissions() permissions {
	var all permissions
	var checks []func()
	own := f.props.Package != nil || f.props.RunJobCode != nil && f.props.CheckStatusCode != nil && (f.props.CollectorCode != nil || !f.collects())
	for _, job := range f.jobs {
		checks = append(checks, func() {
			if d := f.driver(job); d != nil && own {
				p := drivenPermissions(d)
				all.runJob = append(all.runJob, p.runJob...)
				all.add(p.checkStatus, p.batch)
				return
			}
			p, err := permissionsOf(job, f.arguments)
			if err != nil && !own {
				f.in.refuseFor(err, "Jobs", "%v", err)
			}
			all.runJob = append(all.runJob, p.runJob...)
			all.roles = append(all.roles, p.roles...)
			all.add(p.checkStatus, p.batch)
		})
	}
	for _, job := range texts(f.props.RetiredJobs) {
		checks = append(checks, func() {
			if slices.Contains(f.jobs, job) {
				f.in.refuse("RetiredJobs", "%s is also in Jobs: leave it out of one of the two", job)
			}
			p, err := permissionsOf(job, nil)
			if err != nil && !own {
				f.in.refuseFor(err, "RetiredJobs", "%v", err)
			}
			all.add(p.checkStatus, p.batch)
		})
	}
	checkAll(checks...)
	if !f.collects() {
		all.batch = nil
	}
	return all
}

func (f *functions) environment(longest time.Duration) map[string]*string {
	all := map[string]*string{}
	maps.Copy(all, orElse(f.passed.Environment, nil))
	maps.Copy(all, storeEnvironment(f.store, f.props.PreviousStore))
	all[envJobs] = new(strings.Join(f.jobs, ","))
	all[envLogLevel] = new(f.logLevel())
	if longest > 0 {
		all[envMaxWait] = new(strconv.Itoa(int(longest.Seconds())))
	}
	if hosts := texts(f.props.HttpHosts); len(hosts) > 0 {
		all[envHosts] = new(strings.Join(hosts, ","))
	}
	if f.props.MetricsNamespace != nil {
		all[envMetrics] = f.props.MetricsNamespace
	}
	if f.namespace() != "" {
		all[envDeployment] = new(f.deployment())
	}
	size := 0
	for name, value := range all {
		size += len(name) + len(text(value))
	}
	if size > maxEnvironment {
		f.in.refuse("Jobs", "the environment of a Lambda function can have %d bytes, and these jobs make it %d: share them between several Functions",
			maxEnvironment, size)
	}
	return all
}

func (f *functions) logLevel() string {
	level := orElse(f.props.LogLevel, "info")
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, level) {
		f.in.refuse("LogLevel", `expected "debug", "info", "warn" or "error", found %q`, level)
	}
	return level
}

// function makes one of them, with its role and its log.
func (f *functions) function(
	of function, own awslambda.Code, needed []permission, narrowed map[string][]string, environment map[string]*string,
	more ...awsiam.PolicyStatement,
) awslambda.Function {
	_, arch := f.architecture()
	props := f.propsOf(of)
	props.Code = own
	switch {
	case own != nil:
	case f.props.Package != nil:
		props.Code, props.Handler = f.in.ownCode(f, *f.props.Package, arch), new(of.title())
	default:
		props.Code = f.in.code(f, of, f.props.CodeFolder, arch)
	}
	props.Environment = &environment
	if props.LogGroup == nil {
		props.LogGroup = f.log(of)
	}
	role := f.role(of, slices.Concat(statements(f, needed, narrowed), more, orElse(f.props.Grants, nil)), *props.LogGroup.LogGroupRef().LogGroupArn)
	props.Role = role
	return awslambda.NewFunction(f, new(of.id), props)
}

func (f *functions) log(of function) awslogs.ILogGroup {
	retention := f.props.LogRetention
	if retention == "" {
		retention = awslogs.RetentionDays_ONE_MONTH
	}
	props := &awslogs.LogGroupProps{Retention: retention, RemovalPolicy: awscdk.RemovalPolicy_DESTROY}
	if f.props.EncryptionKey != nil {
		encryptLogs(f, f.props.EncryptionKey, anyResource)
		props.EncryptionKey = f.props.EncryptionKey
	}
	return awslogs.NewLogGroup(f, new(of.id+"Log"), props)
}

// role returns what a function runs as, with the statements and what it needs to log,
// to keep records and to be in a VPC.
func (f *functions) role(of function, needed []awsiam.PolicyStatement, log string) awsiam.IRole {
	role := f.passed.Role
	if role == nil {
		role = awsiam.NewRole(f, new(of.role), &awsiam.RoleProps{
			AssumedBy:   awsiam.NewServicePrincipal(new("lambda.amazonaws.com"), nil),
			Description: new(of.does + "."),
		})
	}
	given := addStatements(role, needed...)
	grants := []awsiam.Grant{allow(role, []string{log}, nil, "logs:CreateLogStream", "logs:PutLogEvents"), f.store.GrantRecords(role)}
	if f.props.PreviousStore != nil {
		grants = append(grants, f.props.PreviousStore.GrantRecords(role))
	}
	if f.passed.Vpc != nil {
		grants = append(grants, allow(role, []string{anyResource}, nil, vpcActions...))
	}
	if key := f.passed.EnvironmentEncryption; key != nil {
		grants = append(grants, allow(role, []string{*key.KeyRef().KeyArn}, nil, "kms:Decrypt"))
	}
	if f.tracing() {
		given = append(given, "xray:PutTelemetryRecords", "xray:PutTraceSegments") // by the CDK
	}
	warnUnchanged(f, role, of.title(), append(given, actionsOfGrants(grants)...))
	return role
}

// texts are the strings of a list prop.
func texts(list *[]*string) []string {
	var all []string
	for _, s := range orElse(list, nil) {
		all = append(all, text(s))
	}
	return all
}
