package shipped

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// Store says where start records go: to the embedded S3 server, else to a bucket, or
// to a table.
type Store struct {
	Data       string // the folder of the embedded server; empty for memory
	S3Endpoint string // of another S3 server than AWS's
	Bucket     string
	Table      string
}

// External tells whether start records go to a store that is not ours.
func (r *Store) External() bool { return r.UsesS3() || r.Table != "" }

// UsesS3 tells whether an S3 server that is not ours is used.
func (r *Store) UsesS3() bool { return r.S3Endpoint != "" || r.Bucket != "" }

// AddStore gives functions of --lambda the store of the run in their environment.
func (b *Functions) AddStore(_ context.Context, env []string) ([]string, error) {
	url := b.options.Records.S3Endpoint
	if b.server != nil {
		url = b.server.SecretURL()
	}
	return answers.SetStore(slices.Concat(env, b.functionEnv), b.storeAt(url)), nil
}

// ReachableServer is the S3 server of the start records; nil if it is not ours, or if the
// run is virtual and so over before anybody could use it.
func (b *Functions) ReachableServer() *embeddeds3.Server {
	if b.clock.Virtual() {
		return nil
	}
	return b.server
}

// StartRecords names the start records that the run has written.
func (b *Functions) StartRecords(ctx context.Context) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	locations := []string{}
	for _, key := range b.keys {
		if _, err := b.store.Load(ctx, key); err == nil {
			locations = append(locations, b.store.Location(key))
		}
	}
	return locations
}

// openS3 starts the embedded server, or prepares for the user's.
func (b *Functions) openS3() error {
	if b.options.Records.UsesS3() {
		b.client = s3.NewFromConfig(b.aws, func(o *s3.Options) {
			if b.options.Records.S3Endpoint != "" {
				o.BaseEndpoint = aws.String(b.options.Records.S3Endpoint)
			}
			o.UsePathStyle = o.BaseEndpoint != nil
			o.DisableLogOutputChecksumValidationSkipped = true
		})
		return nil
	}
	o := embeddeds3.Options{Dir: b.options.Records.Data, Keys: b.signers, Known: b.known}
	if b.clock.Virtual() {
		o.Now = b.clock.Now
	}
	server, err := embeddeds3.Start(o)
	if err != nil && b.options.Records.Data != "" {
		return commandline.Errorf("--data: %w", err)
	}
	if err != nil {
		return err
	}
	b.closers = append(b.closers, server.Close)
	b.server, b.client, b.bucket = server, server.Client(), localloop.Bucket
	if b.clock.Virtual() {
		b.client = server.DirectClient()
	}
	return server.CreateBucket(localloop.Bucket)
}

// openStore opens the store of the start records.
func (b *Functions) openStore() (err error) {
	if b.options.Records.Table == "" {
		b.store, err = s3store.New(b.client, b.bucket, handler.DefaultPrefix)
		return err
	}
	b.store, err = direct.New(b.aws, b.options.Records.Table, handler.DefaultPrefix)
	return err
}

// storeAt is the store of the run for functions, with its S3 server at a URL.
func (b *Functions) storeAt(url string) answers.Store {
	return answers.Store{URL: url, Bucket: b.bucket, Table: b.options.Records.Table, Flags: b.recordsFlags()}
}

// recordsFlags are the flags with which jobpoller records opens the store of the run; empty
// for those of its place.
func (b *Functions) recordsFlags() string {
	if b.server == nil || b.options.Records.Table != "" {
		return ""
	}
	return answers.FolderFlags(b.options.Records.Data)
}
