package asl

import (
	"fmt"
	"regexp"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

var timestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// ParseTimestamp reads a timestamp as the language has it: RFC 3339 with an
// upper-case T and Z.
func ParseTimestamp(text string) (time.Time, error) {
	if !timestampForm.MatchString(text) {
		return time.Time{}, fmt.Errorf("%q is not an RFC 3339 timestamp such as \"2026-01-31T12:00:00Z\"", text)
	}
	return time.Parse(time.RFC3339Nano, text)
}

// timestamp reads a timestamp of the definition.
func (p *parser) timestamp(n *jsontree.Node) (time.Time, bool) {
	t, err := ParseTimestamp(n.Text)
	if err != nil {
		p.add(n.Problem("expected an RFC 3339 timestamp such as \"2026-01-31T12:00:00Z\", found %s", n.Describe()))
		return time.Time{}, false
	}
	return t, true
}
