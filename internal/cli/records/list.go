package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// foundRecord is a record in the store, or why it cannot be read.
type foundRecord struct {
	key    startrecord.Key
	place  string // if the key is not known
	stored startrecord.Stored
	err    error
}

// visitRecord is called for each record that is found. It tells whether to go on.
type visitRecord func(foundRecord) (bool, error)

// list visits the records of an execution, or of all executions, while it reads them. A
// status that is not empty leaves out others, but for records that cannot be read.
func (r *recordStore) list(ctx context.Context, execution, status string, visit visitRecord) error {
	filter := func(f foundRecord) (bool, error) {
		switch {
		case errors.Is(f.err, startrecord.ErrNotFound): // gone by now, or of another place
			return true, nil
		case errors.Is(f.err, startrecord.ErrUnavailable), errors.Is(f.err, startrecord.ErrConfiguration), ctx.Err() != nil:
			return false, r.loadError(f.err)
		case f.err == nil && (execution != "" && f.key.ExecutionARN != execution || status != "" && string(f.stored.Record.Status) != status):
			return true, nil
		}
		return visit(f)
	}
	if r.flags.table != "" {
		return r.scanTable(ctx, filter)
	}
	return r.scanBucket(ctx, execution, filter)
}

// isOfPoller tells whether a record is one of a poller: probes, doctor and run write others.
func isOfPoller(key startrecord.Key) bool {
	return key.ExecutionARN != startrecord.ProbeKey().ExecutionARN && key.Poller != localloop.ClaimPoller
}

// keyOfRecord reads the key out of the text of a record.
func keyOfRecord(text []byte) (startrecord.Key, bool) {
	var parts struct {
		ExecutionARN string `json:"executionArn"`
		Poller       string `json:"poller"`
		Scope        string `json:"scope"`
	}
	if json.Unmarshal(text, &parts) != nil {
		return startrecord.Key{}, false
	}
	key := startrecord.Key{ExecutionARN: parts.ExecutionARN, Poller: parts.Poller, Scope: parts.Scope}
	return key, key.Validate() == nil
}

// keyOfPath reads a key out of the path of its record. Paths with a hash do not say it.
func keyOfPath(path string) (startrecord.Key, bool) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil {
			return startrecord.Key{}, false
		}
		parts[i] = text
	}
	if len(parts) != 4 { //nolint:mnd // execution, poller, scope, file
		return startrecord.Key{}, false
	}
	key := startrecord.Key{ExecutionARN: parts[0], Poller: parts[1], Scope: parts[2]}
	if key.Path() != path { // "_" stands for no scope
		key.Scope = ""
	}
	return key, key.Path() == path && key.Validate() == nil
}

// maxRecord bounds what is read of an object: a record holds a result of at most 256
// KiB, with what is escaped.
const maxRecord = 4 << 20

// scanError is the error of a call that finds records. The call needs the IAM action.
func (r *recordStore) scanError(action string, err error) error {
	switch kit.NewCallError(err).Code {
	case "NoSuchBucket", "ResourceNotFoundException":
		return fmt.Errorf("%s does not exist in this account and region: check its name, and pass --region", r.name())
	default:
		return fmt.Errorf("%s: %s", r.name(), kit.EndReason([]string{action}, err))
	}
}

// root is what the keys of all records begin with.
func (r *recordStore) root() string { return strings.TrimSuffix(r.flags.prefix, "/") + "/" }

// errRepeats is the error of a store whose pages would have no end.
var errRepeats = errors.New("the store does not work: the pages of its list repeat themselves")

// seenTokens are the tokens of pages.
type seenTokens map[string]bool

// repeats tells whether an earlier page had the token.
func (s seenTokens) repeats(token string) bool {
	seen := s[token]
	s[token] = true
	return seen
}

// scanBucket visits the records of a bucket until visit has enough.
func (r *recordStore) scanBucket(ctx context.Context, execution string, visit visitRecord) error {
	folder := r.root()
	if execution != "" {
		path := startrecord.Key{ExecutionARN: execution, Poller: "x"}.Path()
		folder += path[:strings.IndexByte(path, '/')+1]
	}
	pages, tokens := s3.NewListObjectsV2Paginator(r.s3, &s3.ListObjectsV2Input{Bucket: &r.flags.bucket, Prefix: &folder}), seenTokens{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return r.scanError("s3:ListBucket", err)
		}
		if token := aws.ToString(page.NextContinuationToken); aws.ToBool(page.IsTruncated) && tokens.repeats(token) {
			return fmt.Errorf("%s: %w", r.name(), errRepeats)
		}
		for _, object := range page.Contents {
			f, known, err := r.loadObject(ctx, object)
			if err != nil {
				return err
			}
			if !known {
				continue
			}
			if on, err := visit(f); err != nil || !on {
				return err
			}
		}
	}
	return nil
}

