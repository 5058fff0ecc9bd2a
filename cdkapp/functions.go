package cdkapp

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
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
	envMetrics       = "JOBPOLLER_METRICS_NAMESPACE"

	envPreviousBucket = "JOBPOLLER_PREVIOUS_BUCKET"
	envPreviousTable  = "JOBPOLLER_PREVIOUS_TABLE"
	envPreviousPrefix = "JOBPOLLER_PREVIOUS_PREFIX"
)

// ownVariables are those that props say.
var ownVariables = []string{
	envBucket, envTable, envPrefix, envJobs, envHosts, envMaxWait, envRetentionDays, envLogLevel, envMetrics,
	envPreviousBucket, envPreviousTable, envPreviousPrefix,
}

const (
	// maxEnvironment is what the environment of a function can hold, in bytes.
	maxEnvironment = 4096
	// maxDescription is how long the description of a function can be.
	maxDescription = 256
	// defaultMemory is the least that Lambda has. docs/bench.md says what the
	// functions need of it.
	defaultMemory = 128
	// defaultTimeout bounds how long a job whose start was cut off stays
	// JobPoller.JobStartInProgress. The state machines wait a minute for that, and
	// the functions add a lease margin of 5 seconds.
	defaultTimeout = 30 * time.Second
	maxTimeout     = 55 * time.Second
	passRole       = "iam:PassRole"
)

// Functions are the two Lambda functions behind a poller with the strategy
// lambda-loop or lambda-retry, with what they keep their start records in.
// Several pollers can share them.
type Functions interface {
	constructs.Construct
	// RunJob starts a job at most once for each execution.
	RunJob() awslambda.IFunction
	// CheckStatus says whether a job has ended.
	CheckStatus() awslambda.IFunction
	// Store keeps the start records.
	Store() RecordStore
	// Bucket is that of the store; nil if it is a table.
	Bucket() awss3.IBucket
	// Table is that of the store; nil if it is a bucket.
	Table() awsdynamodb.ITable
	// Jobs are those that the functions have drivers of.
	Jobs() *[]*string
	// GrantInvoke lets the role of a state machine call both functions, in all their
	// versions.
	GrantInvoke(grantee awsiam.IGrantable) awsiam.Grant

	// releases are both functions with their versions.
	releases() (runJob, checkStatus released)
	// namespace is that of their metrics; "" for none.
	namespace() string
}

// FunctionsProps are the props of [Functions].
type FunctionsProps struct {
	// Jobs are the jobs that the functions start and check, such as
	// "glue:StartJobRun" or "comprehend:StartEntitiesDetectionJob", or waiters, such as
	// "dynamodb:ExportCompleted" (docs/guide/drivers.md). Required: the roles of the
	// functions get what these need.
	Jobs *[]*string
	// RetiredJobs are jobs that the functions start no more. Name those that are
	// dropped from Jobs while executions that have started them run: CheckStatus keeps
	// the permissions to look after them. Default: none.
	RetiredJobs *[]*string
	// Resources are ARNs by IAM action: the roles allow the action on these alone.
	// None leaves the action out. Default: all resources of the account and the
	// region that the action can be on; iam:PassRole has no default.
	Resources *map[string]*[]*string
	// Grants are statements that both roles get besides. Default: none.
	Grants *[]awsiam.PolicyStatement
	// HttpHosts are the hosts that the job "http:Request" may call, such as
	// "api.example.com", "api.example.com:8443" or "*.example.com".
	HttpHosts *[]*string //nolint:revive // as jsii spells it
	// MaxWait is the longest wait that a request may ask for. Default: as much as
	// the store's Retention allows.
	MaxWait awscdk.Duration
	// Store keeps the start records. Default: a [RecordBucket], encrypted with
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
	// RunJobCode and CheckStatusCode are functions of your own with the handlers
	// of lambdas/handler, for drivers of your own: an executable named bootstrap.
	// Jobs may have names that are yours then; let RunJob and CheckStatus do what
	// they need with AddToRolePolicy.
	RunJobCode, CheckStatusCode awslambda.Code
	// Environment has variables that drivers of your own read.
	Environment *map[string]*string
	// Architecture is that of the functions. Default: ARM_64, which costs a fifth
	// less than X86_64.
	Architecture awslambda.Architecture
	// MemorySize is in MiB. Default: 128.
	MemorySize *float64
	// Timeout is that of one invocation, at most 55 seconds. Default: 30 seconds.
	Timeout awscdk.Duration
	// ReservedConcurrentExecutions is what each function keeps for itself of the
	// account's limit, and the most that it gets. Default: neither.
	ReservedConcurrentExecutions *float64
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
	jobs                []string
	arguments           map[string]any // of each start; nil if not known
	store               RecordStore
	runJob, checkStatus released
}

