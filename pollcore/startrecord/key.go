package startrecord

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxSegment is the longest segment of a path in bytes: the limit of a file
// name, which some S3-compatible servers have too.
const maxSegment = 255

// MaxPath is the greatest length of Key.Path in bytes.
const MaxPath = 3*(maxSegment+1) + len(recordName)

const recordName = "record.json"

// Key says which start a record is of. The execution ARN alone is not enough:
// one execution can hold several pollers, and the iterations of an inline Map
// and the branches of a Parallel state share it.
type Key struct {
	// ExecutionARN is $$.Execution.Id.
	ExecutionARN string
	// Poller names the wait loop within its state machine.
	Poller string
	// Scope tells apart the runs of one poller in one execution, such as the
	// index of a Map iteration. It may be empty.
	Scope string
}

// executionARN matches the ARN of an execution: of a Standard workflow
// (execution:NAME:NAME), of an Express workflow (express:NAME:NAME:UUID), and
// of a child of a distributed Map, whose first name holds a slash. It is compiled
// when it is needed, not while a function starts.
var executionARN = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^arn:aws[a-z0-9-]*:states:[a-z0-9-]+:[0-9]{12}:` +
			`(execution:[^:/]+:[^:/]+|express:[^:/]+:[^:/]+:[^:/]+|(execution|express):[^:/]+/[^:/]+(:[^:/]+)+)$`)
})

// Validate returns nil or an error that matches ErrInvalidKey and lists every
// problem: an execution ARN that is missing or is none, a missing poller, and
// control characters or invalid UTF-8 anywhere.
func (k Key) Validate() error {
	var problems []string
	switch arn := k.ExecutionARN; {
	case arn == "":
		problems = append(problems, "the execution ARN is empty; pass $$.Execution.Id")
	case strings.Contains(arn, ":stateMachine:"):
		problems = append(problems, fmt.Sprintf("%q is the ARN of a state machine, not of an execution; pass $$.Execution.Id", arn))
	case !executionARN().MatchString(arn):
		problems = append(problems, fmt.Sprintf("%q is not the ARN of an execution, "+
			"which reads arn:aws:states:REGION:ACCOUNT:execution:STATE-MACHINE:NAME; pass $$.Execution.Id", arn))
	}
	if k.Poller == "" {
		problems = append(problems, "the poller's name is empty")
	}
	for _, part := range []struct{ name, value string }{
		{"execution ARN", k.ExecutionARN}, {"poller's name", k.Poller}, {"scope", k.Scope},
	} {
		if !utf8.ValidString(part.value) {
			problems = append(problems, fmt.Sprintf("the %s %q is not valid UTF-8", part.name, part.value))
		}
		if strings.ContainsFunc(part.value, unicode.IsControl) {
			problems = append(problems, fmt.Sprintf("the %s %q holds a control character", part.name, part.value))
		}
	}
	if problems == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrInvalidKey, strings.Join(problems, "; "))
}

// Path is the place of the record within a store:
// {execution ARN}/{poller}/{scope, or _ if it is empty}/record.json.
//
// It is made for reading, and no two keys share one. Bytes that are unsafe in
// an object key or a file name are percent-escaped. A segment that would be
// longer than 255 bytes becomes "~" and the hex SHA-256 of its text; a "~" in a
// name is always escaped, so the two cannot be the same. A path is never the
// folder of another. It has at most MaxPath bytes.
func (k Key) Path() string {
	scope := "_"
	if k.Scope != "" {
		scope = segment(k.Scope)
	}
	return segment(k.ExecutionARN) + "/" + segment(k.Poller) + "/" + scope + "/" + recordName
}

// Token returns the idempotency token of the job that this key starts in the
// execution that began at executionStart: the first 36 characters of the hex
// SHA-256 over both, which fits the limits of the AWS services that take one.
// The start time is part of it because an execution's name may be used again.
func (k Key) Token(executionStart time.Time) string {
	sum := sha256.Sum256([]byte(k.Path() + "\n" + executionStart.UTC().Format(time.RFC3339Nano)))
	return hex.EncodeToString(sum[:])[:36]
}

func segment(text string) string {
	switch text {
	case ".", "..":
		return strings.ReplaceAll(text, ".", "%2E")
	case "_": // stands for the empty scope
		return "%5F"
	}
	if escaped := escape(text); len(escaped) <= maxSegment {
		return escaped
	}
	sum := sha256.Sum256([]byte(text))
	return "~" + hex.EncodeToString(sum[:])
}

// escape percent-escapes every byte of text that is not safe. The rule for
// non-ASCII runes uses no Unicode tables: they change between releases of Go,
// and a path must not.
func escape(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || !safe(r, 1) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if safe(r, size) {
			b.WriteString(text[i : i+size])
		} else {
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		i += size
	}
	return b.String()
}

func safe(r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			r == '-' || r == '_' || r == '.' || r == ':' || r == '=' || r == '@' || r == '+' || r == ','
	case r == utf8.RuneError && size == 1: // an invalid byte
		return false
	default:
		// The C1 controls, the line and paragraph separators, and what XML,
		// the form of S3's listings, cannot hold.
		return r > 0x9F && r != 0x2028 && r != 0x2029 && r != 0xFFFE && r != 0xFFFF
	}
}
