package lint

import (
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// boundPart is a comparison in a rule of a Choice.
type boundPart struct {
	operands []string // without the clock
	timed    bool
}

// partsOf are the comparisons of a rule.
func partsOf(r *asl.ChoiceRule) []boundPart {
	var parts []boundPart
	if r.Expression != nil {
		if r.Expression.Expression == nil {
			return nil
		}
		whole := r.Expression.Expression.Part()
		forComparisons(&whole, func(p *jsonata.Part) {
			part := boundPart{timed: readsClock(p)}
			for _, o := range (scope{}).expression(p, nil).operands {
				part.operands = append(part.operands, o.inJSONata())
			}
			parts = append(parts, part)
		})
		return parts
	}
	addCondition(&parts, &r.Condition)
	return parts
}

// readsClock tells whether a part of an expression reads the clock, or a time.
func readsClock(p *jsonata.Part) bool {
	switch {
	case p.Kind == jsonata.PartCall && slices.Contains([]string{"millis", "now", "toMillis", "fromMillis"}, p.Text),
		p.Kind == jsonata.PartName && (strings.Contains(p.Text, "EnteredTime") || strings.Contains(p.Text, "StartTime")):
		return true
	}
	return slices.ContainsFunc(slices.Concat(p.Parts, p.Filters), func(part jsonata.Part) bool { return readsClock(&part) })
}

func addCondition(parts *[]boundPart, c *asl.Condition) {
	if c.Not != nil {
		addCondition(parts, c.Not)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		addCondition(parts, part)
	}
	part := boundPart{timed: strings.HasPrefix(string(c.Operator), "Timestamp")}
	if c.Variable != nil && !strings.HasPrefix(c.Variable.String(), "$$") {
		part.operands = append(part.operands, c.Variable.String())
	}
	if c.ValuePath != nil && !strings.HasPrefix(c.ValuePath.String(), "$$") {
		part.operands = append(part.operands, c.ValuePath.String())
	}
	if at, ok := c.Value.(time.Time); ok {
		part.operands = append(part.operands, at.Format(time.RFC3339))
	}
	if c.Operator != "" {
		*parts = append(*parts, part)
	}
}
