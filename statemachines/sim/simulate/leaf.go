package simulate

import (
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// leaf is a value that acceptors read.
type leaf struct {
	path       place
	candidates []any
}

// mostAnswers bounds how many answers are made up for one acceptor.
const mostAnswers = 20_000

// leavesOf are the values that an acceptor reads, with those to try.
func leavesOf(r pollcore.Reading, m *pollcore.PathMatcher) []leaf {
	var leaves []leaf
	for i, read := range r.Members {
		inner := slices.ContainsFunc(r.Members, func(o pollcore.ReadMember) bool {
			return len(o.Path) > len(read.Path) && slices.Equal(o.Path[:len(read.Path)], read.Path)
		})
		repeated := slices.ContainsFunc(r.Members[:i], func(o pollcore.ReadMember) bool { return slices.Equal(o.Path, read.Path) })
		if inner || repeated {
			continue
		}
		var p place
		for _, step := range read.Path {
			switch step {
			case "[]":
				p = append(p, 0)
			case "*":
				p = append(p, "entry")
			default:
				p = append(p, step)
			}
		}
		leaves = append(leaves, leaf{p, candidatesOf(read, m)})
	}
	return leaves
}

// candidatesOf are the values to try: those that the path compares the member with, and those
// of the model.
func candidatesOf(read pollcore.ReadMember, m *pollcore.PathMatcher) []any {
	s, kind := read.Type, jsontype.Unknown
	if s != nil {
		kind = s.Kind
	}
	var words []any
	if m.Comparator != pollcore.BooleanEquals {
		words = append(words, m.Expected)
	}
	words = append(words, wordsFor(read, m.Path)...)
	switch kind {
	case jsontype.String:
		if len(s.Values) == 0 && len(words) == 0 { // how long it is tells
			return []any{"", "text"}
		}
		if len(s.Values) == 0 {
			return words
		}
		// A value that the model does not have cannot be answered.
		words = slices.DeleteFunc(words, func(word any) bool { return !slices.Contains(s.Values, word.(string)) })
		for _, v := range s.Values {
			words = append(words, v)
		}
		return words
	case jsontype.Boolean:
		return []any{true, false}
	case jsontype.Number:
		return []any{0.0, 1.0}
	case jsontype.Array:
		return []any{[]any{map[string]any{}}, []any{}}
	case jsontype.Object:
		return []any{map[string]any{}}
	default:
		return words
	}
}

// wordsFor are the texts that a path compares with a member, or without naming one.
func wordsFor(read pollcore.ReadMember, path string) []any {
	var words []any
	name := ""
	if steps := slices.DeleteFunc(slices.Clone(read.Path), func(step string) bool { return step == "[]" || step == "*" }); len(steps) > 0 {
		name = steps[len(steps)-1]
	}
	for _, at := range quoted().FindAllStringIndex(path, -1) {
		if compared := comparedName().FindStringSubmatch(path[:at[0]]); compared == nil || compared[1] == name {
			match := quoted().FindStringSubmatch(path[at[0]:at[1]])
			words = append(words, match[1]+match[2])
		}
	}
	return words
}

// comparedName finds the member that a text is compared with, in front of it.
var comparedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+)(?: *[=!]= *|, *)$`) })

// each calls f with the answers of every choice of values.
func each(leaves []leaf, f func(answer any, values []any)) {
	total := 1
	for _, l := range leaves {
		if total *= len(l.candidates); total == 0 || total > mostAnswers {
			return
		}
	}
	for n := range total {
		var answer any = map[string]any{}
		values := make([]any, len(leaves))
		rest := n
		for i, l := range leaves {
			values[i] = l.candidates[rest%len(l.candidates)]
			rest /= len(l.candidates)
			answer = l.path.put(answer, clone(values[i]))
		}
		f(answer, values)
	}
}

// clone copies lists and objects.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = clone(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = clone(member)
		}
		return object
	default:
		return v
	}
}
