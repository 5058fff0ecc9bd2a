package cdkapp

import (
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

const (
	// defaultPrefix is that of the functions.
	defaultPrefix = "jobpoller"
	// defaultRetention is that of the functions.
	defaultRetention = 60 * day
	// maxRetention is the longest that the functions take.
	maxRetention = 3650 * day

	day = 24 * time.Hour
)

// RecordStore keeps the start records of the functions, in a bucket or in a table.
type RecordStore interface {
	constructs.Construct
	// Bucket is nil if the records are in a table.
	Bucket() awss3.IBucket
	// Table is nil if the records are in a bucket.
	Table() awsdynamodb.ITable
	// Prefix is what the keys of all records begin with, without a slash.
	Prefix() *string
	// Retention is how long records are kept.
	Retention() awscdk.Duration
	// GrantRecords lets a function read and write records, and nothing else of
	// the store.
	GrantRecords(grantee awsiam.IGrantable) awsiam.Grant

	// keeps is how long records are kept, in a form that Go can compare.
	keeps() time.Duration
}

// RecordBucket keeps start records as objects.
type RecordBucket interface {
	RecordStore
	// GrantJobStatus lets a Lambda function that is the job of lambda:Invoke
	// write its status (package lambdas/jobs/lambdajob).
	GrantJobStatus(grantee awsiam.IGrantable) awsiam.Grant
}

// RecordBucketProps are the props of a [RecordBucket].
type RecordBucketProps struct {
	// Bucket is one that is there. A lifecycle rule on it must not remove what
	// is below Prefix before Retention is over. Default: a new one, private, for
	// TLS alone, encrypted, without versions, with a rule that removes records.
	Bucket awss3.IBucket
	// Prefix is what the keys of all records begin with. Default: "jobpoller".
	Prefix *string
	// MaxWait is the longest that a poller may wait. Default: none; then
	// Retention bounds it.
	MaxWait awscdk.Duration
	// Retention is how long records are kept, in whole days; longer than MaxWait
	// and 14 days, in which an execution can be redriven. Default: 60 days, or as
	// much as MaxWait needs.
	Retention awscdk.Duration
	// EncryptionKey encrypts the records; the bucket's own key derives from it.
	// Default: a key of S3.
	EncryptionKey awskms.IKey
	// ServerAccessLogsBucket gets the access logs. Default: there are none.
	ServerAccessLogsBucket awss3.IBucket
	// ServerAccessLogsPrefix is what the keys of the access logs begin with.
	// Default: none.
	ServerAccessLogsPrefix *string
	// RemovalPolicy says what becomes of the new bucket when the stack goes.
	// Default: RETAIN.
	RemovalPolicy awscdk.RemovalPolicy
	// AutoDeleteObjects empties the bucket before that, for RemovalPolicy
	// DESTROY, which else fails while there are records; the CDK deploys a function
	// for it. Default: false.
	AutoDeleteObjects *bool
}

// RecordTableProps are the props of [NewRecordTable].
type RecordTableProps struct {
	// Table is one that is there, with the partition key "key", a string, and no
	// sort key; its time to live is the attribute "expiresAt". Default: a new
	// one, on demand.
	Table awsdynamodb.ITable
	// Prefix is what the keys of all records begin with. Default: "jobpoller".
	Prefix *string
	// MaxWait is the longest that a poller may wait. Default: none; then
	// Retention bounds it.
	MaxWait awscdk.Duration
	// Retention is how long records are kept, in whole days; longer than MaxWait
	// and 14 days, in which an execution can be redriven. Default: 60 days, or as
	// much as MaxWait needs.
	Retention awscdk.Duration
	// EncryptionKey encrypts the table. Default: a key of DynamoDB.
	EncryptionKey awskms.IKey
	// PointInTimeRecovery keeps backups of the last 35 days. Records are of use
	// while their executions run, so that few need it. Default: false.
	PointInTimeRecovery *bool
	// DeletionProtection keeps the table from being deleted. Default: false.
	DeletionProtection *bool
	// RemovalPolicy says what becomes of the new table when the stack goes.
	// Default: RETAIN.
	RemovalPolicy awscdk.RemovalPolicy
}

// records is what the two stores have in common.
type records struct {
	prefix string
	kept   time.Duration
}

func (r records) Bucket() awss3.IBucket      { return nil }
func (r records) Table() awsdynamodb.ITable  { return nil }
func (r records) Prefix() *string            { return new(r.prefix) }
func (r records) Retention() awscdk.Duration { return days(r.kept) }
func (r records) keeps() time.Duration       { return r.kept }

// storeEnvironment are the variables that tell a function where records are, and
// where those of before are, unless previous is nil.
func storeEnvironment(store, previous RecordStore) map[string]*string {
	all := map[string]*string{envPrefix: store.Prefix(), envRetentionDays: new(strconv.Itoa(int(store.keeps() / day)))}
	if bucket := store.Bucket(); bucket != nil {
		all[envBucket] = bucket.BucketName()
	}
	if table := store.Table(); table != nil {
		all[envTable] = table.TableName()
	}
	if previous == nil {
		return all
	}
	all[envPreviousPrefix] = previous.Prefix()
	if bucket := previous.Bucket(); bucket != nil {
		all[envPreviousBucket] = bucket.BucketName()
	}
	if table := previous.Table(); table != nil {
		all[envPreviousTable] = table.TableName()
	}
	return all
}

// precedes refuses a store of before that is the store of today.
func (p where) precedes(previous, store RecordStore) {
	switch {
	case previous == nil:
	case store == nil:
		p.refuse("PreviousStore", "Store is missing, so the store has not changed: give Store too, or leave this out")
	case *previous.Node().Addr() == *store.Node().Addr():
		p.refuse("PreviousStore", "it is the Store: leave it out, or give the store that the functions had before")
	}
}

func days(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Days(new(float64(d / day)))
}

// newRecords checks the props that the two stores have in common.
func newRecords(in where, prefix *string, maxWait, retention awscdk.Duration) records {
	r := records{prefix: strings.TrimSuffix(orElse(prefix, defaultPrefix), "/"), kept: defaultRetention}
	checkAll(func() {
		if r.prefix == "" || len(r.prefix) > 200 {
			in.refuse("Prefix", "expected 1 to 200 bytes, such as %q, found %q", defaultPrefix, r.prefix)
		}
		if strings.ContainsAny(r.prefix, "*?$") && !isToken(r.prefix) {
			in.refuse("Prefix", "it must not have *, ? and $, which mean something else in IAM policies, is %q", r.prefix)
		}
	}, func() {
		var longest time.Duration
		checkAll(func() { longest = in.wholeSeconds("MaxWait", maxWait) }, func() {
			if retention != nil {
				r.kept = in.duration("Retention", retention)
				in.outlives(r.kept, longest)
			}
		})
		if retention == nil {
			r.kept = max(r.kept, (longest+asl.RedriveWindow).Truncate(day)+day)
		}
	})
	return r
}

// outlives refuses records that would be gone while an execution can still be
// redriven.
func (p where) outlives(kept, longest time.Duration) {
	switch {
	case kept%day != 0 || kept > maxRetention:
		p.refuse("Retention", "expected whole days, at most %d, found %s", maxRetention/day, kept)
	case kept <= longest+asl.RedriveWindow:
		p.refuse("Retention", "expected more than MaxWait (%s) and the 14 days in which an execution can be redriven, found %d days; "+
			"keep records for at least %d days, or wait less", longest, kept/day, (longest+asl.RedriveWindow)/day+1)
	}
}

// fits refuses a store that would lose the records of a poller too early.
func (p where) fits(store RecordStore, longest time.Duration) {
	if kept := store.keeps(); kept <= longest+asl.RedriveWindow {
		p.refuse("MaxWait", "the store keeps records for %d days, and an execution can be redriven for 14 days after a wait of %s: "+
			"give the store a Retention of at least %d days, or wait less", kept/day, longest, (longest+asl.RedriveWindow)/day+1)
	}
}

type recordBucket struct {
	constructs.Construct
	records

	bucket awss3.IBucket
}

// NewRecordBucket keeps start records as objects of a bucket.
func NewRecordBucket(scope constructs.Construct, id *string, props *RecordBucketProps) RecordBucket {
	if props == nil {
		props = &RecordBucketProps{}
	}
	in := place(scope, id)
	b := &recordBucket{bucket: props.Bucket}
	checkAll(func() { b.records = newRecords(in, props.Prefix, props.MaxWait, props.Retention) }, func() {
		if b.bucket != nil {
			in.refuseProps("Bucket", map[string]bool{
				"EncryptionKey": props.EncryptionKey != nil, "RemovalPolicy": props.RemovalPolicy != "", "AutoDeleteObjects": props.AutoDeleteObjects != nil,
				"ServerAccessLogsBucket": props.ServerAccessLogsBucket != nil, "ServerAccessLogsPrefix": props.ServerAccessLogsPrefix != nil,
			})
		}
	})
	constructs.NewConstruct_Override(b, scope, id)
	if b.bucket == nil {
		b.bucket = newRecordBucket(b, b.records, props)
	}
	return b
}

func (b *recordBucket) Bucket() awss3.IBucket { return b.bucket }

// GrantRecords implements RecordStore. S3 answers that access is denied, not that
// there is no such object, to who may not list the bucket; the condition holds
// for the key of the object then.
func (b *recordBucket) GrantRecords(grantee awsiam.IGrantable) awsiam.Grant {
	return b.grant(grantee, b.prefix+"/*")
}

func (b *recordBucket) GrantJobStatus(grantee awsiam.IGrantable) awsiam.Grant {
	return b.grant(grantee, b.prefix+"/jobs/*")
}

func (b *recordBucket) grant(grantee awsiam.IGrantable, keys string) awsiam.Grant {
	granted := allow(grantee, []string{*b.bucket.ArnForObjects(new(keys))}, nil, "s3:GetObject", "s3:PutObject")
	granted = granted.Combine(allow(grantee, []string{*b.bucket.BucketArn()},
		map[string]map[string]any{"StringLike": {"s3:prefix": keys}}, "s3:ListBucket"))
	if key := b.bucket.EncryptionKey(); key != nil {
		granted = granted.Combine(key.Grant(grantee, new("kms:Decrypt"), new("kms:GenerateDataKey")))
	}
	return granted
}

// newRecordBucket makes the bucket of records.
func newRecordBucket(scope constructs.Construct, of records, props *RecordBucketProps) awss3.IBucket {
	encryption, bucketKey := awss3.BucketEncryption_S3_MANAGED, (*bool)(nil)
	if props.EncryptionKey != nil {
		encryption, bucketKey = awss3.BucketEncryption_KMS, new(true)
	}
	removal := props.RemovalPolicy
	if removal == "" {
		removal = awscdk.RemovalPolicy_RETAIN
	}
	return awss3.NewBucket(scope, new("Bucket"), &awss3.BucketProps{
		AutoDeleteObjects:      props.AutoDeleteObjects,
		BlockPublicAccess:      awss3.BlockPublicAccess_BLOCK_ALL(),
		BucketKeyEnabled:       bucketKey,
		Encryption:             encryption,
		EncryptionKey:          props.EncryptionKey,
		EnforceSSL:             new(true),
		MinimumTLSVersion:      new(1.2),
		ObjectOwnership:        awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		RemovalPolicy:          removal,
		ServerAccessLogsBucket: props.ServerAccessLogsBucket,
		ServerAccessLogsPrefix: props.ServerAccessLogsPrefix,
		Versioned:              new(false),
		// S3 counts from the last write of an object, as the functions do.
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  new("records"),
			Prefix:                              new(of.prefix + "/"),
			Expiration:                          of.Retention(),
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(new(1.0)),
		}},
	})
}

