package records

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// doctorKey returns the key of a record that doctor alone writes, and no other run of it.
// Its execution is none, so a list of records leaves it out.
func doctorKey() startrecord.Key {
	return startrecord.Key{ExecutionARN: startrecord.ProbeKey().ExecutionARN, Poller: "doctor", Scope: rand.Text()}
}

// checkStore reads a record that is not there: S3 says so only to who may list.
func (d *doctor) checkStore(ctx context.Context) {
	key := doctorKey()
	switch _, err := d.store.Load(ctx, key); {
	case err == nil, errors.Is(err, startrecord.ErrNotFound):
		d.add("store", healthy, "", "%s answers, and lets you read records", d.store.name())
	case errors.Is(err, startrecord.ErrConfiguration):
		_, text, _ := strings.Cut(kit.WithoutSDK(err), d.store.Location(key)+": ")
		d.add("store", diag.Error.String(), d.mend(err, d.readPermission(ctx)), "%s", text)
	default:
		d.failToReach("store", err)
	}
}

// readPermission is the permission without which the read of a record that is not there is
// denied.
func (d *doctor) readPermission(ctx context.Context) string {
	if d.store.flags.table != "" {
		return "dynamodb:GetItem"
	}
	root, one := d.store.root(), int32(1)
	_, err := d.store.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &d.store.flags.bucket, Prefix: &root, MaxKeys: &one})
	if awserror.IsPermissionCode(goerror.Code(err)) {
		return "s3:ListBucket"
	}
	return "s3:GetObject"
}

// mend is what to do about a store that cannot be used. The call needs the permission.
func (d *doctor) mend(err error, permission string) string {
	flags := d.store.flags
	table := " --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=key,AttributeType=S" +
		" --key-schema AttributeName=key,KeyType=HASH" + flags.aws.Spell()
	switch code := kit.NewCallError(err).Code; {
	case code == "NoSuchBucket":
		return "aws s3 mb s3://" + flags.bucket + flags.aws.Spell()
	case code == "ResourceNotFoundException":
		return "aws dynamodb create-table --table-name " + flags.table + table
	case code == "ValidationException":
		return "aws dynamodb create-table --table-name NEW_TABLE" + table
	case awserror.IsPermissionCode(code):
		denial, _ := goerror.ReadDenial(err)
		return denial.Advice("your identity and the roles of the functions", permission)
	default:
		return ""
	}
}

func (d *doctor) failToReach(check string, err error) {
	d.unreached = true
	d.add(check, diag.Error.String(), "check the region, --endpoint-url and the network, and run doctor again", "%s: %s", d.store.name(), kit.ErrorText(err))
}

// checkWrites tries what the functions ask of the store, with a record that it removes.
func (d *doctor) checkWrites(ctx context.Context) {
	key, store := doctorKey(), startrecord.WithoutProbe(d.store.Store)
	const day = 24 * time.Hour
	defer d.run(context.WithoutCancel(ctx), func(ctx context.Context) { d.removeRecord(ctx, key) })
	if err := startrecord.ProbeUnder(ctx, store, key, time.Now().UTC().Add(day)); err != nil {
		d.failWrite("conditions", "keep the records in another store: here two functions could start one job", err)
		return
	}
	d.add("conditions", healthy, "", "you may write records, and writes whose condition does not hold are refused")
	index, ok := store.(startrecord.Indexed)
	if !ok {
		return
	}
	if err := startrecord.ProbeIndex(ctx, index, key); err != nil {
		d.failWrite("callbacks", "keep the records in another table: with this one no Task can wait for a callback (.waitForTaskToken)", err)
		return
	}
	d.add("callbacks", healthy, "", "the table makes transactions, which Tasks that wait for a callback need")
}

// failWrite adds the finding of a write that a store refuses.
func (d *doctor) failWrite(check, other string, err error) {
	permission := "s3:PutObject"
	if d.store.flags.table != "" {
		permission = "dynamodb:PutItem"
	}
	switch do := d.mend(err, permission); {
	case !errors.Is(err, startrecord.ErrConfiguration):
		d.failToReach(check, err)
	case do != "":
		d.add(check, diag.Error.String(), do, "%s", kit.WithoutSDK(err))
	default:
		d.add(check, diag.Danger.String(), other, "%s", kit.WithoutSDK(err))
	}
}

// removeRecord removes the record that doctor has written. The functions never remove one,
// so their roles have no permission for it, and who runs doctor may have none.
func (d *doctor) removeRecord(ctx context.Context, key startrecord.Key) {
	_, place, _ := strings.Cut(d.store.Location(key), "://")
	flags := d.store.flags
	var err error
	var permission, do string
	if flags.table != "" {
		item := strings.TrimPrefix(place, flags.table+"/")
		_, err = d.call(ctx, "dynamodb", "DeleteItem", map[string]any{"TableName": flags.table, "Key": map[string]any{"key": map[string]any{"S": item}}})
		permission = "dynamodb:DeleteItem"
		do = "aws dynamodb delete-item --table-name " + flags.table + " --key " + shell.Quote(`{"key": {"S": "`+item+`"}}`)
	} else {
		err = d.removeObject(ctx, strings.TrimPrefix(place, flags.bucket+"/"))
		permission = "s3:DeleteObject (s3:DeleteObjectVersion in a bucket with versions)"
		do = "aws s3 rm " + shell.Quote("s3://"+place)
	}
	if err == nil {
		return
	}
	if _, lost := startrecord.WithoutProbe(d.store.Store).Load(ctx, key); !errors.Is(lost, startrecord.ErrNotFound) {
		d.add("removal", diag.Note.String(), "grant yourself "+permission+", or have it removed: "+do+flags.aws.Spell(),
			"doctor could not remove the record that it wrote, %s, which no execution reads: %s", d.store.Location(key), kit.ErrorText(err))
	}
}

// removeObject removes an object: of a bucket with versions, its only one.
func (d *doctor) removeObject(ctx context.Context, key string) error {
	bucket := &d.store.flags.bucket
	found, err := d.store.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: &key})
	if goerror.Code(err) == "NotFound" {
		return nil // doctor could not write it
	}
	if err != nil {
		return err
	}
	_, err = d.store.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key, VersionId: found.VersionId})
	return err
}
