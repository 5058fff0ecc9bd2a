package asl

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Resource is the resource of a Task, taken apart.
type Resource struct {
	// Service is "aws-sdk:dynamodb", "lambda", "sqs" and so on for an
	// integration, "lambda" for the ARN of a function, "activity" for that of an
	// activity, and empty if it is none of these.
	Service string
	// Action is the API action, "describeExport"; empty for a function or an
	// activity.
	Action string
	// Pattern is ".sync", ".sync:2", ".waitForTaskToken" or empty.
	Pattern string
	// Direct is set for the ARN of a Lambda function or an activity.
	Direct bool
}

// SDK returns the name of the service if the resource is an AWS SDK
// integration.
func (r Resource) SDK() (service string, ok bool) { return strings.CutPrefix(r.Service, sdkPrefix) }

const (
	sdkPrefix = "aws-sdk:"
	activity  = "activity"
)

// Sync tells whether the Task ends with the job that it starts.
func (r Resource) Sync() bool { return strings.HasPrefix(r.Pattern, ".sync") }

// WaitsForToken tells whether the Task ends when a task token comes back.
func (r Resource) WaitsForToken() bool { return r.Pattern == ".waitForTaskToken" }

// ParseResource takes the ARN of a resource apart.
func ParseResource(arn string) Resource {
	const service, kind = 2, 5
	parts := strings.SplitN(arn, ":", kind+1)
	if len(parts) <= kind {
		return Resource{}
	}
	switch {
	case parts[service] == "lambda":
		return Resource{Service: "lambda", Direct: true}
	case parts[service] != "states":
		return Resource{}
	case strings.HasPrefix(parts[kind], "activity:"):
		return Resource{Service: activity, Direct: true}
	}
	r := Resource{Service: parts[kind]}
	if i := strings.LastIndexByte(strings.TrimSuffix(r.Service, ":2"), ':'); i >= 0 {
		r.Service, r.Action = r.Service[:i], r.Service[i+1:]
	}
	if i := strings.IndexByte(r.Action, '.'); i >= 0 {
		r.Action, r.Pattern = r.Action[:i], r.Action[i:]
	}
	return r
}

// optimized is every action of the integrations that AWS made for Step
// Functions, with the patterns it can be called by besides request-response.
// Source: the developer guide, "Integrating optimized services".
var optimized = map[string]map[string]string{
	"lambda":   {"invoke": token},
	"batch":    {"submitJob": sync},
	"dynamodb": {"getItem": "", "putItem": "", "updateItem": "", "deleteItem": ""},
	"ecs":      {"runTask": sync + token},
	"sns":      {"publish": token},
	"sqs":      {"sendMessage": token},
	"glue":     {"startJobRun": sync},
	"sagemaker": {
		"createEndpoint": "", "createEndpointConfig": "", "createHyperParameterTuningJob": sync, "createLabelingJob": sync,
		"createModel": "", "createProcessingJob": sync, "createTrainingJob": sync, "createTransformJob": sync, "updateEndpoint": "",
	},
	"elasticmapreduce": {
		"createCluster": sync, "terminateCluster": sync, "addStep": sync, "cancelStep": "", "setClusterTerminationProtection": "",
		"modifyInstanceFleetByName": "", "modifyInstanceGroupByName": "",
	},
	"codebuild": {
		"startBuild": sync, "stopBuild": "", "batchDeleteBuilds": "", "batchGetReports": "", "startBuildBatch": sync,
		"stopBuildBatch": "", "retryBuildBatch": sync, "deleteBuildBatch": "",
	},
	"athena": {"startQueryExecution": sync, "stopQueryExecution": "", "getQueryExecution": "", "getQueryResults": ""},
	"eks": {
		"createCluster": sync, "deleteCluster": sync, "createNodegroup": sync, "deleteNodegroup": sync,
		"createFargateProfile": sync, "deleteFargateProfile": sync, "call": "", "runJob": sync,
	},
	"apigateway":     {"invoke": token},
	"databrew":       {"startJobRun": sync},
	"events":         {"putEvents": token},
	"emr-containers": {"createVirtualCluster": "", "deleteVirtualCluster": sync, "startJobRun": sync},
	"emr-serverless": {
		"createApplication": sync, "startApplication": sync, "stopApplication": sync, "deleteApplication": sync,
		"startJobRun": sync, "cancelJobRun": sync,
	},
	"mediaconvert": {"createJob": sync},
	"bedrock":      {"invokeModel": "", "createModelCustomizationJob": sync},
	"http":         {"invoke": ""},
	"states":       {"startExecution": sync + sync2 + token},
	"s3":           {"getObject": "", "listObjectsV2": "", "putObject": ""},
}

// The patterns of integrations.
const (
	sync  = ".sync "
	sync2 = ".sync:2 "
	token = ".waitForTaskToken "
)