// loadObject loads the record that an object is, if it is one.
func (r *recordStore) loadObject(ctx context.Context, object types.Object) (f foundRecord, known bool, err error) {
	name, size := aws.ToString(object.Key), aws.ToInt64(object.Size)
	if !strings.HasSuffix(name, "/record.json") {
		return f, false, nil
	}
	if size > maxRecord {
		f.place = "s3://" + r.flags.bucket + "/" + name
		f.err = fmt.Errorf("%s: it was not read: it has %d bytes, and a start record at most %d", f.place, size, maxRecord)
		return f, true, nil
	}
	if f.key, known = keyOfPath(strings.TrimPrefix(name, r.root())); !known {
		f.key, known, err = r.readKey(ctx, name)
	}
	if err != nil || !known || !isOfPoller(f.key) {
		return f, false, err
	}
	f.stored, f.err = r.Load(ctx, f.key)
	return f, true, nil
}

// readKey reads the key out of an object, if it is a record.
func (r *recordStore) readKey(ctx context.Context, name string) (key startrecord.Key, ok bool, err error) {
	out, err := r.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &r.flags.bucket, Key: &name})
	if err != nil && kit.NewCallError(err).Code == "NoSuchKey" { // gone by now
		return key, false, nil
	}
	if err != nil {
		return key, false, fmt.Errorf("%s: %s", r.name(), kit.EndReason([]string{"s3:GetObject"}, err))
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, io.LimitReader(out.Body, maxRecord))
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return key, false, fmt.Errorf("%s: %w", r.name(), err)
	}
	key, ok = keyOfRecord(text.Bytes())
	return key, ok, nil
}

// recordPage is a part of a table, as Scan gives it: at most a megabyte.
type recordPage struct {
	Items []struct {
		Key       attribute `json:"key"`
		Record    attribute `json:"record"`
		WrittenAt attribute `json:"writtenAt"`
	} `json:"Items"`
	LastEvaluatedKey any `json:"LastEvaluatedKey"`
}

// attribute is a string, or a number with its digits.
type attribute struct {
	S string `json:"S"`
	N string `json:"N"`
}

// scanTable visits the records of a table until visit has enough.
func (r *recordStore) scanTable(ctx context.Context, visit visitRecord) error {
	service, err := models.Load("dynamodb")
	if err != nil {
		return err
	}
	cfg := r.aws.Copy()
	dates := kit.NewDateReader(cfg.HTTPClient) // the age of a record is judged by the clock of the table
	cfg.HTTPClient = dates
	client := awsjob.New(cfg)
	input := map[string]any{
		"TableName": r.flags.table, "ConsistentRead": true, "ProjectionExpression": "#key, #record, #writtenAt",
		"ExpressionAttributeNames":  map[string]any{"#key": "key", "#record": "record", "#writtenAt": "writtenAt"},
		"FilterExpression":          "begins_with(#key, :prefix)",
		"ExpressionAttributeValues": map[string]any{":prefix": map[string]any{"S": r.root()}},
	}
	tokens := seenTokens{}
	for {
		answer, err := client.Call(ctx, service.Operations["Scan"], input)
		if err != nil {
			return r.scanError("dynamodb:Scan", err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		var page recordPage
		if err := json.Unmarshal(text, &page); err != nil {
			return err
		}
		skew, _ := dates.Skew()
		now := time.Now().Add(-skew)
		for _, item := range page.Items {
			f := foundRecord{}
			var known bool
			if f.key, known = keyOfRecord([]byte(item.Record.S)); !known || !isOfPoller(f.key) || item.Key.S != r.root()+f.key.Path() {
				continue
			}
			if f.stored.Record, f.err = startrecord.Decode(f.key, []byte(item.Record.S)); f.err != nil {
				f.err = fmt.Errorf("%s: %w", r.Location(f.key), f.err)
			}
			if seconds, err := strconv.ParseInt(item.WrittenAt.N, 10, 64); err == nil {
				f.stored.Age = max(0, now.Sub(time.Unix(seconds, 0))).Truncate(time.Second)
			}
			if on, err := visit(f); err != nil || !on {
				return err
			}
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		next, err := json.Marshal(page.LastEvaluatedKey)
		if err != nil {
			return err
		}
		if tokens.repeats(string(next)) {
			return fmt.Errorf("%s: %w", r.name(), errRepeats)
		}
		input["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}