type recordTable struct {
	constructs.Construct
	records

	table awsdynamodb.ITable
}

// NewRecordTable keeps start records as items of a table.
func NewRecordTable(scope constructs.Construct, id *string, props *RecordTableProps) RecordStore {
	if props == nil {
		props = &RecordTableProps{}
	}
	in := place(scope, id)
	t := &recordTable{table: props.Table}
	checkAll(func() { t.records = newRecords(in, props.Prefix, props.MaxWait, props.Retention) }, func() {
		if t.table != nil {
			in.refuseProps("Table", map[string]bool{
				"EncryptionKey": props.EncryptionKey != nil, "RemovalPolicy": props.RemovalPolicy != "",
				"PointInTimeRecovery": props.PointInTimeRecovery != nil, "DeletionProtection": props.DeletionProtection != nil,
			})
		}
	})
	constructs.NewConstruct_Override(t, scope, id)
	if t.table == nil {
		t.table = newRecordTable(t, props)
	}
	return t
}

func (t *recordTable) Table() awsdynamodb.ITable { return t.table }

// GrantRecords implements RecordStore. DynamoDB decrypts a table's own key in the
// name of who reads or writes it.
func (t *recordTable) GrantRecords(grantee awsiam.IGrantable) awsiam.Grant {
	granted := allow(grantee, []string{*t.table.TableArn()}, nil, "dynamodb:GetItem", "dynamodb:PutItem")
	if key := t.table.EncryptionKey(); key != nil {
		granted = granted.Combine(key.Grant(grantee, new("kms:Decrypt")))
	}
	return granted
}

