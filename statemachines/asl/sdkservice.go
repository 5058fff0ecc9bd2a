package asl

import "strings"

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

// renamedServices are the services whose name in the AWS CLI is another than in
// the ARN, and is not the same without its hyphens.
var renamedServices = map[string]string{
	"ce": "costexplorer", "cognito-idp": "cognitoidentityprovider", "cur": "costandusagereport", "discovery": "applicationdiscovery",
	"dms": "databasemigration", "ds": "directory", "ds-data": "directoryservicedata", "elb": "elasticloadbalancing",
	"elbv2": "elasticloadbalancingv2", "es": "elasticsearch", "events": "eventbridge", "iot-data": "iotdataplane",
	"iot-jobs-data": "iotjobsdataplane", "lex-models": "lexmodelbuilding", "lexv2-models": "lexmodelsv2", "lexv2-runtime": "lexruntimev2",
	"logs": "cloudwatchlogs", "meteringmarketplace": "marketplacemetering", "mgh": "migrationhub", "sdb": "simpledb",
	"serverlessrepo": "serverlessapplicationrepository", "sms-voice": "pinpointsmsvoice", "stepfunctions": "sfn",
}
