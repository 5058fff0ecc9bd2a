package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// simplePath is a path of members and items of lists.
var simplePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+(\[\d*\])?(\.\w+(\[\d*\])?)*$`) })

// items are the items of a list, one or all.
var items = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d*\]`) })

// statusPaths are the paths of the texts that an entry judges by, with "[]" for the
// items of lists.
func statusPaths(e *catalog.Entry) []string {
	if e.Job != nil && e.Job.Status != "" {
		return []string{items().ReplaceAllString(e.Job.Status, "[]")}
	}
	var paths []string
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher.Output; m != nil && m.Comparator != pollcore.BooleanEquals && simplePath().MatchString(m.Path) {
			if path := items().ReplaceAllString(m.Path, "[]"); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// spellSteps are the steps of a path of the model as Step Functions spells them, and the
// shape that it leads to from another; nil if the model does not have it.
func spellSteps(shape *catalog.Shape, path string) ([]string, *catalog.Shape) {
	var steps []string
	for step := range strings.SplitSeq(items().ReplaceAllString(path, "[]"), ".") {
		name, list := strings.CutSuffix(step, "[]")
		steps = append(steps, javasdk.MemberName(name))
		if m := shape.Member(name); m != nil {
			shape = m.Shape
		} else {
			shape = nil
		}
		if list {
			steps = append(steps, "0")
			if shape != nil && shape.Element != nil {
				shape = shape.Element.Shape
			}
		}
	}
	return steps, shape
}

// listValues returns the values at a path that an entry names.
func listValues(e *catalog.Entry, path string) []string {
	if e.Job != nil && e.Job.Status != "" {
		if items().ReplaceAllString(e.Job.Status, "[]") != path {
			return nil
		}
		return slices.Concat(e.Job.Success, e.Job.Failure, e.Job.Running)
	}
	var values []string
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher.Output; m != nil && m.Comparator != pollcore.BooleanEquals && items().ReplaceAllString(m.Path, "[]") == path {
			values = append(values, m.Expected)
		}
	}
	return values
}

// answer is the smallest answer with a value at a path.
func answer(path, value string) any { return put(nil, path, value) }

// put adds a value at a path to an answer.
func put(in any, path, value string) any {
	if path == "" {
		return value
	}
	step, rest, _ := strings.Cut(path, ".")
	name, list := strings.CutSuffix(step, "[]")
	out, _ := in.(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	if list {
		var item any
		if old, _ := out[name].([]any); len(old) > 0 {
			item = old[0]
		}
		out[name] = []any{put(item, rest, value)}
	} else {
		out[name] = put(out[name], rest, value)
	}
	return out
}

// joinAnswers is an answer with the items of two.
func joinAnswers(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range a {
			out[name] = joinAnswers(value, b.(map[string]any)[name])
		}
		return out
	case []any:
		return slices.Concat(a, b.([]any))
	default:
		return a
	}
}