// NewFunctions deploys the two functions.
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
	f := &functions{in: in, props: props, arguments: arguments}
	f.jobs = f.checkJobs()
	needed := f.permissions()
	narrowed := in.narrowResources(slices.Concat(needed.runJob, needed.checkStatus), unnamed{passRole: needed.roles}, props.Resources)
	longest := in.wholeSeconds("MaxWait", props.MaxWait)
	if props.Store != nil {
		in.refuseProps("Store", map[string]bool{"RemovalPolicy": props.RemovalPolicy != ""})
		in.fits(props.Store, longest)
	}
	in.precedes(props.PreviousStore, props.Store)
	constructs.NewConstruct_Override(f, scope, id)
	if f.store = props.Store; f.store == nil {
		f.store = NewRecordBucket(f, new("Records"), &RecordBucketProps{
			MaxWait: props.MaxWait, EncryptionKey: props.EncryptionKey, RemovalPolicy: props.RemovalPolicy,
		})
	}
	environment := f.environment(longest)
	f.runJob = f.function(runJobFunction, props.RunJobCode, needed.runJob, narrowed, environment)
	f.checkStatus = f.function(checkStatusFunction, props.CheckStatusCode, needed.checkStatus, narrowed, environment)
	return f
}

func (f *functions) RunJob() awslambda.IFunction      { return f.runJob.Function }
func (f *functions) CheckStatus() awslambda.IFunction { return f.checkStatus.Function }
func (f *functions) Store() RecordStore               { return f.store }
func (f *functions) Bucket() awss3.IBucket            { return f.store.Bucket() }
func (f *functions) Table() awsdynamodb.ITable        { return f.store.Table() }
func (f *functions) Jobs() *[]*string                 { return pointers(f.jobs) }

