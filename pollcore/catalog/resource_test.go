package catalog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

func TestResourcesThatArgumentsName(t *testing.T) {
	t.Parallel()
	const workgroup, objects = "arn:${Partition}:athena:${Region}:${Account}:workgroup/${WorkGroupName}", "arn:${Partition}:s3:::${BucketName}/${ObjectName}"
	location := func(url any) map[string]any {
		return map[string]any{"ResultConfiguration": map[string]any{"OutputLocation": url}}
	}
	loaded := func(source, report string) map[string]any {
		return map[string]any{
			"DataSourceConfiguration": map[string]any{"DataSourceS3Configuration": map[string]any{"BucketName": source}},
			"ReportConfiguration":     map[string]any{"ReportS3Configuration": map[string]any{"BucketName": report}},
		}
	}
	for name, tt := range map[string]struct {
		job, resource string
		arguments     map[string]any
		arns, members []string
	}{
		"a name":             {"athena:StartQueryExecution", workgroup, map[string]any{"WorkGroup": "etl"}, []string{"arn:*:athena:*:*:workgroup/etl"}, nil},
		"a token":            {"athena:StartQueryExecution", workgroup, map[string]any{"WorkGroup": "${Token[W.1]}"}, []string{"arn:*:athena:*:*:workgroup/${Token[W.1]}"}, nil},
		"unknown arguments":  {"athena:StartQueryExecution", workgroup, nil, []string{"arn:*:athena:*:*:workgroup/*"}, []string{"WorkGroup"}},
		"an expression":      {"athena:StartQueryExecution", workgroup, map[string]any{"WorkGroup": "{% $states.input.w %}"}, []string{"arn:*:athena:*:*:workgroup/*"}, []string{"WorkGroup"}},
		"a path":             {"athena:StartQueryExecution", workgroup, map[string]any{"WorkGroup.$": "$.w"}, []string{"arn:*:athena:*:*:workgroup/*"}, []string{"WorkGroup"}},
		"a wildcard of IAM":  {"athena:StartQueryExecution", workgroup, map[string]any{"WorkGroup": "e*"}, []string{"arn:*:athena:*:*:workgroup/*"}, []string{"WorkGroup"}},
		"a URL":              {"athena:StartQueryExecution", objects, location("s3://results/a/b"), []string{"arn:*:s3:::results/*"}, nil},
		"a URL of a token":   {"athena:StartQueryExecution", objects, location("s3://${Token[B.1]}/a"), []string{"arn:*:s3:::${Token[B.1]}/*"}, nil},
		"no URL":             {"athena:StartQueryExecution", objects, location("results"), []string{"arn:*:s3:::*/*"}, []string{"ResultConfiguration.OutputLocation"}},
		"the default":        {"athena:StartQueryExecution", objects, map[string]any{}, []string{"arn:*:s3:::*/*"}, []string{"ResultConfiguration.OutputLocation"}},
		"an ARN":             {"rds:StartExportTask", role, map[string]any{"IamRoleArn": "arn:aws:iam::1:role/r"}, []string{"arn:aws:iam::1:role/r"}, nil},
		"the ID of a key":    {"rds:StartExportTask", key, map[string]any{"KmsKeyId": "alias/k"}, []string{"arn:*:kms:*:*:key/*"}, []string{"KmsKeyId"}},
		"the alias of a key": {"rds:StartExportTask", key, map[string]any{"KmsKeyId": "arn:aws:kms:r:1:alias/k"}, []string{"arn:*:kms:*:*:key/*"}, []string{"KmsKeyId"}},
		"no role":            {"backup:StartBackupJob", role, map[string]any{}, nil, nil},
		"behind an ARN":      {"dynamodb:ExportTableToPointInTime", table + "/export/${ExportName}", map[string]any{"TableArn": "arn:aws:dynamodb:r:1:table/t"}, []string{"arn:aws:dynamodb:r:1:table/t/export/*"}, nil},
		"behind a token":     {"dynamodb:ExportTableToPointInTime", table + "/export/${ExportName}", map[string]any{"TableArn": "${Token[T.1]}"}, []string{"${Token[T.1]}/export/*"}, nil},
		"a revision":         {"ecs:RunTask", task, map[string]any{"TaskDefinition": "web:3"}, []string{"arn:*:ecs:*:*:task-definition/web:3"}, nil},
		"any revision":       {"ecs:RunTask", task, map[string]any{"TaskDefinition": "web"}, []string{"arn:*:ecs:*:*:task-definition/web:*"}, nil},
		"the name in an ARN": {"ecs:RunTask", "arn:${Partition}:ecs:${Region}:${Account}:task/${ClusterName}/${TaskId}", map[string]any{"Cluster": "arn:aws:ecs:r:1:cluster/c"}, []string{"arn:*:ecs:*:*:task/c/*"}, nil},
		"two buckets":        {"timestream-write:CreateBatchLoadTask", objects, loaded("in", "out"), []string{"arn:*:s3:::in/*", "arn:*:s3:::out/*"}, nil},
		"one of two unknown": {"timestream-write:CreateBatchLoadTask", objects, loaded("in", "{% $o %}"), []string{"arn:*:s3:::*/*"}, []string{
			"DataSourceConfiguration.DataSourceS3Configuration.BucketName", "DataModelConfiguration.DataModelS3Configuration.BucketName",
			"ReportConfiguration.ReportS3Configuration.BucketName",
		}},
		"an option": {"athena:StartQueryExecution", key, map[string]any{"ResultConfiguration": map[string]any{"EncryptionConfiguration": map[string]any{
			"KmsKey": "arn:aws:kms:r:1:key/k",
		}}}, []string{"arn:aws:kms:r:1:key/k"}, nil},
		"an option of the input":   {"athena:StartQueryExecution", key, map[string]any{"ResultConfiguration": "{% $r %}"}, []string{"arn:*:kms:*:*:key/*"}, []string{"ResultConfiguration.EncryptionConfiguration.KmsKey"}},
		"no option":                {"athena:StartQueryExecution", key, map[string]any{}, nil, nil},
		"an option of unknown use": {"athena:StartQueryExecution", key, nil, nil, nil},
		"an option by name":        {"lambda:UpdateFunctionCode", objects, map[string]any{"S3Bucket": "code"}, []string{"arn:*:s3:::code/*"}, nil},
		"no option by name":        {"lambda:UpdateFunctionCode", objects, map[string]any{"ZipFile": "UEs="}, nil, nil},
		"by a key of a map":        {"ssm:StartAutomationExecution", role, map[string]any{"Parameters": map[string]any{"AutomationAssumeRole": []any{"arn:aws:iam::1:role/r"}}}, []string{"arn:aws:iam::1:role/r"}, nil},
		"a host of a bucket":       {"cloudformation:CreateStack", objects, map[string]any{"TemplateURL": "https://a.b.s3.eu-west-1.amazonaws.com/t.json"}, []string{"arn:*:s3:::a.b/*"}, nil},
		"a host of S3":             {"cloudformation:CreateStack", objects, map[string]any{"TemplateURL": "https://s3-eu-west-1.amazonaws.com/b/t.json"}, []string{"arn:*:s3:::b/*"}, nil},
		"a host of China":          {"cloudformation:CreateStack", objects, map[string]any{"TemplateURL": "https://b.s3.cn-north-1.amazonaws.com.cn/t.json"}, []string{"arn:*:s3:::b/*"}, nil},
		"another host":             {"cloudformation:CreateStack", objects, map[string]any{"TemplateURL": "https://s3.example.com/b/t.json"}, []string{"arn:*:s3:::*/*"}, []string{"TemplateURL"}},
		"an ARN of any service":    {"backup:StartRestoreJob", "${RecoveryPointArn}", map[string]any{"RecoveryPointArn": "arn:aws:ec2:r::snapshot/s"}, []string{"arn:aws:ec2:r::snapshot/s"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named, err := catalog.AWS().Resolve(tt.job)
			require.NoError(t, err)
			arns, members := named.Job.On(tt.resource, tt.arguments)
			require.Equal(t, tt.arns, arns)
			require.Equal(t, tt.members, members)
		})
	}
}

