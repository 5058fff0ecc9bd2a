package cdkapp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// permission is an action that a job needs, of the driver or the state machine that
// calls its service, or of the service on their behalf.
type permission struct {
	action, resource string
}

// permissions are those of a driver: what RunJob calls and what CheckStatus
// calls.
type permissions struct {
	runJob, checkStatus []permission
}

// bucketJob keeps the status of its jobs in the bucket of the functions, which
// grants what it needs of that.
const bucketJob = "lambda:Invoke"

// httpJob calls the hosts that it is allowed, and nothing of AWS.
const httpJob = "http:Request"

// builtin are the drivers that the functions have besides those of the catalogue
// (lambdas/jobs/builtin). A test compares the table with them.
var builtin = map[string]permissions{
	"athena:StartQueryExecution": {
		runJob: slices.Concat(
			on(athenaWorkGroup, "athena:StartQueryExecution"),
			on("arn:${Partition}:athena:${Region}:${Account}:datacatalog/${DataCatalogName}", "athena:GetDataCatalog"),
			on(glueCatalog, "glue:GetDatabase", "glue:GetTable", "glue:GetPartition", "glue:GetPartitions", "glue:BatchGetPartition"),
			on(glueDatabase, "glue:GetDatabase", "glue:GetTable", "glue:GetPartition", "glue:GetPartitions", "glue:BatchGetPartition"),
			on(glueTable, "glue:GetTable", "glue:GetPartition", "glue:GetPartitions", "glue:BatchGetPartition"),
			on(anyBucket, "s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"),
			on(anyObject, "s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"),
		),
		checkStatus: on(athenaWorkGroup, "athena:GetQueryExecution", "athena:StopQueryExecution"),
	},
	"dynamodb:ExportTableToPointInTime": {
		runJob: slices.Concat(
			on("arn:${Partition}:dynamodb:${Region}:${Account}:table/${TableName}", "dynamodb:ExportTableToPointInTime"),
			on(anyObject, "s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"),
		),
		checkStatus: on("arn:${Partition}:dynamodb:${Region}:${Account}:table/${TableName}/export/${ExportName}", "dynamodb:DescribeExport"),
	},
	"glue:StartJobRun": {
		runJob:      on("arn:${Partition}:glue:${Region}:${Account}:job/${JobName}", "glue:StartJobRun"),
		checkStatus: on("arn:${Partition}:glue:${Region}:${Account}:job/${JobName}", "glue:GetJobRun", "glue:BatchStopJobRun"),
	},
	httpJob: {},
	bucketJob: {
		runJob: on("arn:${Partition}:lambda:${Region}:${Account}:function:${FunctionName}", "lambda:InvokeFunction"),
	},
	"redshift-data:ExecuteStatement": {
		runJob: slices.Concat(
			on("arn:${Partition}:redshift:${Region}:${Account}:cluster:${ClusterName}", "redshift-data:ExecuteStatement"),
			on(redshiftWorkgroup, "redshift-data:ExecuteStatement", "redshift-serverless:GetCredentials"),
			on("arn:${Partition}:redshift:${Region}:${Account}:dbuser:${ClusterName}/${DbUser}", "redshift:GetClusterCredentials"),
			on("arn:${Partition}:redshift:${Region}:${Account}:dbname:${ClusterName}/${DbName}",
				"redshift:GetClusterCredentials", "redshift:GetClusterCredentialsWithIAM"),
			on("arn:${Partition}:secretsmanager:${Region}:${Account}:secret:${SecretId}", "secretsmanager:GetSecretValue"),
		),
		checkStatus: on(anyResource, "redshift-data:DescribeStatement", "redshift-data:CancelStatement"),
	},
	"states:StartExecution": {
		runJob: slices.Concat(
			on("arn:${Partition}:states:${Region}:${Account}:stateMachine:${StateMachineName}", "states:DescribeStateMachine", "states:StartExecution"),
			on(anyExecution, "states:DescribeExecution"),
		),
		checkStatus: on(anyExecution, "states:DescribeExecution", "states:StopExecution"),
	},
	"transcribe:StartTranscriptionJob": {
		runJob: slices.Concat(
			on(transcriptionJob, "transcribe:StartTranscriptionJob", "transcribe:GetTranscriptionJob"),
			on(anyObject, "s3:GetObject", "s3:PutObject"),
		),
		checkStatus: on(transcriptionJob, "transcribe:GetTranscriptionJob"),
	},
}

