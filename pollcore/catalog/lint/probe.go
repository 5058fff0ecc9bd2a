package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// maxProbes is how many responses are made up for one question. A waiter that
// reads more than they can tell has no answer there.
const maxProbes = 20_000

// foreign is a string that no model has.
const foreign = "a value that the model does not have"

// probe makes up what an acceptor reads, and asks it.
type probe struct {
	check  *pollcore.Check[any, any]
	leaves []*leaf
	// finite tells that the leaves' candidates are all that there is to tell
	// apart, so that what matches none of them matches nothing.
	finite bool
}

// leaf is a value that acceptors read.
type leaf struct {
	path []string // from {"input": ..., "output": ...}
	key  string   // the path as one word
	typ  *jsontype.Type
	// candidates are the values to try; nil stands for none.
	candidates []any
}

// newProbes makes the probe of each acceptor that has a path.
func (c *checker) newProbes() []*probe {
	probes := make([]*probe, len(c.waiter.Acceptors))
	leaves := c.leaves()
	for i, a := range c.waiter.Acceptors {
		r, ok := c.readings[i]
		if !ok {
			continue
		}
		alone := &pollcore.Waiter{Name: "Probe", Acceptors: []pollcore.Acceptor{{State: pollcore.Success, Matcher: a.Matcher}}}
		check, err := pollcore.Compile[any, any](alone)
		if err != nil {
			continue // analyze has told why
		}
		m, _ := pathOf(a)
		p := &probe{check: check, finite: !open.MatchString(m.Path)}
		for _, key := range keysOf(r, a) {
			l := leaves[key]
			if l == nil {
				continue // it leads to one that is
			}
			p.leaves = append(p.leaves, l)
			p.finite = p.finite && l.finite()
		}
		p.finite = p.finite && len(p.leaves) > 0 && !asksForWhole(m.Path, r, a, leaves)
		probes[i] = p
	}
	return probes
}

// asksForWhole tells whether a path takes as a whole what it also takes parts
// of, such as Job in "Job == null || Job.Status == 'DONE'". Made-up responses
// always have it.
func asksForWhole(path string, r pollcore.Reading, a pollcore.Acceptor, leaves map[string]*leaf) bool {
	for _, m := range r.Members {
		if leaves[strings.Join(joinPath(m.Path, a), ".")] != nil {
			continue
		}
		name := m.Path[len(m.Path)-1]
		rest, plain := strings.CutPrefix(strings.TrimPrefix(path[m.Offset:], `"`), name)
		rest = strings.TrimLeft(strings.TrimPrefix(rest, `"`), " \t\r\n")
		if !plain || !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "[") {
			return true
		}
	}
	return false
}

