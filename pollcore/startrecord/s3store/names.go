package s3store

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/startrecord/internal/folder"
)

// maxKey is the longest object key that S3 takes, in bytes.
const maxKey = 1024

// bucketName covers the names of general purpose buckets and the ARNs and aliases
// of access points. Not their length: a count in the expression is compiled to as
// many copies at each start of a function.
var bucketName = regexp.MustCompile(`^([a-z0-9][a-z0-9.-]+[a-z0-9]|arn:aws[a-z0-9-]*:s3[a-z0-9-]*:[a-zA-Z0-9:/.-]+)$`)

// names checks the bucket and the prefix and returns the prefix as it stands
// before a record's path, and what is wrong with the two.
func names(bucket, prefix string) (before string, problems []string) {
	before, problems = folder.Of(prefix, maxKey)
	switch {
	case bucket == "":
		problems = append(problems, "the bucket's name is empty")
	case !bucketName.MatchString(bucket), len(bucket) > 63 && !strings.HasPrefix(bucket, "arn:"):
		problems = append(problems, fmt.Sprintf("%q is not a bucket's name, which has 3 to 63 of a-z, 0-9, dot and hyphen", bucket))
	}
	return before, problems
}
