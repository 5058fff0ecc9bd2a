package fixtruth

import "strings"

// operation is a call that machines poll a job with. Names and statuses are those of
// AWS's API references: they are written down here, so that an error of the catalogue
// shows.
type operation struct {
	// service is as in a resource, and start, describe and stop are actions of it. Where via is set, they
	// are functions, places or machines of the user's own.
	service, start, describe, stop string
	via                            via
	// given are the arguments of the start call besides the name, and also those of
	// the describe call besides the id.
	given, also map[string]any
	// name is the argument of the start call that names the job, where the caller
	// names it. Otherwise started leads to the id in the answer to the start call.
	name    string
	started []string
	// id is the argument of the describe call that names the job, and list the member
	// of its answer that has the jobs, for a call that takes several ids: of its body, via something.
	id, list string
	// stopID is the argument of the stop call that names the job, and stopped are the others.
	stopID  string
	stopped map[string]any
	// status and reason lead to members of the answer, or of an item of list. The
	// reason is there only after a failure, unless the model says that each answer has it.
	status, reason                    []string
	reasonAlways                      bool
	success, failure, running, ending []string
	// second leads to another member of the answer. Some machines ask after a success whether it is as
	// expected.
	second               []string
	expected, unexpected any
	// debated are successes that the makers of other machines take for failures, such as
	// that of a part: a change that names one is no mistake.
	debated []string
	// either are statuses for which two waiters of AWS disagree: one takes the status for a success, or
	// for one on the way there. A table may follow it.
	either []string
	// errors begins the names of errors of the service.
	errors string
	// gone is the error of a job that is not there, or not yet.
	gone string
}

func members(path string) []string { return strings.Split(path, ".") }

func values(text string) []string { return strings.Fields(text) }

// throttled is the error that Step Functions makes of a code that the model lacks, such
// as that of throttling.
func (o *operation) throttled() string {
	if o.via != "" {
		return o.via.carrier().throttled
	}
	return o.errors + strings.TrimSuffix(o.errors, ".") + "Exception"
}

func (o *operation) denied() string {
	if o.via != "" {
		return o.via.carrier().denied
	}
	return o.errors + "AccessDeniedException"
}

func (o *operation) fault() string {
	if o.via != "" {
		return o.via.carrier().fault
	}
	return o.errors + "SdkClientException"
}

