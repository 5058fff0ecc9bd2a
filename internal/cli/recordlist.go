package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// foundRecord is a record in the store, or why it cannot be read.
type foundRecord struct {
	key    startrecord.Key
	stored startrecord.Stored
	err    error
}

// list returns the records of an execution, or of all executions, as many as limit
// asks for, and whether there are more. A status that is not empty leaves out others.
func (r *recordStore) list(ctx context.Context, execution, status string, limit int) (found []foundRecord, more bool, err error) {
	visit := func(text []byte) (bool, error) {
		key, its, ok := keyOfRecord(text)
		if !ok || status != "" && its != status || key == startrecord.ProbeKey() || execution != "" && key.ExecutionARN != execution {
			return true, nil
		}
		if len(found) == limit {
			more = true
			return false, nil
		}
		stored, err := r.Load(ctx, key)
		if errors.Is(err, startrecord.ErrNotFound) { // gone by now, or of another place
			return true, nil
		}
		if errors.Is(err, startrecord.ErrUnavailable) || errors.Is(err, startrecord.ErrConfiguration) || ctx.Err() != nil {
			return false, err
		}
		found = append(found, foundRecord{key, stored, err})
		return true, nil
	}
	if r.flags.table != "" {
		err = r.scanTable(ctx, visit)
	} else {
		err = r.scanBucket(ctx, execution, visit)
	}
	return found, more, err
}

// keyOfRecord reads the key and the status out of the text of a record.
func keyOfRecord(text []byte) (key startrecord.Key, status string, ok bool) {
	var parts struct {
		ExecutionARN string `json:"executionArn"`
		Poller       string `json:"poller"`
		Scope        string `json:"scope"`
		Status       string `json:"status"`
	}
	if json.Unmarshal(text, &parts) != nil {
		return startrecord.Key{}, "", false
	}
	key = startrecord.Key{ExecutionARN: parts.ExecutionARN, Poller: parts.Poller, Scope: parts.Scope}
	return key, parts.Status, key.Validate() == nil
}

// maxRecord bounds what is read of an object: a record holds a result of at most 256
// KiB, with what is escaped.
const maxRecord = 4 << 20

// scanBucket visits the records of a bucket until visit has enough.
func (r *recordStore) scanBucket(ctx context.Context, execution string, visit func([]byte) (bool, error)) error {
	folder := strings.TrimSuffix(r.flags.prefix, "/") + "/"
	if execution != "" {
		path := startrecord.Key{ExecutionARN: execution, Poller: "x"}.Path()
		folder += path[:strings.IndexByte(path, '/')+1]
	}
	pages := s3.NewListObjectsV2Paginator(r.s3, &s3.ListObjectsV2Input{Bucket: &r.flags.bucket, Prefix: &folder})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("%s: %s", r.name(), endReason([]string{"s3:ListBucket"}, err))
		}
		for _, object := range page.Contents {
			if !strings.HasSuffix(aws.ToString(object.Key), "/record.json") {
				continue
			}
			out, err := r.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &r.flags.bucket, Key: object.Key})
			if err != nil {
				return fmt.Errorf("%s: %s", r.name(), endReason([]string{"s3:GetObject"}, err))
			}
			var text bytes.Buffer
			_, err = io.Copy(&text, io.LimitReader(out.Body, maxRecord))
			if err := errors.Join(err, out.Body.Close()); err != nil {
				return fmt.Errorf("%s: %w", r.name(), err)
			}
			if on, err := visit(text.Bytes()); err != nil || !on {
				return err
			}
		}
	}
	return nil
}

// scanTable visits the records of a table until visit has enough.
func (r *recordStore) scanTable(ctx context.Context, visit func([]byte) (bool, error)) error {
	service, err := models.Load("dynamodb")
	if err != nil {
		return err
	}
	client := awsjob.New(r.aws)
	input := map[string]any{
		"TableName": r.flags.table, "ProjectionExpression": "#record",
		"FilterExpression": "begins_with(#key, :prefix)", "ExpressionAttributeNames": map[string]any{"#key": "key", "#record": "record"},
		"ExpressionAttributeValues": map[string]any{":prefix": map[string]any{"S": strings.TrimSuffix(r.flags.prefix, "/") + "/"}},
	}
	for {
		answer, err := client.Call(ctx, service.Operations["Scan"], input)
		if err != nil {
			return fmt.Errorf("%s: %s", r.name(), endReason([]string{"dynamodb:Scan"}, err))
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		var page struct {
			Items []struct {
				Record struct {
					S string `json:"S"`
				} `json:"record"`
			} `json:"Items"`
			LastEvaluatedKey any `json:"LastEvaluatedKey"`
		}
		if err := json.Unmarshal(jsontree.DigitsOnly(text), &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			if on, err := visit([]byte(item.Record.S)); err != nil || !on {
				return err
			}
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		input["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}