func (f *functions) GrantInvoke(grantee awsiam.IGrantable) awsiam.Grant {
	return allowInvoke(grantee, []string{*f.runJob.FunctionArn(), *f.checkStatus.FunctionArn()})
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

func (f *functions) releases() (runJob, checkStatus released) { return f.runJob, f.checkStatus }

// checkJobs returns the names of the jobs, sorted.
func (f *functions) checkJobs() []string {
	jobs := texts(f.props.Jobs)
	if len(jobs) == 0 {
		f.in.refuse("Jobs", "it is required: name the jobs that the functions start and check, such as %q", "glue:StartJobRun")
	}
	slices.Sort(jobs)
	hosts := texts(f.props.HttpHosts)
	switch asks := slices.Contains(jobs, httpJob); {
	case asks && len(hosts) == 0:
		f.in.refuse("HttpHosts", "the job %s needs it: name the hosts that it may call, such as %q", httpJob, "api.example.com")
	case !asks && len(hosts) > 0:
		f.in.refuse("HttpHosts", "it is only for the job %s: add that to Jobs, or leave HttpHosts out", httpJob)
	}
	if f.props.Store != nil && f.props.Store.Bucket() == nil && slices.Contains(jobs, bucketJob) {
		f.in.refuse("Store", "the job %s keeps the status of its functions in a bucket, but the store is a table: give a RecordBucket", bucketJob)
	}
	return slices.Compact(jobs)
}

// permissions are what the drivers of all jobs need. What a driver of the user's
// own needs is not known here.
func (f *functions) permissions() permissions {
	var all permissions
	own := f.props.RunJobCode != nil && f.props.CheckStatusCode != nil
	for _, job := range f.jobs {
		p, err := permissionsOf(job, f.arguments)
		if err != nil && own {
			continue
		}
		if err != nil {
			f.in.refuseFor(err, "Jobs", "%v", err)
		}
		all.runJob = append(all.runJob, p.runJob...)
		all.roles = append(all.roles, p.roles...)
		all.checkStatus = append(all.checkStatus, p.checkStatus...)
	}
	for _, job := range texts(f.props.RetiredJobs) {
		if slices.Contains(f.jobs, job) {
			f.in.refuse("RetiredJobs", "%s is also in Jobs: leave it out of one of the two", job)
		}
		p, err := permissionsOf(job, nil)
		if err != nil && !own {
			f.in.refuseFor(err, "RetiredJobs", "%v", err)
		}
		all.checkStatus = append(all.checkStatus, p.checkStatus...)
	}
	return all
}

func (f *functions) environment(longest time.Duration) map[string]*string {
	all := map[string]*string{}
	maps.Copy(all, orElse(f.props.Environment, nil))
	for name, value := range all {
		if value == nil {
			f.in.refuse("Environment", "%s is nil: give it a value, or leave it out", name)
		}
		if slices.Contains(ownVariables, name) {
			f.in.refuse("Environment", "%s is set by other props", name)
		}
	}
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

func (f *functions) timeout() awscdk.Duration {
	if f.props.Timeout == nil {
		return awscdk.Duration_Seconds(new(defaultTimeout.Seconds()))
	}
	if d := f.in.duration("Timeout", f.props.Timeout); d < time.Second || d > maxTimeout {
		f.in.refuse("Timeout", "expected 1 to %g seconds, found %s: RunJob states wait only a minute", maxTimeout.Seconds(), d)
	}
	return f.props.Timeout
}

// function makes one of the two, with its role and its log.
func (f *functions) function(
	of function, own awslambda.Code, needed []permission, narrowed map[string][]string, environment map[string]*string,
) released {
	architecture, arch := f.architecture()
	code := own
	if code == nil {
		code = f.in.code(f, of, f.props.CodeFolder, arch)
	}
	log := f.log(of)
	role := awsiam.NewRole(f, new(of.role), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(new("lambda.amazonaws.com"), nil),
		Description: new(of.does + "."),
	})
	for _, statement := range append(statements(f, needed, narrowed), orElse(f.props.Grants, nil)...) {
		role.AddToPolicy(statement)
	}
	allow(role, []string{*log.LogGroupArn()}, nil, "logs:CreateLogStream", "logs:PutLogEvents")
	f.store.GrantRecords(role)
	if f.props.PreviousStore != nil {
		f.props.PreviousStore.GrantRecords(role)
	}
	tracing := awslambda.Tracing_ACTIVE
	if !orElse(f.props.TracingEnabled, true) {
		tracing = awslambda.Tracing_DISABLED
	}
	description := of.does + ": " + strings.Join(f.jobs[:min(3, len(f.jobs))], ", ") + "."
	if len(description) > maxDescription { // names of the user's own
		description = of.does + "."
	}
	return release(f, of.id, awslambda.NewFunction(f, new(of.id), &awslambda.FunctionProps{
		Architecture:                 architecture,
		Code:                         code,
		CurrentVersionOptions:        keepVersions(),
		Description:                  new(description),
		Environment:                  &environment,
		Handler:                      new("bootstrap"),
		LogGroup:                     log,
		LoggingFormat:                awslambda.LoggingFormat_JSON, // else Lambda has the functions write text
		MemorySize:                   new(orElse(f.props.MemorySize, defaultMemory)),
		ReservedConcurrentExecutions: f.props.ReservedConcurrentExecutions,
		Role:                         role,
		Runtime:                      awslambda.Runtime_PROVIDED_AL2023(),
		Timeout:                      f.timeout(),
		Tracing:                      tracing,
	}))
}

// architecture returns that of the functions, and Go's name of it.
func (f *functions) architecture() (awslambda.Architecture, string) {
	switch a := f.props.Architecture; {
	case a == nil:
		return awslambda.Architecture_ARM_64(), "arm64"
	case *a.Name() == "arm64":
		return a, "arm64"
	case *a.Name() == "x86_64":
		return a, "amd64"
	default:
		f.in.refuse("Architecture", "expected ARM_64 or X86_64, found %q", *a.Name())
		return nil, ""
	}
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

// texts are the strings of a list prop.
func texts(list *[]*string) []string {
	var all []string
	for _, s := range orElse(list, nil) {
		all = append(all, text(s))
	}
	return all
}
