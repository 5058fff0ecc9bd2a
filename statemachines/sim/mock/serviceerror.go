package mock

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// requestID stands in causes for the id of a request.
const requestID = "00000000-0000-4000-8000-000000000000"

// serviceError is an error of a service in an AWS SDK integration.
type serviceError struct {
	name   string // without the prefix of the service
	status int    // HTTP
}

// failure is the error as Step Functions shows it: with the count of attempts
// since 2025 (a recording of November, localstack
// test_sfn_send_task_outcome_with_no_such_token).
func (e serviceError) failure(prefix, message, request string) *sim.TaskError {
	return &sim.TaskError{
		Name:  prefix + "." + e.name,
		Cause: fmt.Sprintf("%s (Service: %s, Status Code: %d, Request ID: %s) (SDK Attempt Count: 1)", message, prefix, e.status, request),
	}
}

// readErrors reads a table of errors by "service:action" or, for all actions,
// "service". Each error is its name, its status and what has it.
func readErrors(table string) map[string]serviceError {
	out := map[string]serviceError{}
	var current serviceError
	words := strings.Fields(table)
	for i, word := range words {
		if status, ok := strings.CutSuffix(word, ":"); ok {
			current = serviceError{name: words[i-1]}
			current.status, _ = strconv.Atoi(status)
		} else if !strings.HasSuffix(word, "Exception") {
			out[word] = current
		}
	}
	return out
}

// lookUp finds the error of a call in a table.
func lookUp(table map[string]serviceError, r asl.Resource) (serviceError, bool) {
	service, _ := r.SDK()
	if e, ok := table[service+":"+r.Action]; ok {
		return e, true
	}
	e, ok := table[service]
	return e, ok
}

// The error of tables and streams that are called too often. Services that declare
// it for all operations mean something else by it.
const provisioned = "ProvisionedThroughputExceededException"

// throttles returns the errors by which a service says that it is called too often,
// each with the operations that declare it, the most frequent first.
func throttles(service *catalog.Service) []throttle {
	var found []throttle
	for _, o := range service.Operations {
		for _, e := range o.Errors {
			if awserror.IsLimit(e.Shape) || awserror.IsOfAnother(e.Shape) || awserror.ClassifyAnswer(0, e.Shape) != awserror.Throttled {
				continue
			}
			i := slices.IndexFunc(found, func(t throttle) bool { return t.Shape == e.Shape })
			if i < 0 {
				i = len(found)
				found = append(found, throttle{Error: e})
			}
			found[i].operations = append(found[i].operations, o.Name)
		}
	}
	slices.SortFunc(found, func(a, b throttle) int {
		switch {
		case a.Shape == provisioned:
			return -1
		case b.Shape == provisioned:
			return 1
		default:
			return cmp.Or(cmp.Compare(len(b.operations), len(a.operations)), cmp.Compare(a.Shape, b.Shape))
		}
	})
	return found
}

// throttle is an error of calls that are made too often.
type throttle struct {
	catalog.Error

	operations []string // that declare it
}

// throttling is what a call of an SDK integration fails with that came too soon
// after others: the error that its operation declares, or at least half of the
// service's operations do. The errors of the query protocol are the service's.
// Of any other the code is lost: all that Step Functions shows is the name of the
// service.
func throttling(r asl.Resource) (serviceError, error) {
	unknown := serviceError{name: r.ErrorPrefix() + "Exception", status: http.StatusBadRequest}
	name, _ := r.SDK()
	service, err := models.Load(name)
	if errors.Is(err, catalog.ErrNotFound) {
		return unknown, nil
	} else if err != nil {
		return serviceError{}, err
	}
	query := service.Protocols[0] == "query"
	for _, t := range throttles(service) {
		own := slices.ContainsFunc(t.operations, func(name string) bool { return strings.EqualFold(name, r.Action) })
		most := 2*len(t.operations) >= len(service.Operations)
		if t.Shape == provisioned && (most || !own) || !own && !most && !query {
			continue
		}
		return serviceError{name: javasdk.ExceptionName(service.Name, t.Shape), status: cmp.Or(t.Status, http.StatusBadRequest)}, nil
	}
	return unknown, nil
}

// unknownJob is what describe calls fail with that do not know the job, where the
// catalogue does not say it. Source: the errors that the models have for these
// calls; for those without one, what the service is known to answer.
var unknownJob = readErrors(`
AutomationExecutionNotFoundException 400: ssm:getAutomationExecution
BackupNotFoundException 400: dynamodb:describeBackup
CloudFormationException 400: cloudformation:describeStacks
CreateAccountStatusNotFoundException 400: organizations:describeCreateAccountStatus
DbClusterSnapshotNotFoundException 404: rds:describeDBClusterSnapshots
DbSnapshotNotFoundException 404: rds:describeDBSnapshots
DeploymentDoesNotExistException 400: codedeploy:getDeployment
EntityNotFoundException 400: glue
ExportNotFoundException 400: dynamodb:describeExport
ExportTaskNotFoundException 404: rds:cancelExportTask rds:describeExportTasks
ImportNotFoundException 400: dynamodb:describeImport
InvalidJobIdException 400: textract
InvalidRequestException 400: athena:getQueryExecution athena:stopQueryExecution emr
InvocationDoesNotExistException 400: ssm:getCommandInvocation
JobNotFoundException 404: comprehend
NoSuchEntityException 404: iam
NotFoundException 400: devicefarm s3control
NotFoundException 404: amplify mediaconvert
OperationNotFoundException 404: cloudformation:describeStackSetOperation
PipelineExecutionNotFoundException 400: codepipeline:getPipelineExecution
QueryIdNotFoundException 400: cloudtrail:describeQuery
RequestTokenNotFoundException 400: cloudcontrol
ResourceNotFoundException 400: athena:getCalculationExecution backup bedrockdataautomationruntime
	cloudwatchlogs:getQueryResults databasemigration dynamodb:describeTable emrcontainers forecast healthlake
	kinesisanalyticsv2 mwaaserverless personalize redshiftdata redshiftserverless rekognition servicecatalog
	timestreamwrite
ResourceNotFoundException 404: appflow bedrock bedrockagent braket cleanrooms databrew deadline emrserverless
	entityresolution glacier inspector2 iot lambda macie2 neptunegraph omics quicksight resiliencehub translate
SynthesisTaskNotFoundException 400: polly
`)