// checkIntegration reports a resource that AWS would not take, as an error
// where that is sure and as a warning where AWS may have added it since.
func (p *parser) checkIntegration(n *jsontree.Node, r Resource) {
	switch service, isSDK := r.SDK(); {
	case r.Direct:
	case r.Service == "" || r.Action == "":
		p.add(n.Problem("expected the ARN of a Lambda function, an activity or an integration such as "+
			"\"arn:aws:states:::aws-sdk:dynamodb:describeExport\", found %s", n.Describe()))
	case isSDK:
		p.checkSDK(n, service, r)
	default:
		p.checkOptimized(n, r)
	}
}

func (p *parser) checkSDK(n *jsontree.Node, service string, r Resource) {
	if first, _ := utf8.DecodeRuneInString(r.Action); unicode.IsUpper(first) {
		p.add(p.inARN(n, r.Action, "the action of an AWS SDK integration starts with a small letter, found %q", r.Action).
			Suggest(r.Action, strings.ToLower(r.Action[:1])+r.Action[1:]))
	}
	if r.Pattern != "" && !r.WaitsForToken() {
		p.add(p.inARN(n, r.Pattern, "an AWS SDK integration cannot be called with %q, only with \".waitForTaskToken\" or none", r.Pattern))
	}
	if service != strings.ToLower(service) {
		p.add(p.inARN(n, service, "the service of an AWS SDK integration is in small letters, found %q", service).Suggest(service, sdkServices...))
	} else if _, ok := slices.BinarySearch(sdkServices, service); !ok {
		p.warn(p.inARN(n, service, "there is no AWS SDK integration of a service %q", service).Suggest(service, sdkServices...))
	}
}

func (p *parser) checkOptimized(n *jsontree.Node, r Resource) {
	actions, ok := optimized[r.Service]
	if !ok {
		p.warn(p.inARN(n, r.Service, "there is no integration %q; an AWS SDK integration is written \"aws-sdk:%s\"", r.Service, r.Service))
		return
	}
	patterns, ok := actions[r.Action]
	switch {
	case !ok:
		p.warn(p.inARN(n, r.Action, "the integration %q has no action %q; \"aws-sdk:%s:%s\" may be what is meant", r.Service, r.Action, r.Service, r.Action).
			Suggest(r.Action, slices.Sorted(maps.Keys(actions))...))
	case r.Pattern != "" && !strings.Contains(patterns, r.Pattern+" "):
		p.warn(p.inARN(n, r.Pattern, "%s:%s cannot be called with %q", r.Service, r.Action, r.Pattern))
	}
}

// inARN returns a problem that stands at a part of a resource.
func (p *parser) inARN(n *jsontree.Node, part, format string, args ...any) diag.Problem {
	return p.within(n, max(0, strings.LastIndex(n.Text, part)), format, args...)
}

// ExpressProblems returns what an Express workflow cannot have: Tasks that wait
// for a job, a token or an activity, and distributed Maps.
func ExpressProblems(m *StateMachine) Problems {
	var out diag.Problems
	for s := range m.All {
		switch {
		case s.Map != nil && s.Map.Distributed:
			out = append(out, m.Problem(s.Position.Pointer, "an Express workflow cannot have a distributed Map"))
		case s.Task == nil:
		default:
			r := ParseResource(s.Task.Resource)
			if r.Pattern != "" {
				out = append(out, m.Problem(s.Position.Pointer+"/Resource", "an Express workflow does not support %q integrations", r.Pattern))
			} else if r.Service == activity {
				out = append(out, m.Problem(s.Position.Pointer+"/Resource", "an Express workflow does not support activities"))
			}
		}
	}
	return out
}