// The resources of several actions, with the placeholders of the Service
// Authorization Reference.
const (
	anyResource       = "*"
	anyBucket         = "arn:${Partition}:s3:::${BucketName}"
	anyObject         = "arn:${Partition}:s3:::${BucketName}/${ObjectName}"
	athenaWorkGroup   = "arn:${Partition}:athena:${Region}:${Account}:workgroup/${WorkGroupName}"
	glueCatalog       = "arn:${Partition}:glue:${Region}:${Account}:catalog"
	glueDatabase      = "arn:${Partition}:glue:${Region}:${Account}:database/${DatabaseName}"
	glueTable         = "arn:${Partition}:glue:${Region}:${Account}:table/${DatabaseName}/${TableName}"
	redshiftWorkgroup = "arn:${Partition}:redshift-serverless:${Region}:${Account}:workgroup/${WorkgroupId}"
	anyExecution      = "arn:${Partition}:states:${Region}:${Account}:execution:${StateMachineName}:${ExecutionId}"
	transcriptionJob  = "arn:${Partition}:transcribe:${Region}:${Account}:transcription-job/${JobName}"
)

func on(resource string, actions ...string) []permission {
	var all []permission
	for _, action := range actions {
		all = append(all, permission{action, resource})
	}
	return all
}

const withoutDriver = "poll it with the strategy variables or retry-task, which have no function, " +
	"or build functions with a driver of your own (docs/guide/drivers.md)"

// permissionsOf returns what the driver of a job needs.
func permissionsOf(job string) (permissions, error) {
	if known, ok := builtin[job]; ok {
		return known, nil
	}
	key, name, ok := strings.Cut(job, ":")
	if !ok {
		return permissions{}, fmt.Errorf("%q is not a job: expected a service and a name, such as %q", job, "comprehend:StartEntitiesDetectionJob")
	}
	e, err := catalog.Lookup(key, name)
	if errors.Is(err, catalog.ErrNotFound) {
		return permissions{}, fmt.Errorf("the functions have no driver of the job %q: it is none of %s, and %w",
			job, strings.Join(slices.Sorted(maps.Keys(builtin)), ", "), err)
	} else if err != nil {
		return permissions{}, err
	}
	starts := e.Job != nil && !strings.EqualFold(name, e.Waiter.Name)
	canonical := e.Service.Key + ":" + e.Waiter.Name
	if starts {
		canonical = e.Service.Key + ":" + e.Name
	}
	switch {
	case job != canonical:
		return permissions{}, fmt.Errorf("the catalogue has no job %q%s", job, diag.Question(canonical))
	case !slices.Contains(e.Service.Protocols, catalog.AWSJSON) && !slices.Contains(e.Service.Protocols, catalog.RESTJSON):
		return permissions{}, fmt.Errorf("the functions cannot call %s, which speaks %s alone: %s", e.Service.Key, e.Service.Protocols[0], withoutDriver)
	case e.Operation.Discovered:
		return permissions{}, fmt.Errorf("the functions cannot call %s of %s, whose endpoint the service has to be asked for: %s",
			e.Operation.Name, e.Service.Key, withoutDriver)
	}
	p := permissions{checkStatus: on(anyResource, e.Operation.Actions...)}
	if !starts {
		return p, nil
	}
	p.runJob = on(anyResource, e.Service.Operations[e.Name].Actions...)
	for _, d := range e.Job.Dependent {
		p.runJob = append(p.runJob, permission{d.Action, d.Resource})
	}
	if e.Job.Stop != nil {
		p.checkStatus = append(p.checkStatus, on(anyResource, e.Service.Operations[e.Job.Stop.Operation].Actions...)...)
	}
	return p, nil
}
