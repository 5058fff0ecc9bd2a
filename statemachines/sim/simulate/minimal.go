package simulate

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// answers makes responses that fit the model: with the members that it requires,
// and those that the machine names in its paths. Members have the model's spelling.
type answers struct {
	named map[string]bool // in a path of the machine
	times bool            // of jobs
}

// deepest bounds the depth of a response: shapes can contain themselves.
const deepest = 8

// member is a name in a path of JSONPath or JSONata.
var member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([A-Za-z_]\w*)|\['([^']+)'\]`) })

// paging are members that ask for another call: a response without them is the
// last page.
var paging = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(token|marker|truncated|lastevaluated\w*)$`) })

// newAnswers makes the answers for a machine.
func newAnswers(m *asl.StateMachine) *answers {
	a := &answers{named: map[string]bool{}}
	for _, match := range member().FindAllStringSubmatch(string(asl.Print(m)), -1) {
		a.named[match[1]+match[2]] = true
	}
	return a
}

// of returns a response of the shape; nil stands for one without members.
func (a *answers) of(s *catalog.Shape) any {
	if s == nil {
		return map[string]any{}
	}
	return a.value(s, s.Name, deepest)
}

// value returns a value of the shape that stands under a name.
func (a *answers) value(s *catalog.Shape, name string, depth int) any {
	switch s.Type {
	case catalog.Structure:
		return a.structure(s, map[string]any{}, depth)
	case catalog.Union:
		if len(s.Members) == 0 || depth == 0 {
			return map[string]any{}
		}
		m := s.Members[0]
		return map[string]any{m.Name: a.value(m.Shape, m.Name, depth-1)}
	case catalog.List:
		if depth == 0 {
			return []any{}
		}
		list := []any{}
		items := lower(s)
		if a.named[javasdk.MemberName(name)] {
			items = max(items, 1)
		}
		for range items {
			list = append(list, a.value(s.Element.Shape, name, depth-1))
		}
		return list
	case catalog.Map, catalog.Document:
		return map[string]any{}
	case catalog.Boolean:
		return false
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return lower(s)
	case catalog.Timestamp:
		return "2026-01-01T00:00:00Z"
	case catalog.Blob:
		return strings.Repeat("AAAA", (lower(s)+2)/3)
	default:
		return textOf(s, name)
	}
}

// structure adds the members that a structure lacks.
func (a *answers) structure(s *catalog.Shape, to map[string]any, depth int) map[string]any {
	for i := range s.Members {
		m := &s.Members[i]
		if _, there := to[m.Name]; there || depth == 0 {
			continue
		}
		if m.Required || a.named[javasdk.MemberName(m.Name)] && !paging().MatchString(m.Name) {
			to[m.Name] = a.value(m.Shape, m.Name, depth-1)
		}
	}
	return to
}

// complete adds to a response what it lacks.
func (a *answers) complete(value any, s *catalog.Shape, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		switch {
		case s == nil:
		case s.Type == catalog.Structure:
			for name, item := range v {
				if m := s.Member(name); m != nil {
					v[name] = a.complete(item, m.Shape, depth-1)
				}
			}
			return a.structure(s, v, max(depth, 0))
		case s.Type == catalog.Map:
			for name, item := range v {
				v[name] = a.complete(item, s.Element.Shape, depth-1)
			}
		}
	case []any:
		if s != nil && s.Type == catalog.List {
			for i, item := range v {
				v[i] = a.complete(item, s.Element.Shape, depth-1)
			}
		}
	}
	return value
}

// lower is the lower bound of a shape, 0 without one.
func lower(s *catalog.Shape) int {
	n, err := strconv.ParseFloat(string(s.Min), 64)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// textOf is a text of the shape that shows the name that it stands under.
func textOf(s *catalog.Shape, name string) string {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	text := name
	if strings.HasSuffix(strings.ToLower(name), "arn") {
		text = "arn:aws:simulated:us-east-1:123456789012:" + strings.ToLower(name)
	}
	if least := lower(s); len(text) < least {
		text += strings.Repeat("0", least-len(text))
	}
	if most, err := strconv.ParseFloat(string(s.Max), 64); err == nil && float64(len(text)) > most {
		text = text[:int(most)]
	}
	return text
}

// Arguments are arguments of an operation that have what its model requires, in the
// spelling of Step Functions. They name things that are not there.
func Arguments(o *catalog.Operation) any {
	return spellAnswer((&answers{named: map[string]bool{}}).of(o.Input), o.Input)
}