// sdkServices is every service of an AWS SDK integration by its name in the
// ARN, sorted: the names of the AWS SDK for Java v2 in small letters, with the
// exceptions of the developer guide.
var sdkServices = strings.Fields(`
accessanalyzer account acm acmpca aiops amp amplify amplifybackend amplifyuibuilder apigateway
apigatewaymanagementapi apigatewayv2 appconfig appconfigdata appfabric appflow appintegrations
applicationautoscaling applicationcostprofiler applicationdiscovery applicationinsights applicationsignals appmesh
apprunner appstream appsync arcregionswitch arczonalshift artifact athena auditmanager autoscaling autoscalingplans
b2bi backup backupgateway backupsearch batch bcmdashboards bcmdataexports bcmpricingcalculator bcmrecommendedactions
bedrock bedrockagent bedrockagentcore bedrockagentcorecontrol bedrockagentruntime bedrockdataautomation
bedrockdataautomationruntime bedrockruntime billing billingconductor braket budgets chatbot chime chimesdkidentity
chimesdkmediapipelines chimesdkmeetings chimesdkmessaging chimesdkvoice cleanrooms cleanroomsml cloud9 cloudcontrol
clouddirectory cloudformation cloudfront cloudfrontkeyvaluestore cloudhsm cloudhsmv2 cloudsearch cloudsearchdomain
cloudtrail cloudtraildata cloudwatch cloudwatchlogs codeartifact codebuild codecatalyst codecommit codeconnections
codedeploy codeguruprofiler codegurureviewer codegurusecurity codepipeline codestarconnections codestarnotifications
cognitoidentity cognitoidentityprovider cognitosync comprehend comprehendmedical computeoptimizer
computeoptimizerautomation config connect connectcampaigns connectcampaignsv2 connectcases connectcontactlens
connecthealth connectparticipant controlcatalog controltower costandusagereport costexplorer costoptimizationhub
customerprofiles databasemigration databrew dataexchange datapipeline datasync datazone dax deadline detective
devicefarm devopsagent devopsguru directconnect directory directoryservicedata dlm docdb docdbelastic drs dsql
dynamodb dynamodbstreams ebs ec2 ec2instanceconnect ecr ecrpublic ecs efs eks eksauth elasticache elasticbeanstalk
elasticloadbalancing elasticloadbalancingv2 elasticsearch elementalinference emr emrcontainers emrserverless
entityresolution eventbridge evs finspace finspacedata firehose fis fms forecast forecastquery frauddetector
freetier fsx gamelift gameliftstreams geomaps geoplaces georoutes glacier globalaccelerator glue grafana greengrass
greengrassv2 groundstation guardduty health healthlake iam identitystore imagebuilder importexport inspector
inspector2 inspectorscan interconnect internetmonitor invoicing iot iotdataplane iotdeviceadvisor iotevents
ioteventsdata iotfleetwise iotjobsdataplane iotmanagedintegrations iotsecuretunneling iotsitewise iotthingsgraph
iottwinmaker iotwireless ivs ivschat ivsrealtime kafka kafkaconnect kendra kendraranking keyspaces keyspacesstreams
kinesis kinesisanalytics kinesisanalyticsv2 kinesisvideo kinesisvideoarchivedmedia kinesisvideomedia
kinesisvideosignaling kinesisvideowebrtcstorage kms lakeformation lambda launchwizard lexmodelbuilding lexmodelsv2
lexruntime lexruntimev2 licensemanager licensemanagerlinuxsubscriptions licensemanagerusersubscriptions lightsail
location lookoutequipment m2 machinelearning macie2 mailmanager managedblockchain managedblockchainquery
marketplaceagreement marketplacecatalog marketplacecommerceanalytics marketplacedeployment marketplacediscovery
marketplaceentitlement marketplacemetering marketplacereporting mediaconnect mediaconvert medialive mediapackage
mediapackagev2 mediapackagevod mediastore mediastoredata mediatailor medicalimaging memorydb mgn migrationhub
migrationhubconfig migrationhuborchestrator migrationhubrefactorspaces migrationhubstrategy mpa mq mturk mwaa
mwaaserverless neptune neptunedata neptunegraph networkfirewall networkflowmonitor networkmanager networkmonitor
notifications notificationscontacts novaact oam observabilityadmin odb omics opensearch opensearchserverless
organizations osis outposts panorama partnercentralaccount partnercentralbenefits partnercentralchannel
partnercentralselling paymentcryptography paymentcryptographydata pcaconnectorad pcaconnectorscep pcs personalize
personalizeevents personalizeruntime pi pinpoint pinpointemail pinpointsmsvoice pinpointsmsvoicev2 pipes polly
pricing proton qapps qbusiness qconnect quicksight ram rbin rds rdsdata redshift redshiftdata redshiftserverless
rekognition repostspace resiliencehub resourceexplorer2 resourcegroups resourcegroupstaggingapi rolesanywhere
route53 route53domains route53globalresolver route53profiles route53recoverycluster route53recoverycontrolconfig
route53recoveryreadiness route53resolver rtbfabric rum s3 s3control s3files s3outposts s3tables s3vectors sagemaker
sagemakera2iruntime sagemakeredge sagemakerfeaturestoreruntime sagemakergeospatial sagemakermetrics sagemakerruntime
savingsplans scheduler schemas secretsmanager securityagent securityhub securityir securitylake
serverlessapplicationrepository servicecatalog servicecatalogappregistry servicediscovery servicequotas ses sesv2
sfn shield signer signerdata signin simpledb simpledbv2 simspaceweaver snowball snowdevicemanagement sns
socialmessaging sqs ssm ssmcontacts ssmguiconnect ssmincidents ssmquicksetup ssmsap sso ssoadmin ssooidc
storagegateway sts supplychain support supportapp sustainability swf synthetics taxsettings textract
timestreaminfluxdb timestreamquery timestreamwrite tnb transcribe transfer translate trustedadvisor uxc
verifiedpermissions voiceid vpclattice waf wafregional wafv2 wellarchitected wickr wisdom workdocs workmail
workmailmessageflow workspaces workspacesinstances workspacesthinclient workspacesweb xray
`)
