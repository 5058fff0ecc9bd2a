package s3store

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Option changes how a Store keeps its records. New checks what options say.
type Option func(*store)

// Encrypt has S3 encrypt records as the header x-amz-server-side-encryption
// says: AES256, aws:kms or aws:kms:dsse, the last two under the KMS key, or
// under the account's own for S3 if that is empty. Without it the bucket's
// default applies.
func Encrypt(algorithm types.ServerSideEncryption, kmsKeyID string) Option {
	return func(s *store) {
		s.encryption.set, s.encryption.algorithm, s.encryption.kmsKeyID = true, algorithm, kmsKeyID
	}
}

// BucketKey has S3 derive the records' keys from one that it keeps for a while,
// which saves requests to KMS. It goes with Encrypt and aws:kms.
func BucketKey() Option {
	return func(s *store) { s.encryption.bucketKey = true }
}

// encryption is what the options of a store ask for.
type encryption struct {
	set       bool
	algorithm types.ServerSideEncryption
	kmsKeyID  string
	bucketKey bool
}

// withKMS are the algorithms that use a KMS key.
var withKMS = []types.ServerSideEncryption{types.ServerSideEncryptionAwsKms, types.ServerSideEncryptionAwsKmsDsse}

func (e encryption) problems() []string {
	var found []string
	kms := slices.Contains(withKMS, e.algorithm)
	if e.set && !kms && e.algorithm != types.ServerSideEncryptionAes256 {
		found = append(found, fmt.Sprintf("%q is not a server-side encryption; expected AES256, aws:kms or aws:kms:dsse", e.algorithm))
	}
	if e.kmsKeyID != "" && !kms {
		found = append(found, fmt.Sprintf("a KMS key needs the server-side encryption aws:kms or aws:kms:dsse, not %q", e.algorithm))
	}
	if e.bucketKey && e.algorithm != types.ServerSideEncryptionAwsKms {
		found = append(found, fmt.Sprintf("a bucket key needs the server-side encryption aws:kms, not %q", e.algorithm))
	}
	return found
}

func (e encryption) apply(in *s3.PutObjectInput) {
	in.ServerSideEncryption = e.algorithm
	if e.kmsKeyID != "" {
		in.SSEKMSKeyId = aws.String(e.kmsKeyID)
	}
	if e.bucketKey {
		in.BucketKeyEnabled = aws.Bool(true)
	}
}
