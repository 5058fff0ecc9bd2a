package awsjob

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// address is where one request goes: to the endpoint of its operation, or to a host
// below it that has values of its input in its name.
type address struct {
	awscall.Endpoint

	// bucket is in the name of the host, and not in the path.
	bucket string
}

func (c *call) address(ctx context.Context, in *input) (address, error) {
	to := address{Endpoint: c.endpoint}
	if c.op.Discovered && !c.configured {
		var err error
		if to.URL, err = c.client.discover(ctx, c.op); err != nil {
			return to, err
		}
	}
	under := ""
	if c.labels {
		var err error
		if under, err = c.fillHostPrefix(in); err != nil {
			return to, err
		}
	}
	if bucket := c.bucketOf(in); bucket != "" {
		if err := c.checkBucket(bucket); err != nil {
			return to, err
		}
		// At an endpoint that the configuration names the bucket stays in the path:
		// few servers there have a host name for each bucket.
		if !c.configured && bucketHost().MatchString(bucket) {
			to.bucket, under = bucket, bucket+"."
		}
	}
	if under != "" {
		to.URL = &url.URL{Scheme: to.URL.Scheme, Host: under + to.URL.Host}
	}
	return to, nil
}

// hostLabel is a part of a host name.
var hostLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`) })

// fillHostPrefix is the prefix of the operation's host with the values of members.
func (c *call) fillHostPrefix(in *input) (string, error) {
	prefix := c.op.HostPrefix
	for _, m := range members(c.op) {
		label := "{" + m.Name + "}"
		if !strings.Contains(prefix, label) {
			continue
		}
		text := in.text(m.Name)
		if !hostLabel().MatchString(text) {
			return "", fmt.Errorf("%w of %s: expected letters, digits and hyphens for %s, which is part of the host name",
				jobs.ErrArguments, operationName(c.op), in.spell(m.Name))
		}
		prefix = strings.ReplaceAll(prefix, label, text)
	}
	if strings.Contains(prefix, "{") {
		lack := "its host name " + prefix + " has a part that is not a member of its input"
		return "", &UnsupportedError{Operation: operationName(c.op), Lack: lack, Advice: useTheSDK}
	}
	return prefix, nil
}

// text is the value of a member that is a string, empty if there is none.
func (in *input) text(member string) string {
	n := in.root.Get(in.spell(member))
	if n == nil {
		return ""
	}
	return n.Text
}

// bucketOf is the bucket that a call of S3 is about, empty for other calls.
func (c *call) bucketOf(in *input) string {
	if c.op.Service.Key != "s3" {
		return ""
	}
	if m := c.op.Input.Member("Bucket"); m == nil || m.In != catalog.InPath {
		return ""
	}
	return in.text("Bucket")
}

// bucketHost is what a bucket must be to be part of a host name: a certificate does
// not cover one with dots.
var bucketHost = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`) })

// checkBucket refuses buckets that are not reached by their name and a signature of
// version 4.
func (c *call) checkBucket(bucket string) error {
	var lack string
	switch {
	case strings.HasPrefix(bucket, "arn:"):
		lack = "access points named by an ARN are not supported"
	case strings.HasSuffix(bucket, "--x-s3"):
		lack = "directory buckets are not supported"
	default:
		return nil
	}
	return &UnsupportedError{Operation: operationName(c.op), Lack: lack, Advice: "name a general purpose bucket or the alias of an access point, or " + useTheSDK}
}

// dropBucket takes the bucket out of the path of a request.
func dropBucket(u *url.URL, bucket string) {
	u.Path = "/" + strings.TrimPrefix(strings.TrimPrefix(u.Path, "/"+bucket), "/")
	if u.RawPath != "" {
		u.RawPath = "/" + strings.TrimPrefix(strings.TrimPrefix(u.RawPath, "/"+bucket), "/")
	}
}
