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

// ErrorPrefix returns what the names of the errors of an AWS SDK integration
// start with: "DynamoDb" for "aws-sdk:dynamodb". It is empty for any other
// resource and for a service that is not known.
func (r Resource) ErrorPrefix() string {
	service, ok := r.SDK()
	if i, found := slices.BinarySearch(sdkServices, service); ok && found {
		return sdkPrefixes[i]
	}
	return ""
}

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
func ExpressProblems(m *StateMachine) Problems { return m.expressProblems(&m.Flow) }

func (m *StateMachine) expressProblems(f *Flow) Problems {
	var out diag.Problems
	for s := range f.All {
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

// sdkPrefixes is what the names of the errors of each service start with in an
// AWS SDK integration: the class names of the AWS SDK for Java v2, with the
// exceptions of the developer guide.
var sdkPrefixes = strings.Fields(`
AccessAnalyzer Account Acm AcmPca AiOps Amp Amplify AmplifyBackend AmplifyUiBuilder ApiGateway
ApiGatewayManagementApi ApiGatewayV2 AppConfig AppConfigData AppFabric Appflow AppIntegrations
ApplicationAutoScaling ApplicationCostProfiler ApplicationDiscovery ApplicationInsights ApplicationSignals AppMesh
AppRunner AppStream AppSync ArcRegionSwitch ArcZonalShift Artifact Athena AuditManager AutoScaling AutoScalingPlans
B2Bi Backup BackupGateway BackupSearch Batch BcmDashboards BcmDataExports BcmPricingCalculator BcmRecommendedActions
Bedrock BedrockAgent BedrockAgentCore BedrockAgentCoreControl BedrockAgentRuntime BedrockDataAutomation
BedrockDataAutomationRuntime BedrockRuntime Billing Billingconductor Braket Budgets Chatbot Chime ChimeSdkIdentity
ChimeSdkMediaPipelines ChimeSdkMeetings ChimeSdkMessaging ChimeSdkVoice CleanRooms CleanRoomsMl Cloud9 CloudControl
CloudDirectory CloudFormation CloudFront CloudFrontKeyValueStore CloudHsm CloudHsmV2 CloudSearch CloudSearchDomain
CloudTrail CloudTrailData CloudWatch CloudWatchLogs Codeartifact CodeBuild CodeCatalyst CodeCommit CodeConnections
CodeDeploy CodeGuruProfiler CodeGuruReviewer CodeGuruSecurity CodePipeline CodeStarConnections CodestarNotifications
CognitoIdentity CognitoIdentityProvider CognitoSync Comprehend ComprehendMedical ComputeOptimizer
ComputeOptimizerAutomation Config Connect ConnectCampaigns ConnectCampaignsV2 ConnectCases ConnectContactLens
ConnectHealth ConnectParticipant ControlCatalog ControlTower CostAndUsageReport CostExplorer CostOptimizationHub
CustomerProfiles DatabaseMigration DataBrew DataExchange DataPipeline DataSync DataZone Dax Deadline Detective
DeviceFarm DevOpsAgent DevOpsGuru DirectConnect Directory DirectoryServiceData Dlm DocDb DocDbElastic Drs Dsql
DynamoDb DynamoDbStreams Ebs Ec2 Ec2InstanceConnect Ecr EcrPublic Ecs Efs Eks EksAuth ElastiCache ElasticBeanstalk
ElasticLoadBalancing ElasticLoadBalancingV2 Elasticsearch ElementalInference Emr EmrContainers EmrServerless
EntityResolution EventBridge Evs Finspace FinspaceData Firehose Fis Fms Forecast Forecastquery FraudDetector
FreeTier FSx GameLift GameLiftStreams GeoMaps GeoPlaces GeoRoutes Glacier GlobalAccelerator Glue Grafana Greengrass
GreengrassV2 GroundStation GuardDuty Health HealthLake Iam Identitystore Imagebuilder ImportExport Inspector
Inspector2 InspectorScan Interconnect InternetMonitor Invoicing Iot IotDataPlane IotDeviceAdvisor IotEvents
IotEventsData IoTFleetWise IotJobsDataPlane IotManagedIntegrations IoTSecureTunneling IoTSiteWise IoTThingsGraph
IoTTwinMaker IotWireless Ivs Ivschat IvsRealTime Kafka KafkaConnect Kendra KendraRanking Keyspaces KeyspacesStreams
Kinesis KinesisAnalytics KinesisAnalyticsV2 KinesisVideo KinesisVideoArchivedMedia KinesisVideoMedia
KinesisVideoSignaling KinesisVideoWebRtcStorage Kms LakeFormation Lambda LaunchWizard LexModelBuilding LexModelsV2
LexRuntime LexRuntimeV2 LicenseManager LicenseManagerLinuxSubscriptions LicenseManagerUserSubscriptions Lightsail
Location LookoutEquipment M2 MachineLearning Macie2 MailManager ManagedBlockchain ManagedBlockchainQuery
MarketplaceAgreement MarketplaceCatalog MarketplaceCommerceAnalytics MarketplaceDeployment MarketplaceDiscovery
MarketplaceEntitlement MarketplaceMetering MarketplaceReporting MediaConnect MediaConvert MediaLive MediaPackage
MediaPackageV2 MediaPackageVod MediaStore MediaStoreData MediaTailor MedicalImaging MemoryDb Mgn MigrationHub
MigrationHubConfig MigrationHubOrchestrator MigrationHubRefactorSpaces MigrationHubStrategy Mpa Mq MTurk Mwaa
MwaaServerless Neptune Neptunedata NeptuneGraph NetworkFirewall NetworkFlowMonitor NetworkManager NetworkMonitor
Notifications NotificationsContacts NovaAct Oam ObservabilityAdmin Odb Omics OpenSearch OpenSearchServerless
Organizations Osis Outposts Panorama PartnerCentralAccount PartnerCentralBenefits PartnerCentralChannel
PartnerCentralSelling PaymentCryptography PaymentCryptographyData PcaConnectorAd PcaConnectorScep Pcs Personalize
PersonalizeEvents PersonalizeRuntime Pi Pinpoint PinpointEmail PinpointSmsVoice PinpointSmsVoiceV2 Pipes Polly
Pricing Proton QApps QBusiness QConnect QuickSight Ram Rbin Rds RdsData Redshift RedshiftData RedshiftServerless
Rekognition Repostspace Resiliencehub ResourceExplorer2 ResourceGroups ResourceGroupsTaggingApi RolesAnywhere
Route53 Route53Domains Route53GlobalResolver Route53Profiles Route53RecoveryCluster Route53RecoveryControlConfig
Route53RecoveryReadiness Route53Resolver RtbFabric Rum S3 S3Control S3Files S3Outposts S3Tables S3Vectors SageMaker
SageMakerA2IRuntime SagemakerEdge SageMakerFeatureStoreRuntime SageMakerGeospatial SageMakerMetrics SageMakerRuntime
Savingsplans Scheduler Schemas SecretsManager SecurityAgent SecurityHub SecurityIr SecurityLake
ServerlessApplicationRepository ServiceCatalog ServiceCatalogAppRegistry ServiceDiscovery ServiceQuotas Ses SesV2
Sfn Shield Signer SignerData Signin SimpleDb SimpleDbV2 SimSpaceWeaver Snowball SnowDeviceManagement Sns
SocialMessaging Sqs Ssm SsmContacts SsmGuiConnect SsmIncidents SsmQuickSetup SsmSap Sso SsoAdmin SsoOidc
StorageGateway Sts SupplyChain Support SupportApp Sustainability Swf Synthetics TaxSettings Textract
TimestreamInfluxDb TimestreamQuery TimestreamWrite Tnb Transcribe Transfer Translate TrustedAdvisor Uxc
VerifiedPermissions VoiceId VpcLattice Waf WafRegional Wafv2 WellArchitected Wickr Wisdom WorkDocs WorkMail
WorkMailMessageFlow WorkSpaces WorkspacesInstances WorkSpacesThinClient WorkSpacesWeb XRay
`)

// sdkServices is every service of an AWS SDK integration by its name in the
// ARN, the prefix in small letters, sorted.
var sdkServices = strings.Fields(strings.ToLower(strings.Join(sdkPrefixes, " ")))