// newRecordTable makes the table of records.
func newRecordTable(scope constructs.Construct, props *RecordTableProps) awsdynamodb.ITable {
	var encryption awsdynamodb.TableEncryption // a key of DynamoDB
	if props.EncryptionKey != nil {
		encryption = awsdynamodb.TableEncryption_CUSTOMER_MANAGED
	}
	removal := props.RemovalPolicy
	if removal == "" {
		removal = awscdk.RemovalPolicy_RETAIN
	}
	return awsdynamodb.NewTable(scope, new("Table"), &awsdynamodb.TableProps{
		PartitionKey:        &awsdynamodb.Attribute{Name: new("key"), Type: awsdynamodb.AttributeType_STRING},
		TimeToLiveAttribute: new("expiresAt"),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		Encryption:          encryption,
		EncryptionKey:       props.EncryptionKey,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: new(orElse(props.PointInTimeRecovery, false)),
		},
		DeletionProtection: props.DeletionProtection,
		RemovalPolicy:      removal,
	})
}

// allow adds a statement to the policy of the grantee.
func allow(grantee awsiam.IGrantable, resources []string, conditions map[string]map[string]any, actions ...string) awsiam.Grant {
	options := &awsiam.GrantOnPrincipalOptions{
		Actions: pointers(actions), Grantee: grantee, ResourceArns: pointers(resources),
	}
	if conditions != nil {
		all := map[string]*map[string]any{}
		for operator, condition := range conditions {
			all[operator] = &condition
		}
		options.Conditions = &all
	}
	return awsiam.Grant_AddToPrincipal(options)
}
