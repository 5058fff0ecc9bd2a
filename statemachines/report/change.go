package report

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// change is what differs between two JSON texts at a path; empty for a member that
// one of them lacks.
type change struct{ Path, Before, After string }

// What is compared of large data.
const (
	mostCompared = 64 << 10 // bytes of a text
	mostLeaves   = 2_000    // of a text
	mostKept     = 64       // texts whose leaves are kept
	mostPath     = 256      // bytes of a path: what is below is compared as one text
)

// comparer compares JSON texts. It keeps the leaves of those that it saw last: what
// one state puts out the next takes in.
type comparer struct {
	kept map[string]map[string]string
}

// leaves are the values of a text by their paths; nil if it is no JSON or too large.
func (c *comparer) leaves(text string) map[string]string {
	if len(text) > mostCompared {
		return nil
	}
	if found, ok := c.kept[text]; ok {
		return found
	}
	var found map[string]string
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) == nil {
		found = map[string]string{}
		addLeaves(found, "$", value)
	}
	if c.kept == nil || len(c.kept) >= mostKept {
		c.kept = map[string]map[string]string{}
	}
	c.kept[text] = found
	return found
}

func addLeaves(to map[string]string, path string, value any) {
	if len(to) >= mostLeaves {
		return
	}
	if len(path) > mostPath {
		text, _ := json.Marshal(value) //nolint:errchkjson // it was JSON
		to[path] = string(text)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // so that the first ones are always the same
			addLeaves(to, path+"."+name, v[name])
		}
		if len(v) == 0 {
			to[path] = "{}"
		}
	case []any:
		for i, item := range v {
			addLeaves(to, path+"["+strconv.Itoa(i)+"]", item)
		}
		if len(v) == 0 {
			to[path] = "[]"
		}
	case string:
		to[path] = v
	case json.Number:
		to[path] = v.String()
	case bool:
		to[path] = strconv.FormatBool(v)
	default:
		to[path] = "null"
	}
}

// compare returns what differs, sorted by path. Of texts that cannot be compared it
// tells that they differ.
func (c *comparer) compare(before, after string) (changes []change) {
	if before == after {
		return nil
	}
	a, b := c.leaves(before), c.leaves(after)
	if a == nil || b == nil {
		return []change{{"$", before, after}}
	}
	for path, value := range a {
		if other, has := b[path]; !has || other != value {
			changes = append(changes, change{path, value, other})
		}
	}
	for path, value := range b {
		if _, has := a[path]; !has {
			changes = append(changes, change{path, "", value})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// series is the values at a path over the turns of a loop.
type series struct {
	Path        string
	First, Last string
	Distinct    int
	values      []string // by turn
}

// mostSeries is how many paths are followed through a loop.
const mostSeries = 40

// follow returns the paths whose values differ between the texts of turns, and how
// many more there are.
func (c *comparer) follow(texts []string) (all []series, more int) {
	differing := map[string]bool{}
	for i := 1; i < len(texts); i++ {
		for _, change := range c.compare(texts[i-1], texts[i]) {
			differing[change.Path] = true
		}
	}
	paths := slices.Sorted(maps.Keys(differing))
	if more = len(paths) - mostSeries; more > 0 {
		paths = paths[:mostSeries]
	}
	for _, path := range paths {
		all = append(all, series{Path: path, values: make([]string, len(texts))})
	}
	for i, text := range texts {
		leaves := c.leaves(text)
		for j := range all {
			if all[j].values[i] = leaves[all[j].Path]; leaves == nil {
				all[j].values[i] = text
			}
		}
	}
	for i := range all {
		s := &all[i]
		distinct := map[string]bool{}
		for _, value := range s.values {
			distinct[value] = true
		}
		s.First, s.Last, s.Distinct = s.values[0], s.values[len(s.values)-1], len(distinct)
	}
	return all, max(more, 0)
}
