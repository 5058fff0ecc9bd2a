package lint

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/statusname"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// listedBy is the operation that a Task of a loop calls with the statuses that its model lists; nil if an entry of the
// catalogue polls it, or if no status has the name of a failure. That of a derived entry comes first.
func (c *checker) listedBy(l *loop, s *asl.State) *polled {
	if s.Task == nil || c.operations.of(s) != nil || Changes(s) {
		return nil
	}
	r := asl.ParseResource(s.Task.Resource)
	operation := c.types.Operation(s)
	if _, sdk := r.SDK(); !sdk || r.Pattern != "" || operation == nil {
		return nil
	}
	p := &polled{name: operation.Service.Key + ":" + operation.Name, byName: true}
	entry := c.derivedOf(l, s)
	listStatuses(operation.Output, "", func(path string, listed *catalog.Shape) {
		isDerived := entry != nil && entry.Job.Status == path
		if !isDerived && len(statusname.FailuresIn(listed.Enum)) == 0 {
			return
		}
		status := &status{path: path, values: slices.Clone(listed.Enum), listed: true}
		status.steps, _ = spellSteps(operation.Output, path)
		if status.judges = []*judge{c.judgeAsked(s, listed.Enum)}; isDerived {
			status.derived, status.judges = entry, []*judge{c.judgeDerived(s, entry, listed.Enum)}
		}
		p.statuses = append(p.statuses, status)
	})
	if len(p.statuses) == 0 {
		return nil
	}
	slices.SortStableFunc(p.statuses, func(a, b *status) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	return p
}

// rankOf puts the status of a derived entry before others.
func rankOf(s *status) int {
	if s.derived != nil {
		return 0
	}
	return 1
}

// listedValues are the values that the model of a call lists for the status that the definition names, in
// brackets: the outermost. They are empty if there is none, or if there are several.
func (c *checker) listedValues(s *asl.State) string {
	operation := c.types.Operation(s)
	if _, sdk := asl.ParseResource(s.Task.Resource).SDK(); !sdk || operation == nil {
		return ""
	}
	var values []string
	least := math.MaxInt
	listStatuses(operation.Output, "", func(path string, listed *catalog.Shape) {
		switch depth := strings.Count(path, "."); {
		case depth > least || !c.names(javasdk.MemberName(lastName(path))):
		case depth < least:
			values, least = listed.Enum, depth
		case !slices.Equal(values, listed.Enum):
			values = nil
		}
	})
	if len(values) == 0 {
		return ""
	}
	return " (" + strings.Join(values, ", ") + ")"
}

// names tells whether the definition has a word by itself.
func (c *checker) names(word string) bool {
	return c.mentions(word) && regexp.MustCompile(`\b`+regexp.QuoteMeta(word)+`\b`).MatchString(c.text)
}

// listStatuses finds the members of an answer that are called a status and whose values the model lists, with
// "[]" for the items of lists.
func listStatuses(s *catalog.Shape, path string, add func(path string, listed *catalog.Shape)) {
	const deepest = 4 // shapes may lead back to themselves
	if s == nil || strings.Count(path, ".") >= deepest {
		return
	}
	for _, m := range s.Members {
		at := m.Name
		if path != "" {
			at = path + "." + m.Name
		}
		shape := m.Shape
		if shape.Type == catalog.List && shape.Element != nil {
			at, shape = at+"[]", shape.Element.Shape
		}
		if len(shape.Enum) > 0 && statusName().MatchString(m.Name) {
			add(at, shape)
		}
		listStatuses(shape, at, add)
	}
}

// statusName matches the name of a member that is a status.
var statusName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(status|state)$`) })