// unknownName is what the catalogue says a call for a job of an unknown name fails
// with, if the caller names such jobs.
func unknownName(r asl.Resource) (serviceError, bool, error) {
	name, _ := r.SDK()
	listing, err := catalog.AWS().Find(name)
	if errors.Is(err, catalog.ErrNotFound) {
		return serviceError{}, false, nil
	} else if err != nil {
		return serviceError{}, false, err
	}
	for _, listed := range listing.Entries {
		if listed.Kind != catalog.AWSJob {
			continue
		}
		e, err := catalog.AWS().Lookup(listing.Key, listed.Name)
		if err != nil {
			return serviceError{}, false, err
		}
		asks := strings.EqualFold(e.Operation.Name, r.Action) || e.Job.Stop != nil && strings.EqualFold(e.Job.Stop.Operation, r.Action)
		if e.Job.NaturalKey == nil || !asks {
			continue
		}
		for _, declared := range e.Operation.Errors {
			if code := e.Job.NaturalKey.NotFound[0].Code; declared.Shape == code || declared.Code == code {
				return serviceError{javasdk.ExceptionName(e.Service.Name, declared.Shape), cmp.Or(declared.Status, http.StatusBadRequest)}, true, nil
			}
		}
	}
	return serviceError{}, false, nil
}

// optimizedThrottling is how the integrations that AWS made for Step Functions
// fail when they are called too often, but for the name of the error.
var optimizedThrottling = map[string]classError{
	"athena":    {"", "AmazonAthena", "ThrottlingException", 400},
	"batch":     {"", "AWSBatch", "TooManyRequestsException", 429},
	"codebuild": {"", "AWSCodeBuild", "ThrottlingException", 400},
	"dynamodb":  {"", "AmazonDynamoDBv2", "ProvisionedThroughputExceededException", 400},
	"ecs":       {"", "AmazonECS", "ThrottlingException", 400},
	"glue":      {"", "AWSGlue", "ThrottlingException", 400},
	"lambda":    {"", "AWSLambda", "TooManyRequestsException", 429},
	"sagemaker": {"", "AmazonSageMaker", "ThrottlingException", 400},
	"sns":       {"", "AmazonSNS", "Throttling", 429},
	"sqs":       {"", "AmazonSQS", "RequestThrottled", 403},
	"states":    {"", "AWSStepFunctions", "ThrottlingException", 400},
}

// ThrottleFailure returns the failure of a Task whose service is called too often, as Step
// Functions shows it. It is false for a resource of which that is not known.
func ThrottleFailure(resource string) (failure *sim.TaskError, ok bool) {
	return errors.AsType[*sim.TaskError](throttleCall(sim.Call{Resource: resource}))
}

// throttleCall returns the failure of a call that came too soon after others.
func throttleCall(call sim.Call) error {
	const message = "Rate exceeded"
	r := asl.ParseResource(call.Resource)
	if prefix := r.ErrorPrefix(); prefix != "" {
		e, err := throttling(r)
		if err != nil {
			return fmt.Errorf("state %q: %w", call.State, err)
		}
		return e.failure(prefix, message, requestID)
	}
	if e, ok := optimizedThrottling[r.Service]; ok {
		e.name = r.ThrottleName()
		return e.failure(message, requestID)
	}
	return fmt.Errorf("state %q: jobpoller does not know how %q fails when it is throttled; let it fail with the name of the error", call.State, call.Resource)
}

// noSuchJob is the failure of a call that asks for a job that was not started.
// name is that of the error, or empty for what the service is known to fail
// with.
func noSuchJob(call sim.Call, id, name string) error {
	message := "There is no job " + id
	r := asl.ParseResource(call.Resource)
	prefix := r.ErrorPrefix()
	if name != "" {
		return &sim.TaskError{Name: name, Cause: message}
	}
	if prefix != "" {
		e, ok, err := unknownName(r)
		if err != nil {
			return fmt.Errorf("state %q: %w", call.State, err)
		}
		if !ok {
			e, ok = lookUp(unknownJob, r)
		}
		if ok {
			return e.failure(prefix, message, requestID)
		}
	}
	return fmt.Errorf("state %q (%s): no job %q was started, and jobpoller does not know the service's error for that; give the job the error's name (NotFound)",
		call.State, call.Resource, id)
}
