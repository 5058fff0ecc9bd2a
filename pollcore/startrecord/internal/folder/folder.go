// Package folder checks the prefix that people configure for the keys of start
// records.
package folder

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Of returns the prefix as it stands before a record's path: empty, or ending
// with one slash. A key may have maxKey bytes. The problems say all that is
// wrong with the prefix; it is refused where it would make a key that a URL or
// a file system reads as another.
func Of(prefix string, maxKey int) (folder string, problems []string) {
	trimmed := strings.TrimSuffix(prefix, "/")
	segments := strings.Split(trimmed, "/")
	if limit := maxKey - startrecord.MaxPath - 1; len(trimmed) > limit {
		problems = append(problems, fmt.Sprintf("the prefix has %d bytes; at most %d leave room for a record's own path", len(trimmed), limit))
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
	if trimmed == "" {
		return "", problems
	}
	return trimmed + "/", problems
}
