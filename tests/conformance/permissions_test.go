package conformance_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// namesAccess are members of a start call, and their shapes, that look like a role, a
// key, a secret, a function or a place in S3: what a caller may need a permission on.
var namesAccess = regexp.MustCompile(`(?i)role(arn|name|override)?$|kms.*(key|arn|id)|^encryptionkey|secret|(lambda|function)arn|lambdaarn$|bucket(name|arn)?$|s3.*(uri|url|path|location|bucket)|^(log|output|template|delivery)?s?3?ur[il]$|^templateurl$`)

// needsNone are such members that need no permission in the catalogue, as a pattern of
// "job path", with the reason.
var needsNone = []struct {
	reason  string
	members []string
}{
	{"the role of the request reads, writes and decrypts (dependent has its iam:PassRole)", []string{
		"bedrock-agent:CreateKnowledgeBase *", "bedrock:Create*Job *[sS]3Uri", "bedrock:CreateEvaluationJob *.s3Location.uri", "bedrock:CreateModelCustomizationJob *.lambdaArn",
		"bedrock:CreateModelInvocationJob *.s3EncryptionKeyId", "comprehend:* *S3Uri", "comprehend:* *S3Prefix", "comprehend:* OutputDataConfig.KmsKeyId",
		"braket:CreateJob *", "comprehendmedical:* *S3Bucket", "comprehendmedical:* KMSKey", "dms:StartReplicationTaskAssessmentRun Result*", "iot:* inputFileBucket",
		"iotsitewise:CreateBulkImportJob *.bucket", "medical-imaging:* *S3Uri", "mwaa:UpdateEnvironment *", "transcribe:StartMedicalScribeJob *",
		"datasync:StartTaskExecution *.S3BucketArn", "emr-serverless:StartJobRun *.encryptionKeyArn", "emr-serverless:StartJobRun *.logUri",
		"forecast:* *.KMSKeyArn", "forecast:Create* *.Path", "glue:StartDataQualityRulesetEvaluationRun *.S3Location",
		"healthlake:* *.KmsKeyId", "healthlake:* *.S3Uri", "mediaconvert:CreateJob *.KmsKeyArn", "mediaconvert:CreateJob *.SigningKmsKey",
		"mediaconvert:CreateJob *Secret", "mediaconvert:CreateJob *SecretName", "neptune-graph:StartImportTask importOptions.neptune.s3Export*",
		"omics:StartRun outputUri", "personalize:* *kmsKeyArn", "personalize:* *.path", "personalize:* *.dataLocation", "rds:StartExportTask S3BucketName",
		"s3control:CreateJob *Arn", "s3control:CreateJob *Bucket", "s3control:CreateJob *KeyId", "s3control:CreateJob *.TargetResource",
		"sagemaker:* *.S3Uri", "sagemaker:* *.S3OutputPath", "sagemaker:* *.S3OutputLocation", "sagemaker:Create[ACHLP]* *S3Uri", "sagemaker:* *.KmsKeyId",
		"sagemaker:CreateLabelingJob *LambdaArn", "sagemaker:CreateTransformJob *.DestinationS3Uri",
		"sagemaker:CreateInferenceRecommendationsJob *S3OutputUri", "sagemaker:CreateInferenceRecommendationsJob *SamplePayloadUrl", "translate:* *.S3Uri", "translate:* *.EncryptionKey.Id",
	}},
	{"SageMaker's reference of permissions: the caller needs kms:CreateGrant where the job's role lacks it: the role has it", []string{"sagemaker:* *.VolumeKmsKeyId"}},
	{"the role of the request passes it on, or Redshift has it already", []string{"sagemaker:* *.ExecutionRoleARN", "sagemaker:* *.ClusterRoleArn"}},
	{"the role of the project or the build encrypts its artifacts", []string{"codebuild:* encryptionKeyOverride"}},
	{"the service's own role does it (vmimport, the infrastructure role of ECS, a service-linked role)", []string{
		"ec2:ImportImage DiskContainers.*", "ec2:ImportSnapshot DiskContainer.*", "ec2:Import* KmsKeyId", "ec2:Import* RoleName", "ec2:ExportImage *",
		"config:PutConformancePack DeliveryS3Bucket", "ecs:RunTask *.kmsKeyId",
		"quicksight:StartDashboardSnapshotJob *.BucketName",
	}},
	{"the bucket's policy, and the key's, let the service itself write", []string{
		"cloudtrail:StartQuery DeliveryS3Uri", "compute-optimizer:* *.bucket", "inspector2:Create* s3Destination.*", "mailmanager:StartArchiveExport *.S3Location", "logs:CreateExportTask destination",
	}},
	{"the machines of the job do it with their own role", []string{
		"codedeploy:CreateDeployment *.bucket", "emr:* *[lL]ogUri", "emr:RunJobFlow LogEncryptionKmsKeyId", "emr:* *.EncryptionKeyArn",
		"emr:StartNotebookExecution *.Bucket", "emr-containers:StartJobRun *.encryptionKeyArn", "emr-containers:StartJobRun *.logUri",
	}},
	{"no role is passed: the machines assume it, and a condition key of the start call's action bounds it", []string{
		"emr:AddJobFlowSteps ExecutionRoleArn", "emr:RunJobFlow StepExecutionRoleArn", "emr:StartNotebookExecution *.ExecutionRoleArn",
		"emr-containers:StartJobRun executionRoleArn", "ssm:Start*Execution *.ExecutionRoleName", "cloudformation:UpdateStackSet ExecutionRoleName",
	}},
	{"the task definition has roles that no argument names, so that Resources must name all anyway", []string{"ecs:RunTask overrides.*RoleArn"}},
	{"the call does not use it: its model says so", []string{"ec2:CreateImage *.KmsKeyId"}},
	{"no source says which actions the caller needs on it: Grants adds them", []string{
		"athena:StartSession MonitoringConfiguration.*", "bedrock:CreateModelCopyJob modelKmsKeyId", "bedrock:CreateModelImportJob importedModelKmsKeyId",
		"cloudformation:UpdateStackSet StackSetOutputBucket", "ec2:CopySnapshot KmsKeyId", "efs:CreateFileSystem KmsKeyId", "fsx:CreateFileSystem *",
		"kafka:CreateClusterV2 *", "keyspaces:RestoreTable *.kmsKeyIdentifier", "lexv2-models:StartImport *", "m2:StartBatchJob *", "opensearch:CreateDomain *.KmsKeyId",
		"opensearchserverless:CreateCollection *.kmsKeyArn", "osis:CreatePipeline *.KmsKeyArn", "quicksight:StartAssetBundleImportJob *", "rds:* *K[mM][sS]KeyId",
		"sagemaker-geospatial:* *", "sesv2:CreateImportJob *.S3Url", "snowball:CreateJob *", "supplychain:* s3uri", "synthetics:StartCanaryDryRun *",
		"sagemaker:CreateModelPackage *", "translate:CreateParallelData EncryptionKey.Id",
		"bedrock:CreateEvaluationJob customerEncryptionKeyId", "bedrock:CreateModelCustomizationJob customModelKmsKeyId",
		"comprehend:* *ModelKmsKeyId", "comprehend:* VolumeKmsKeyId", "elasticache:CreateSnapshot KmsKeyId",
	}},
	{"only jobs of the type select have it, which Glacier takes from old customers alone", []string{"glacier:InitiateJob *"}},
	{"an account, a region, an enum, a role to be made, or a URL elsewhere", []string{
		"*:* *BucketOwner", "mediaconvert:CreateJob *.KmsKeyRegion", "mediaconvert:CreateJob *.Url", "emr:RunJobFlow *.InstanceRole",
		"organizations:Create* RoleName", "translate:* *EncryptionKey.Type", "transcribe:* *.ParticipantRole", "opensearch:CreateDomain *.MasterBackendRole",
		"sesv2:CreateExportJob *.S3Url", "cloudformation:UpdateStackSet ExecutionRoleTemplateUrl",
	}},
}

