package mock

import (
	"fmt"
	"strconv"
	"strings"

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
func (e serviceError) failure(prefix, message string) *sim.TaskError {
	return &sim.TaskError{
		Name:  prefix + "." + e.name,
		Cause: fmt.Sprintf("%s (Service: %s, Status Code: %d, Request ID: %s) (SDK Attempt Count: 1)", message, prefix, e.status, requestID),
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

// throttling is what the services fail with that model the error of being
// called too often for at least half of their actions, and some actions of
// others. For the rest the code is lost: all that Step Functions shows is the
// name of the service. Source: the service models of botocore 1.43.11.
var throttling = readErrors(`
RequestThrottledException 400: ebs sqs
ThrottledException 400: resourcegroupstaggingapi
ThrottledException 429: xray
ThrottlingException 400: b2bi backupgateway bcmdashboards bcmdataexports bcmpricingcalculator
	bcmrecommendedactions bedrockdataautomationruntime billing budgets cloudcontrol codeconnections
	codestarconnections costoptimizationhub ec2instanceconnect frauddetector freetier healthlake identitystore
	invoicing iot iotfleetwise iotthingsgraph kendra kendraranking keyspacesstreams
	licensemanagerlinuxsubscriptions licensemanagerusersubscriptions lookoutequipment mailmanager
	marketplaceagreement marketplaceentitlement marketplacemetering migrationhub migrationhubconfig mwaaserverless
	networkfirewall odb partnercentralaccount partnercentralbenefits partnercentralchannel partnercentralselling
	paymentcryptography pcs pinpointsmsvoicev2 pricing proton rekognition route53profiles route53recoverycluster
	route53resolver ssmcontacts ssoadmin textract timestreaminfluxdb timestreamquery timestreamwrite
	verifiedpermissions voiceid workspacesinstances
ThrottlingException 429: accessanalyzer aiops amp appconfigdata appfabric appintegrations
	applicationcostprofiler applicationsignals arczonalshift artifact backupsearch bedrock bedrockagent
	bedrockagentcore bedrockagentcorecontrol bedrockagentruntime bedrockdataautomation bedrockruntime
	billingconductor braket chimesdkmeetings cleanrooms cleanroomsml codeartifact codecatalyst codeguruprofiler
	codegurureviewer codegurusecurity computeoptimizer computeoptimizerautomation connect connectcampaigns
	connectcases connectcontactlens connectparticipant controlcatalog controltower customerprofiles dataexchange
	datazone deadline devopsagent devopsguru directoryservicedata docdbelastic drs dsql eksauth entityresolution
	finspace finspacedata gameliftstreams geoplaces georoutes grafana greengrassv2 inspector2 inspectorscan
	interconnect internetmonitor iotdataplane iotevents ioteventsdata iotjobsdataplane iotmanagedintegrations
	iotsitewise iottwinmaker iotwireless lexmodelsv2 lexruntimev2 location m2 macie2 managedblockchain
	managedblockchainquery marketplacecatalog marketplacedeployment marketplacediscovery mediapackagev2
	medicalimaging migrationhuborchestrator migrationhubrefactorspaces migrationhubstrategy mpa neptunegraph
	networkflowmonitor networkmanager networkmonitor notifications notificationscontacts novaact omics
	paymentcryptographydata pcaconnectorad pcaconnectorscep pipes qapps qbusiness quicksight repostspace
	resiliencehub resourceexplorer2 route53globalresolver route53recoverycontrolconfig route53recoveryreadiness
	rtbfabric rum s3files s3outposts sagemakera2iruntime sagemakergeospatial scheduler securityir securitylake
	snowdevicemanagement ssmguiconnect ssmincidents ssmquicksetup supplychain sustainability tnb trustedadvisor uxc
	vpclattice wellarchitected workspacesthinclient workspacesweb
TooManyRequestsException 400: cloud9 cognitoidentity cognitoidentityprovider comprehend organizations
	servicequotas translate
TooManyRequestsException 429: account amplifybackend apigateway apigatewayv2 appmesh cognitosync
	comprehendmedical kafkaconnect lambda mediaconnect mediaconvert medialive mediapackage mediapackagevod
	neptunedata observabilityadmin pinpoint pinpointemail pinpointsmsvoice resourcegroups s3tables s3vectors
	serverlessapplicationrepository sesv2 signer signerdata sso
ProvisionedThroughputExceededException 400: dynamodb:batchGetItem dynamodb:batchWriteItem dynamodb:deleteItem
	dynamodb:getItem dynamodb:putItem dynamodb:query dynamodb:scan dynamodb:transactGetItems
	dynamodb:transactWriteItems dynamodb:updateItem kinesis:getRecords kinesis:putRecord kinesis:putRecords
ThrottledException 429: sns:publish sns:publishBatch
`)

// unknownJob is what describe calls fail with that do not know the job. Source:
// the errors that the models have for these calls; for those without one, what
// the service is known to answer.
var unknownJob = readErrors(`
AutomationExecutionNotFoundException 400: ssm:getAutomationExecution
BackupNotFoundException 400: dynamodb:describeBackup
CloudFormationException 400: cloudformation:describeStacks
CreateAccountStatusNotFoundException 400: organizations:describeCreateAccountStatus
DbClusterSnapshotNotFoundException 404: rds:describeDBClusterSnapshots
DbSnapshotNotFoundException 404: rds:describeDBSnapshots
DeploymentDoesNotExistException 400: codedeploy:getDeployment
EntityNotFoundException 400: glue
ExecutionDoesNotExistException 400: sfn:describeExecution sfn:stopExecution
ExportNotFoundException 400: dynamodb:describeExport
ExportTaskNotFoundException 404: rds:cancelExportTask rds:describeExportTasks
ImportNotFoundException 400: dynamodb:describeImport
InvalidJobIdException 400: textract
InvalidRequestException 400: athena:getQueryExecution athena:stopQueryExecution emr
InvocationDoesNotExistException 400: ssm:getCommandInvocation
JobNotFoundException 400: comprehend
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
	timestreamwrite translate
ResourceNotFoundException 404: appflow bedrock bedrockagent braket cleanrooms databrew deadline emrserverless
	entityresolution glacier inspector2 iot lambda macie2 neptunegraph omics quicksight resiliencehub
SynthesisTaskNotFoundException 400: polly
`)

// optimizedThrottling is how the integrations that AWS made for Step Functions
// fail when they are called too often. Their errors are named after the classes
// of the AWS SDK for Java v1.
var optimizedThrottling = map[string]struct {
	name, service, code string
	status              int
}{
	"athena":    {"Athena.AmazonAthenaException", "AmazonAthena", "ThrottlingException", 400},
	"batch":     {"Batch.AWSBatchException", "AWSBatch", "TooManyRequestsException", 429},
	"codebuild": {"CodeBuild.AWSCodeBuildException", "AWSCodeBuild", "ThrottlingException", 400},
	"dynamodb":  {"DynamoDB.ProvisionedThroughputExceededException", "AmazonDynamoDBv2", "ProvisionedThroughputExceededException", 400},
	"ecs":       {"ECS.AmazonECSException", "AmazonECS", "ThrottlingException", 400},
	"glue":      {"Glue.AWSGlueException", "AWSGlue", "ThrottlingException", 400},
	"lambda":    {"Lambda.TooManyRequestsException", "AWSLambda", "TooManyRequestsException", 429},
	"sagemaker": {"SageMaker.AmazonSageMakerException", "AmazonSageMaker", "ThrottlingException", 400},
	"sns":       {"SNS.ThrottledException", "AmazonSNS", "Throttling", 429},
	"sqs":       {"SQS.AmazonSQSException", "AmazonSQS", "RequestThrottled", 403},
	"states":    {"StepFunctions.AWSStepFunctionsException", "AWSStepFunctions", "ThrottlingException", 400},
}

// throttled is the failure of a call that came too soon after others.
func throttled(call sim.Call) error {
	const message = "Rate exceeded"
	r := asl.ParseResource(call.Resource)
	if prefix := r.ErrorPrefix(); prefix != "" {
		e, ok := lookUp(throttling, r)
		if !ok {
			e = serviceError{name: prefix + "Exception", status: 400}
		}
		return e.failure(prefix, message)
	}
	if e, ok := optimizedThrottling[r.Service]; ok {
		return &sim.TaskError{Name: e.name, Cause: fmt.Sprintf("%s (Service: %s; Status Code: %d; Error Code: %s; Request ID: %s; Proxy: null)",
			message, e.service, e.status, e.code, requestID)}
	}
	return fmt.Errorf("state %q: it is not known how %q fails when it is throttled; let it fail with the name of the error", call.State, call.Resource)
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
	if e, ok := lookUp(unknownJob, r); ok && prefix != "" {
		return e.failure(prefix, message)
	}
	return fmt.Errorf("state %q (%s): no job %q was started, and it is not known how the service answers that; give the job the name of that error (NotFound)",
		call.State, call.Resource, id)
}