// keysOf are the members that an acceptor reads, each once.
func keysOf(r pollcore.Reading, a pollcore.Acceptor) []string {
	var keys []string
	for _, m := range r.Members {
		if key := strings.Join(joinPath(m.Path, a), "."); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// joinPath is a member's path from input and output together.
func joinPath(path []string, a pollcore.Acceptor) []string {
	if a.Matcher.Output != nil {
		return append([]string{"output"}, path...)
	}
	return path
}

// leaves are the values that the waiter reads, by key, without the values around them.
func (c *checker) leaves() map[string]*leaf {
	leaves := map[string]*leaf{}
	inner := map[string]bool{} // keys that lead to others
	for i, a := range c.waiter.Acceptors {
		for _, m := range c.readings[i].Members {
			path := joinPath(m.Path, a)
			key := strings.Join(path, ".")
			leaves[key] = &leaf{path: path, key: key, typ: m.Type}
			for n := range path {
				inner[strings.Join(path[:n], ".")] = true
			}
		}
	}
	words, numbers := c.literals()
	for key, l := range leaves {
		if inner[key] {
			delete(leaves, key)
			continue
		}
		l.candidates = c.candidates(l, words, numbers)
	}
	return leaves
}

// finite tells whether the candidates are all that there is to tell apart.
func (l *leaf) finite() bool {
	if l.typ == nil || l.typ.Kind != jsontype.String && l.typ.Kind != jsontype.Boolean {
		return false
	}
	return !slices.Contains(l.path, "[]") && !slices.Contains(l.path, "*")
}

var (
	quoted = regexp.MustCompile("'([^']*)'|`\"([^\"]*)\"`")
	digits = regexp.MustCompile("`(-?[0-9]+)`")
	// open finds what can tell more strings apart than those that a path names:
	// a call of a function, and an escape, which quoted does not handle.
	open = regexp.MustCompile(`\w\s*\(|\\`)
)

// literals are the words and numbers that the waiter compares with.
func (c *checker) literals() (words []string, numbers []int) {
	for _, a := range c.waiter.Acceptors {
		m, _ := pathOf(a)
		if m == nil {
			continue
		}
		if m.Comparator != pollcore.BooleanEquals {
			words = append(words, m.Expected)
		}
		for _, match := range quoted.FindAllStringSubmatch(m.Path, -1) {
			words = append(words, match[1]+match[2])
		}
		for _, match := range digits.FindAllStringSubmatch(m.Path, -1) {
			if n, err := strconv.Atoi(match[1]); err == nil {
				numbers = append(numbers, n-1, n, n+1)
			}
		}
	}
	return words, numbers
}

// candidates are the values to try for a leaf.
func (c *checker) candidates(l *leaf, words []string, numbers []int) []any {
	kind := jsontype.Unknown
	if l.typ != nil {
		kind = l.typ.Kind
	}
	switch kind {
	case jsontype.String, jsontype.Unknown:
		all := append(slices.Clone(c.valuesOf(l).values), words...)
		all = append(all, foreign, "") // which is false in an expression
		slices.Sort(all)
		return append(anys(slices.Compact(all)), nil)
	case jsontype.Boolean:
		return []any{true, false, nil}
	case jsontype.Number:
		all := append([]int{0, 1, 2}, numbers...)
		slices.Sort(all)
		var out []any
		for _, n := range slices.Compact(all) {
			out = append(out, float64(n))
		}
		return append(out, nil)
	case jsontype.Array:
		if values := c.valuesOf(l).values; len(values) > 0 {
			var out []any
			for _, v := range values {
				out = append(out, []any{v})
			}
			return append(out, []any{})
		}
		item := any(map[string]any{})
		if l.typ.Elem != nil && l.typ.Elem.Kind == jsontype.String {
			item = foreign
		}
		return []any{[]any{}, []any{item}, []any{item, item}}
	case jsontype.Null, jsontype.Object:
	}
	return []any{map[string]any{}, nil}
}

func anys(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// assignment is a value for each of some leaves.
type assignment map[*leaf]any

// each calls f with every assignment of the leaves until it returns false. It
// reports false if they are too many to try.
func each(leaves []*leaf, f func(assignment) bool) bool {
	total := 1
	for _, l := range leaves {
		if total *= len(l.candidates); total > maxProbes {
			return false
		}
	}
	a := assignment{}
	var walk func(i int) bool
	walk = func(i int) bool {
		if i == len(leaves) {
			return f(a)
		}
		for _, v := range leaves[i].candidates {
			a[leaves[i]] = v
			if !walk(i + 1) {
				return false
			}
		}
		return true
	}
	walk(0)
	return true
}

// matches asks the acceptor what it says of a response with these values.
func (p *probe) matches(a assignment) bool {
	root := map[string]any{"input": map[string]any{}, "output": map[string]any{}}
	for _, l := range p.leaves {
		put(root, l.path, a[l])
	}
	return p.check.Check(root["input"], root["output"], nil).Acceptor == 0
}

// put sets the value at a path of members, of the one item of a list and of the
// one entry of a map.
func put(in map[string]any, path []string, value any) {
	name, rest := path[0], path[1:]
	if name == "*" {
		name = "entry"
	}
	if len(rest) == 0 {
		in[name] = value
		return
	}
	if rest[0] == "[]" {
		in[name] = putItem(in[name], rest[1:], value)
		return
	}
	child, ok := in[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		in[name] = child
	}
	put(child, rest, value)
}

// putItem sets the value in the one item of a list, which may be a list itself.
func putItem(list any, path []string, value any) []any {
	items, ok := list.([]any)
	if !ok {
		items = []any{nil}
	}
	switch {
	case len(path) == 0:
		items[0] = value
	case path[0] == "[]":
		items[0] = putItem(items[0], path[1:], value)
	default:
		child, ok := items[0].(map[string]any)
		if !ok {
			child = map[string]any{}
			items[0] = child
		}
		put(child, path, value)
	}
	return items
}