var operations = []*operation{
	{
		service: "athena", start: "startQueryExecution", describe: "getQueryExecution", stop: "stopQueryExecution",
		given:   map[string]any{"QueryString": "SELECT 1", "WorkGroup": "primary"},
		started: members("QueryExecutionId"), id: "QueryExecutionId", stopID: "QueryExecutionId",
		status: members("QueryExecution.Status.State"), reason: members("QueryExecution.Status.StateChangeReason"),
		success: values("SUCCEEDED"), failure: values("FAILED CANCELLED"), running: values("QUEUED RUNNING"),
		second: members("QueryExecution.StatementType"), expected: "DML", unexpected: "UTILITY",
		errors: "Athena.", gone: "Athena.InvalidRequestException",
	},
	{
		service: "glue", start: "startJobRun", describe: "getJobRun", stop: "deleteJob",
		given: map[string]any{"JobName": "nightly"}, also: map[string]any{"JobName": "nightly"}, started: members("JobRunId"), id: "RunId", stopID: "JobName",
		status: members("JobRun.JobRunState"), reason: members("JobRun.ErrorMessage"),
		success: values("SUCCEEDED"), failure: values("FAILED TIMEOUT STOPPED ERROR EXPIRED"),
		running: values("STARTING RUNNING WAITING"), ending: values("STOPPING"),
		errors: "Glue.", gone: "Glue.EntityNotFoundException",
	},
	{
		service: "databrew", start: "startJobRun", describe: "describeJobRun", stop: "deleteJob",
		given: map[string]any{"Name": "clean"}, also: map[string]any{"Name": "clean"}, started: members("RunId"), id: "RunId", stopID: "Name",
		status: members("State"), reason: members("ErrorMessage"),
		success: values("SUCCEEDED"), failure: values("FAILED STOPPED TIMEOUT"), running: values("STARTING RUNNING"), ending: values("STOPPING"),
		errors: "DataBrew.", gone: "DataBrew.ResourceNotFoundException",
	},
	{
		service: "emrserverless", start: "startJobRun", describe: "getJobRun", stop: "cancelJobRun",
		given: map[string]any{"ApplicationId": "00f1", "ExecutionRoleArn": "arn:aws:iam::123456789012:role/job", "ClientToken": "once"},
		also:  map[string]any{"ApplicationId": "00f1"}, started: members("JobRunId"), id: "JobRunId", stopID: "JobRunId",
		stopped: map[string]any{"ApplicationId": "00f1"},
		status:  members("JobRun.State"), reason: members("JobRun.StateDetails"), reasonAlways: true,
		success: values("SUCCESS"), failure: values("FAILED CANCELLED"),
		running: values("SUBMITTED PENDING SCHEDULED RUNNING QUEUED"), ending: values("CANCELLING"),
		errors: "EmrServerless.", gone: "EmrServerless.ResourceNotFoundException",
	},
	{
		service: "transcribe", start: "startTranscriptionJob", describe: "getTranscriptionJob", stop: "deleteTranscriptionJob",
		given: map[string]any{"LanguageCode": "en-US", "Media": map[string]any{"MediaFileUri": "s3://calls/1.wav"}},
		name:  "TranscriptionJobName", id: "TranscriptionJobName", stopID: "TranscriptionJobName",
		status: members("TranscriptionJob.TranscriptionJobStatus"), reason: members("TranscriptionJob.FailureReason"),
		success: values("COMPLETED"), failure: values("FAILED"), running: values("QUEUED IN_PROGRESS"),
		errors: "Transcribe.", gone: "Transcribe.NotFoundException",
	},
	{
		service: "textract", start: "startDocumentAnalysis", describe: "getDocumentAnalysis", stop: "deleteAdapter",
		given: map[string]any{
			"DocumentLocation": map[string]any{"S3Object": map[string]any{"Bucket": "papers", "Name": "1.pdf"}}, "FeatureTypes": []any{"TABLES"},
		},
		started: members("JobId"), id: "JobId", stopID: "AdapterId", status: members("JobStatus"), reason: members("StatusMessage"),
		success: values("SUCCEEDED PARTIAL_SUCCESS"), debated: values("PARTIAL_SUCCESS"), failure: values("FAILED"), running: values("IN_PROGRESS"),
		errors: "Textract.", gone: "Textract.InvalidJobIdException",
	},
	{
		service: "comprehend", start: "startEntitiesDetectionJob", describe: "describeEntitiesDetectionJob", stop: "stopEntitiesDetectionJob",
		given: map[string]any{
			"InputDataConfig": map[string]any{"S3Uri": "s3://texts/"}, "OutputDataConfig": map[string]any{"S3Uri": "s3://found/"},
			"DataAccessRoleArn": "arn:aws:iam::123456789012:role/job", "LanguageCode": "en", "ClientRequestToken": "once",
		},
		started: members("JobId"), id: "JobId", stopID: "JobId",
		status: members("EntitiesDetectionJobProperties.JobStatus"), reason: members("EntitiesDetectionJobProperties.Message"),
		success: values("COMPLETED"), failure: values("FAILED STOPPED"), running: values("SUBMITTED IN_PROGRESS"), ending: values("STOP_REQUESTED"),
		errors: "Comprehend.", gone: "Comprehend.JobNotFoundException",
	},
	{
		service: "mediaconvert", start: "createJob", describe: "getJob", stop: "cancelJob",
		given:   map[string]any{"Role": "arn:aws:iam::123456789012:role/job", "Settings": map[string]any{}, "ClientRequestToken": "once"},
		started: members("Job.Id"), id: "Id", stopID: "Id", status: members("Job.Status"), reason: members("Job.ErrorMessage"),
		success: values("COMPLETE"), failure: values("ERROR CANCELED"), running: values("SUBMITTED PROGRESSING"),
		errors: "MediaConvert.", gone: "MediaConvert.NotFoundException",
	},
	{
		service: "redshiftdata", start: "executeStatement", describe: "describeStatement", stop: "cancelStatement",
		given:   map[string]any{"Sql": "SELECT 1", "Database": "dev", "ClientToken": "once"},
		started: members("Id"), id: "Id", stopID: "Id", status: members("Status"), reason: members("Error"),
		success: values("FINISHED"), failure: values("FAILED ABORTED"), running: values("SUBMITTED PICKED STARTED"),
		second: members("HasResultSet"), expected: true, unexpected: false,
		errors: "RedshiftData.", gone: "RedshiftData.ResourceNotFoundException",
	},
	{
		service: "batch", start: "submitJob", describe: "describeJobs", stop: "terminateJob",
		given:   map[string]any{"JobName": "nightly", "JobQueue": "slow", "JobDefinition": "report:1"},
		started: members("JobId"), id: "Jobs", list: "Jobs", stopID: "JobId", stopped: map[string]any{"Reason": "not needed"},
		status: members("Status"), reason: members("StatusReason"),
		success: values("SUCCEEDED"), failure: values("FAILED"), running: values("SUBMITTED PENDING RUNNABLE STARTING RUNNING"),
		errors: "Batch.", gone: "Batch.ClientException",
	},
	{
		service: "codebuild", start: "startBuild", describe: "batchGetBuilds", stop: "stopBuild",
		given: map[string]any{"ProjectName": "site"}, started: members("Build.Id"), id: "Ids", list: "Builds", stopID: "Id",
		status: members("BuildStatus"), reason: members("CurrentPhase"),
		success: values("SUCCEEDED"), failure: values("FAILED FAULT TIMED_OUT STOPPED"), running: values("IN_PROGRESS"),
		errors: "CodeBuild.", gone: "CodeBuild.InvalidInputException",
	},
	{
		service: "sagemaker", start: "createTrainingJob", describe: "describeTrainingJob", stop: "stopTrainingJob",
		given: map[string]any{
			"RoleArn": "arn:aws:iam::123456789012:role/job", "AlgorithmSpecification": map[string]any{"TrainingImage": "image", "TrainingInputMode": "File"},
			"OutputDataConfig": map[string]any{"S3OutputPath": "s3://models/"}, "StoppingCondition": map[string]any{"MaxRuntimeInSeconds": 3600},
			"ResourceConfig": map[string]any{"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
		},
		name: "TrainingJobName", id: "TrainingJobName", stopID: "TrainingJobName", status: members("TrainingJobStatus"), reason: members("FailureReason"),
		success: values("Completed"), failure: values("Failed Stopped"), running: values("InProgress"), ending: values("Stopping"),
		either: values("Stopped Stopping"), // TrainingJob_Completed_Or_Stopped
		errors: "SageMaker.", gone: "SageMaker.ResourceNotFoundException",
	},
	{
		service: "dynamodb", start: "exportTableToPointInTime", describe: "describeExport", stop: "deleteBackup",
		given:   map[string]any{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/orders", "S3Bucket": "exports", "ClientToken": "once"},
		started: members("ExportDescription.ExportArn"), id: "ExportArn", stopID: "BackupArn",
		status: members("ExportDescription.ExportStatus"), reason: members("ExportDescription.FailureMessage"),
		success: values("COMPLETED"), failure: values("FAILED"), running: values("IN_PROGRESS"),
		errors: "DynamoDb.", gone: "DynamoDb.ExportNotFoundException",
	},
	{
		service: "ssm", start: "sendCommand", describe: "getCommandInvocation", stop: "cancelCommand",
		given: map[string]any{"DocumentName": "AWS-RunShellScript", "InstanceIds": []any{"i-1234567890abcdef0"}},
		also:  map[string]any{"InstanceId": "i-1234567890abcdef0"}, started: members("Command.CommandId"), id: "CommandId", stopID: "CommandId",
		status: members("Status"), reason: members("StandardErrorContent"),
		success: values("Success"), failure: values("Failed Cancelled TimedOut"),
		running: values("Pending InProgress Delayed"), ending: values("Cancelling"),
		second: members("ResponseCode"), expected: 0, unexpected: 1,
		errors: "Ssm.", gone: "Ssm.InvocationDoesNotExistException",
	},
	{
		service: "sfn", start: "startExecution", describe: "describeExecution", stop: "stopExecution",
		given:   map[string]any{"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:nightly"},
		started: members("ExecutionArn"), id: "ExecutionArn", stopID: "ExecutionArn",
		status: members("Status"), reason: members("Cause"),
		success: values("SUCCEEDED"), failure: values("FAILED TIMED_OUT ABORTED"), running: values("RUNNING PENDING_REDRIVE"),
		errors: "Sfn.", gone: "Sfn.ExecutionDoesNotExistException",
	},
	{
		start: "start-job", describe: "get-job", stop: "stop-job", via: lambdaInvoke, given: map[string]any{"table": "orders"},
		started: members("Payload.jobId"), id: "id", stopID: "id", status: members("status"), reason: members("reason"),
		success: values("SUCCEEDED"), failure: values("FAILED CANCELLED"), running: values("QUEUED RUNNING"), ending: values("CANCELLING"),
		gone: "JobNotFound",
	},
	{
		start: "submit-batch", describe: "look-at-batch", stop: "drop-batch", via: lambdaInvoke, given: map[string]any{"table": "orders"},
		started: members("Payload.batch.id"), id: "ids", list: "batches", stopID: "id", status: members("state"), reason: members("message"),
		success: values("COMPLETED"), failure: values("FAILED ABORTED"), running: values("PENDING IN_PROGRESS"),
		gone: "BatchNotFound",
	},
	{
		start: "make-report", describe: "look-at-report", stop: "drop-report", via: functionARN, given: map[string]any{"kind": "daily"},
		started: members("reportId"), id: "reportId", stopID: "reportId", status: members("state"), reason: members("error.message"),
		success: values("done"), failure: values("error rejected"), running: values("pending working"),
		gone: "ReportNotFound",
	},
	{
		start: "exports", describe: "export", stop: "export-stop", via: httpTask, given: map[string]any{"format": "csv"},
		started: members("ResponseBody.export.id"), id: "id", stopID: "id", status: members("export.status"), reason: members("export.reason"),
		success: values("completed"), failure: values("failed expired cancelled"), running: values("queued running"), ending: values("cancelling"),
		gone: "States.Http.StatusCode.404",
	},
	{
		start: "imports", describe: "import-states", stop: "import-stop", via: httpTask, given: map[string]any{"format": "csv"},
		started: members("ResponseBody.id"), id: "ids", list: "imports", stopID: "id", status: members("status"), reason: members("detail"),
		success: values("Ready"), failure: values("Failed Timed-Out"), running: values("Waiting Loading"),
		gone: "States.Http.StatusCode.404",
	},
	{
		start: "order-copy", describe: "copy-status", stop: "stop-copy", via: nestedMachine, given: map[string]any{"from": "orders"},
		started: members("Output.copyId"), id: "copyId", stopID: "copyId", status: members("status"), reason: members("cause"),
		success: values("Succeeded"), failure: values("Failed Aborted"), running: values("Requested Copying"),
		gone: "States.TaskFailed",
	},
}
