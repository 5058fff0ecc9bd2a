package s3store

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

const (
	// maxKey is the longest object key that S3 takes, in bytes.
	maxKey = 1024
	// maxPrefix leaves room for the slash and the longest path of a record.
	maxPrefix = maxKey - startrecord.MaxPath - 1
)

// bucketName covers the names of general purpose buckets (3 to 63 characters)
// and the ARNs and aliases of access points.
var bucketName = regexp.MustCompile(`^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|arn:aws[a-z0-9-]*:s3[a-z0-9-]*:[a-zA-Z0-9:/.-]+)$`)

// names checks the bucket and the prefix and returns the prefix as it stands
// before a record's path.
func names(bucket, prefix string) (folder string, err error) {
	var problems []string
	switch {
	case bucket == "":
		problems = append(problems, "the bucket's name is empty")
	case !bucketName.MatchString(bucket):
		problems = append(problems, fmt.Sprintf("%q is not a bucket's name, which has 3 to 63 of a-z, 0-9, dot and hyphen", bucket))
	}
	trimmed := strings.TrimSuffix(prefix, "/")
	segments := strings.Split(trimmed, "/")
	if len(trimmed) > maxPrefix {
		problems = append(problems, fmt.Sprintf("the prefix has %d bytes; at most %d leave room for a record's own path", len(trimmed), maxPrefix))
	}
	if slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		problems = append(problems, fmt.Sprintf(`the prefix %q holds a "." or ".." segment`, prefix))
	}
	if trimmed != "" && slices.Contains(segments, "") || trimmed == "" && prefix != "" {
		problems = append(problems, fmt.Sprintf("the prefix %q starts with a slash or holds an empty segment", prefix))
	}
	if !utf8.ValidString(prefix) || strings.ContainsFunc(prefix, unicode.IsControl) {
		problems = append(problems, fmt.Sprintf("the prefix %q holds a control character or invalid UTF-8", prefix))
	}
	if problems != nil {
		return "", fmt.Errorf("%w: %s", startrecord.ErrConfiguration, strings.Join(problems, "; "))
	}
	if trimmed == "" {
		return "", nil
	}
	return trimmed + "/", nil
}