// Each member of a start call that looks like something a caller needs a permission on
// names a resource of the job's permissions, or stands in the list with a reason.
func TestMembersThatNeedPermissions(t *testing.T) {
	t.Parallel()
	excused := map[string]int{}
	found := 0
	for _, job := range allJobs(t) {
		service, err := models.Load(job.Service.Key)
		require.NoError(t, err)
		named := map[string]bool{}
		for _, naming := range job.Job.Names {
			for _, member := range naming.Members() {
				named[member] = true
			}
		}
		for _, member := range accessMembers(service.Operations[job.Name].Input, nil, nil) {
			found++
			if named[member] {
				continue
			}
			excuse := ""
			for _, none := range needsNone {
				for _, pattern := range none.members {
					matches, err := path.Match(pattern, job.FullName()+" "+member)
					require.NoError(t, err)
					if matches {
						excuse = pattern
						excused[pattern]++
					}
				}
			}
			if excuse == "" {
				t.Errorf("%s: does the caller need a permission for %s? Write it into jobs.json (dependent, names), or here with the reason", job.FullName(), member)
			}
		}
	}
	require.Greater(t, found, 250)
	for _, none := range needsNone {
		require.NotEmpty(t, none.reason)
		for _, pattern := range none.members {
			require.NotZero(t, excused[pattern], "nothing is like %s", pattern)
		}
	}
}

// allJobs are the jobs of the catalogue.
func allJobs(t *testing.T) []*catalog.Entry {
	t.Helper()
	listings, err := catalog.AWS().List()
	require.NoError(t, err)
	var all []*catalog.Entry
	for _, service := range listings {
		for _, listed := range service.Entries {
			e, err := catalog.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			if e.Job != nil {
				all = append(all, e)
			}
		}
	}
	require.Len(t, all, 243)
	return all
}

// accessMembers are the paths of strings whose names look so. Paths go through lists and
// maps to what they hold.
func accessMembers(s *catalog.Shape, at []string, above []*catalog.Shape) []string {
	if s == nil || slices.Contains(above, s) {
		return nil
	}
	above = append(slices.Clone(above), s)
	var all []string
	switch {
	case s.Type == catalog.String && len(at) > 0 && (namesAccess.MatchString(at[len(at)-1]) || namesAccess.MatchString(s.Name)):
		return []string{strings.Join(at, ".")}
	case s.Element != nil:
		return accessMembers(s.Element.Shape, at, above)
	}
	for _, m := range s.Members {
		all = append(all, accessMembers(m.Shape, append(slices.Clone(at), m.Name), above)...)
	}
	return all
}