const (
	role  = "arn:${Partition}:iam::${Account}:role/${RoleNameWithPath}"
	key   = "arn:${Partition}:kms:${Region}:${Account}:key/${KeyId}"
	table = "arn:${Partition}:dynamodb:${Region}:${Account}:table/${TableName}"
	task  = "arn:${Partition}:ecs:${Region}:${Account}:task-definition/${TaskDefinitionFamilyName}:${TaskDefinitionRevisionNumber}"
)

// Literal arguments name every resource that a job of the catalogue has names for.
func TestLiteralArgumentsNameTheResourcesOfAllJobs(t *testing.T) {
	t.Parallel()
	listings, err := catalog.AWS().List()
	require.NoError(t, err)
	jobs, named := 0, 0
	for _, service := range listings {
		for _, listed := range service.Entries {
			e, err := catalog.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			if e.Job == nil {
				continue
			}
			jobs++
			job, err := catalog.AWS().Resolve(e.FullName())
			require.NoError(t, err)
			arguments := literalArguments(e.Job)
			for _, p := range job.Permissions() {
				isNamed := names(e.Job, p.Resource)
				arns, members := e.Job.On(p.Resource, arguments)
				require.Empty(t, members, "%s: %s on %s", job.FullName, p.Action, p.Resource)
				_, open := e.Job.On(p.Resource, nil)
				require.Equal(t, isNamed && !p.Optional, len(open) > 0, "%s: %s on %s", job.FullName, p.Action, p.Resource)
				for _, arn := range arns {
					require.NotContains(t, arn, "${")
					if isNamed {
						named++
						require.Contains(t, arn, "mine", "%s: %s on %s", job.FullName, p.Action, p.Resource)
					}
				}
			}
		}
	}
	require.Equal(t, 243, jobs)
	require.Greater(t, named, 200)
}

// literalArguments name all that the job has names for.
func literalArguments(j *catalog.Job) map[string]any {
	arguments := map[string]any{}
	for _, naming := range j.Names {
		for value, paths := range map[string][]string{"mine": naming.Name, "arn:aws:a:b:1:mine": naming.ARN, "s3://mine/a": naming.S3} {
			for _, path := range paths {
				put(arguments, strings.Split(path, "."), value)
			}
		}
	}
	return arguments
}

// names tells whether a member of the start call names a part of the resource.
func names(j *catalog.Job, resource string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(j.Names)), func(placeholder string) bool { return strings.Contains(resource, "${"+placeholder+"}") })
}

func put(in map[string]any, path []string, value string) {
	if len(path) == 1 {
		in[path[0]] = value
		return
	}
	next, ok := in[path[0]].(map[string]any)
	if !ok {
		next = map[string]any{}
		in[path[0]] = next
	}
	put(next, path[1:], value)
}
