package records

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// checkLifecycle checks that old records go away, and not before they may.
func (d *doctor) checkLifecycle(ctx context.Context) {
	if d.store.flags.table != "" {
		d.checkTimeToLive(ctx)
		return
	}
	rule := fmt.Sprintf("add a lifecycle rule for the prefix %s that expires objects after %d days", d.store.root(), d.retentionDays)
	out, err := d.store.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &d.store.flags.bucket})
	switch {
	case err != nil && kit.NewCallError(err).Code == "NoSuchLifecycleConfiguration":
		out = &s3.GetBucketLifecycleConfigurationOutput{}
	case err != nil:
		d.skip("lifecycle", "s3:GetLifecycleConfiguration", err)
		return
	case len(out.Rules) == 0: // S3 has an error for a bucket without rules
		d.add("lifecycle", diag.Note.String(), "check that --endpoint-url is one of S3", "not checked: the answer is not a lifecycle configuration")
		return
	}
	removesAll := int32(0)
	for _, r := range out.Rules {
		days, part := expiryOf(r, d.store.root())
		switch {
		case part == noRecords:
		case r.Expiration.Days == nil:
			d.add("lifecycle", diag.Danger.String(), "remove the rule: a job can start twice once its record is gone; "+rule,
				"a lifecycle rule removes records of any age from %s on", r.Expiration.Date.Format(time.DateOnly))
			return
		case int(days) < d.retentionDays:
			d.add("lifecycle", diag.Danger.String(), rule+", no sooner: a job can start twice once its record is gone",
				"a lifecycle rule removes records after %d days, and the functions count on %d", days, d.retentionDays)
			return
		case part == allRecords && (removesAll == 0 || days < removesAll):
			removesAll = days
		}
	}
	if removesAll == 0 {
		d.add("lifecycle", diag.Warning.String(), rule, "no lifecycle rule removes all old records: the bucket keeps them for ever")
		return
	}
	d.add("lifecycle", healthy, "", "a lifecycle rule removes records after %d days", removesAll)
}

// recordPart is how many of the records a lifecycle rule can remove.
type recordPart int

const (
	noRecords recordPart = iota
	someRecords
	allRecords
)

// leastRecord is how many bytes a start record has at least.
const leastRecord = 100

// expiryOf is after how many days a rule removes records under a root, and which part of
// them. A rule with a date has no days.
func expiryOf(r types.LifecycleRule, root string) (days int32, part recordPart) {
	if r.Status != types.ExpirationStatusEnabled || r.Expiration == nil || r.Expiration.Days == nil && r.Expiration.Date == nil {
		return 0, noRecords
	}
	of := types.LifecycleRuleAndOperator{Prefix: r.Prefix} //nolint:staticcheck // rules of before have it
	switch f := r.Filter; {
	case f != nil && f.And != nil:
		of = *f.And
	case f != nil:
		of = types.LifecycleRuleAndOperator{Prefix: f.Prefix, ObjectSizeGreaterThan: f.ObjectSizeGreaterThan, ObjectSizeLessThan: f.ObjectSizeLessThan}
		if f.Tag != nil {
			of.Tags = []types.Tag{*f.Tag}
		}
	}
	records, prefix := root+"arn:", aws.ToString(of.Prefix)
	above, below := int64(-1), int64(math.MaxInt64)
	if of.ObjectSizeGreaterThan != nil {
		above = *of.ObjectSizeGreaterThan
	}
	if of.ObjectSizeLessThan != nil {
		below = *of.ObjectSizeLessThan
	}
	switch {
	case len(of.Tags) > 0, above >= maxRecord, below <= leastRecord: // records have no tags
		return 0, noRecords
	case !strings.HasPrefix(records, prefix) && !strings.HasPrefix(prefix, records):
		return 0, noRecords
	case !strings.HasPrefix(records, prefix), above >= leastRecord, below <= maxRecord:
		part = someRecords
	default:
		part = allRecords
	}
	return aws.ToInt32(r.Expiration.Days), part
}

func (d *doctor) checkTimeToLive(ctx context.Context) {
	answer, err := d.call(ctx, "dynamodb", "DescribeTimeToLive", map[string]any{"TableName": d.store.flags.table})
	if err != nil {
		d.skip("lifecycle", "dynamodb:DescribeTimeToLive", err)
		return
	}
	of, _ := answer["TimeToLiveDescription"].(map[string]any)
	status, attribute := fmt.Sprint(of["TimeToLiveStatus"]), fmt.Sprint(of["AttributeName"])
	do := fmt.Sprintf("aws dynamodb update-time-to-live --table-name %s --time-to-live-specification Enabled=true,AttributeName=expiresAt", d.store.flags.table)
	switch {
	case status != "ENABLED" && status != "ENABLING":
		d.add("lifecycle", diag.Warning.String(), do, "the table has no time to live: it keeps old records for ever")
	case attribute != "expiresAt":
		d.add("lifecycle", diag.Danger.String(), do, "the table's time to live reads the attribute %s, and start records have expiresAt", attribute)
	default:
		d.add("lifecycle", healthy, "", "the table's time to live removes records at expiresAt")
	}
}
