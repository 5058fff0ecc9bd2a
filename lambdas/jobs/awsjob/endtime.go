package awsjob

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// compilePath compiles a path of the catalogue in the answer of the describe call: nil if
// there is none.
func compilePath(entry *catalog.Entry, path string) (*jmespath.Program, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	expr, err := jmespath.Parse(path)
	if err == nil {
		expr, err = expr.Rename(entry.Operation.Output.Describe(), func(_ *jsontype.Type, name string) string { return javasdk.MemberName(name) })
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	program, _ := expr.Compile(nil) // of any JSON there is nothing to find
	return program, nil
}

// EndTime implements jobs.EndTimer.
func (d *described) EndTime(output any) (at time.Time, ok bool) {
	if d.end == nil {
		return time.Time{}, false
	}
	value, err := d.end.Eval(output)
	if err != nil {
		return time.Time{}, false
	}
	at, err = catalog.ParseTime(value)
	return at, err == nil
}
