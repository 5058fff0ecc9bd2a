package conformance_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// apiMatcher compares answers with recorded ones throughout a case.
type apiMatcher struct {
	c       *apiCase
	bound   map[string]string // what a placeholder stands for
	ignored []*regexp.Regexp  // pointers to members that are not compared
	added   *regexp.Regexp    // pointers to members that AWS added after the recordings
	inJSON  bool
}

// later are the members that AWS added to answers after some recordings.
var later = map[string]*regexp.Regexp{
	"DescribeStateMachine":             regexp.MustCompile(`^/encryptionConfiguration$`),
	"DescribeStateMachineForExecution": regexp.MustCompile(`^/encryptionConfiguration$`),
	"ListExecutions":                   regexp.MustCompile(`^/executions/\d+/redriveCount$`),
}

func newAPIMatcher(c *apiCase) *apiMatcher {
	m := &apiMatcher{c: c, bound: map[string]string{}}
	for _, path := range c.Differs {
		path = regexp.QuoteMeta(strings.TrimPrefix(path, "$"))
		path = strings.ReplaceAll(strings.ReplaceAll(path, `\.\.`, `(/.*)?/`), `\.`, "/")
		m.ignored = append(m.ignored, regexp.MustCompile("^"+path+"$"))
	}
	return m
}

// compare compares the answer of an operation.
func (m *apiMatcher) compare(operation string, got, want map[string]any) string {
	m.added = later[operation]
	for _, name := range m.c.Sorted {
		if lists, ok := got[name].(map[string]any); ok {
			for _, list := range lists {
				if list, ok := list.([]any); ok {
					slices.SortFunc(list, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				}
			}
		}
	}
	return m.match("", got, want)
}

func (m *apiMatcher) ignores(at string) bool {
	return slices.ContainsFunc(m.ignored, func(r *regexp.Regexp) bool { return r.MatchString(at) })
}

// match compares a value with the recorded one and tells how they differ.
func (m *apiMatcher) match(at string, got, want any) string {
	switch want := want.(type) {
	case map[string]any:
		if recorded, ok := want["$json"]; ok && !m.inJSON {
			return m.matchJSON(at, got, recorded)
		}
		return m.matchObject(at, got, want)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return difference(at, got, want)
		}
		for i := range want {
			if what := m.match(fmt.Sprintf("%s/%d", at, i), list[i], want[i]); what != "" {
				return what
			}
		}
		return ""
	case string:
		switch got := got.(type) {
		case float64:
			if want == "<time>" {
				return ""
			}
		case string:
			if want != "<time>" || m.inJSON {
				return m.matchText(at, got, want)
			}
		default:
		}
		return difference(at, got, want)
	default:
		if !equal(got, want) {
			return difference(at, got, want)
		}
		return ""
	}
}

// matchJSON compares a text with what it was at AWS, parsed.
func (m *apiMatcher) matchJSON(at string, got, want any) string {
	text, _ := got.(string)
	var parsed any
	if json.Unmarshal([]byte(text), &parsed) != nil {
		return difference(at, got, want)
	}
	m.inJSON = true
	defer func() { m.inJSON = false }()
	return m.match(at, parsed, want)
}

func (m *apiMatcher) matchObject(at string, got any, want map[string]any) string {
	object, ok := got.(map[string]any)
	if !ok {
		return difference(at, got, want)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		member := at + "/" + name
		if m.ignores(member) {
			continue
		}
		value, ok := object[name]
		if !ok {
			return fmt.Sprintf("%s is missing, want %.300s", member, text(want[name]))
		}
		if what := m.match(member, value, want[name]); what != "" {
			return what
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		member := at + "/" + name
		if _, ok := want[name]; !ok && !m.ignores(member) && (m.added == nil || !m.added.MatchString(member)) {
			return fmt.Sprintf("%s is %.300s, which AWS does not answer", member, text(object[name]))
		}
	}
	return ""
}

var placeholder = regexp.MustCompile(`<([A-Za-z][\w-]*(?::\d+)?)>`)

// matchText compares texts. A placeholder stands for one text throughout the case.
func (m *apiMatcher) matchText(at, got, want string) string {
	if got == want || m.inJSON && want == "<time>" || slices.Contains(m.c.Masks, want) {
		return ""
	}
	var pattern strings.Builder
	var names []string
	last := 0
	for _, found := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[last:found[0]]))
		last = found[1]
		name := want[found[2]:found[3]]
		if text, ok := m.bound[name]; ok {
			pattern.WriteString(regexp.QuoteMeta(text))
			continue
		}
		names = append(names, name)
		pattern.WriteString("(.+?)")
	}
	pattern.WriteString(regexp.QuoteMeta(want[last:]))
	found := regexp.MustCompile("(?s)^" + pattern.String() + "$").FindStringSubmatch(got)
	if found == nil {
		return difference(at, got, want)
	}
	for i, name := range names {
		text := found[i+1]
		if allowed := m.c.OneOf[name]; allowed != nil && !slices.Contains(allowed, text) {
			return fmt.Sprintf("%s is %.300q, want one of %q", at, text, allowed)
		}
		if slices.Contains(m.c.Free, name) || name == "time" {
			continue
		}
		if bound, ok := m.bound[name]; ok && bound != text {
			return difference(at, got, want)
		}
		m.bound[name] = text
	}
	return ""
}
