package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
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
	place  string // if the key is not known
	stored startrecord.Stored
	err    error
}

// visitRecord is called for each record that a scan finds, with its status if the scan
// has read it, or with why it must not be read. It reports whether the scan goes on.
type visitRecord func(f foundRecord, status string) (bool, error)

// list returns the records of an execution, or of all executions, as many as limit
// asks for, and whether there are more. A status that is not empty leaves out others,
// but for records that cannot be read.
func (r *recordStore) list(ctx context.Context, execution, status string, limit int) (found []foundRecord, more bool, err error) {
	visit := func(f foundRecord, its string) (bool, error) {
		if f.err == nil {
			if status != "" && its != "" && its != status || f.key == startrecord.ProbeKey() || execution != "" && f.key.ExecutionARN != execution {
				return true, nil
			}
			f.stored, f.err = r.Load(ctx, f.key)
			switch {
			case errors.Is(f.err, startrecord.ErrNotFound): // gone by now, or of another place
				return true, nil
			case errors.Is(f.err, startrecord.ErrUnavailable), errors.Is(f.err, startrecord.ErrConfiguration), ctx.Err() != nil:
				return false, r.loadError(f.err)
			case f.err == nil && status != "" && string(f.stored.Record.Status) != status:
				return true, nil
			}
		}
		if len(found) == limit {
			more = true
			return false, nil
		}
		found = append(found, f)
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

// scanBucket visits the records of a bucket until visit has enough.
func (r *recordStore) scanBucket(ctx context.Context, execution string, visit visitRecord) error {
	root := strings.TrimSuffix(r.flags.prefix, "/") + "/"
	folder := root
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
			name := aws.ToString(object.Key)
			if !strings.HasSuffix(name, "/record.json") {
				continue
			}
			var f foundRecord
			var status string
			var known bool
			if size := aws.ToInt64(object.Size); size > maxRecord {
				f.place, known = "s3://"+r.flags.bucket+"/"+name, true
				f.err = fmt.Errorf("%s: it was not read: it has %d bytes, and a start record at most %d", f.place, size, maxRecord)
			} else if f.key, known = keyOfPath(strings.TrimPrefix(name, root)); !known {
				if f.key, status, known, err = r.readKey(ctx, name); err != nil {
					return err
				}
			}
			if !known {
				continue
			}
			if on, err := visit(f, status); err != nil || !on {
				return err
			}
		}
	}
	return nil
}

// readKey reads the key and the status out of an object, if it is a record.
func (r *recordStore) readKey(ctx context.Context, name string) (key startrecord.Key, status string, ok bool, err error) {
	out, err := r.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &r.flags.bucket, Key: &name})
	if err != nil {
		return key, "", false, fmt.Errorf("%s: %s", r.name(), endReason([]string{"s3:GetObject"}, err))
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, io.LimitReader(out.Body, maxRecord))
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return key, "", false, fmt.Errorf("%s: %w", r.name(), err)
	}
	key, status, ok = keyOfRecord(text.Bytes())
	return key, status, ok, nil
}

// scanTable visits the records of a table until visit has enough.
func (r *recordStore) scanTable(ctx context.Context, visit visitRecord) error {
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
			key, status, ok := keyOfRecord([]byte(item.Record.S))
			if !ok {
				continue
			}
			if on, err := visit(foundRecord{key: key}, status); err != nil || !on {
				return err
			}
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		input["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}
