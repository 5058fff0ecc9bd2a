// Package access says which IAM actions calls need. Drivers, the catalogue and the
// constructs of the CDK have this type in common.
package access

// Permission is an IAM action that calls need.
type Permission struct {
	// Action is the IAM action, such as "dynamodb:DescribeExport".
	Action string
	// Resource is the ARN that the action is on, with ${Partition}, ${Region},
	// ${Account} and names of the service's own as the Service Authorization
	// Reference has them, or "*" where it is not known, or the action knows none.
	Resource string
	// For is the call that needs it. RunJob starts and finds jobs, CheckStatus
	// describes and stops them, and Collect does these two and describes many at once.
	For Purpose
	// Dependent is set where no such call is made: the service makes it, or checks it,
	// on behalf of the caller, such as s3:PutObject on the bucket of an export.
	Dependent bool
	// Optional is set where only calls with certain arguments need it.
	Optional bool
	// PassedTo are the services that get the role of an iam:PassRole.
	PassedTo []string
}

// Purpose is what a permission is needed for.
type Purpose string

// The purposes.
const (
	ForStart    Purpose = "Start"
	ForFind     Purpose = "Find" // a job by its natural key
	ForDescribe Purpose = "Describe"
	ForBatch    Purpose = "DescribeBatch"
	ForStop     Purpose = "Stop"
)
