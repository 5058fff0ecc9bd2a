package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// List are the members of one list or table of a page with their descriptions, in the order of
// the page: lines "- `name`, `other`: text", or rows "| `name`, `other` | value | text |".
func List(text string) map[string]string {
	described := map[string]string{}
	for line := range strings.Lines(text) {
		names, about := splitLine(strings.TrimSpace(line))
		for _, name := range quotedName.FindAllStringSubmatch(names, -1) {
			described[name[1]] = about
		}
	}
	return described
}

var (
	quotedName = regexp.MustCompile("`([A-Za-z0-9.$]+)`")
	link       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// splitLine splits a line of a list, or a row of a table, into the names and the description.
func splitLine(line string) (names, about string) {
	if row, ok := strings.CutPrefix(line, "| `"); ok {
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		names, about = "`"+cells[0], cells[len(cells)-1]
	} else if item, ok := strings.CutPrefix(line, "- `"); ok {
		names, about, _ = strings.Cut("`"+item, "`: ")
		names += "`"
	}
	return names, link.ReplaceAllString(about, "$1")
}

// Lists are the lists of a section of a page, each with the path of the object that it is about:
// "" for the document, "rows" for an item of rows.
func Lists(section string, paths ...string) map[string]string {
	all := map[string]string{}
	for block := range strings.SplitSeq(section, "\n\n") {
		found := List(block)
		if len(found) == 0 || len(paths) == 0 {
			continue
		}
		for name, about := range found {
			all[strings.TrimPrefix(paths[0]+"."+name, ".")] = about
		}
		paths = paths[1:]
	}
	return all
}

// Below are the descriptions of the members of an object at a path.
func Below(path string, described map[string]string) map[string]string {
	all := map[string]string{}
	for name, about := range described {
		all[path+"."+name] = about
	}
	return all
}

// Join are the descriptions of all of several.
func Join(several ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, described := range several {
		maps.Copy(all, described)
	}
	return all
}

// Without are the descriptions without those of some members.
func Without(described map[string]string, names ...string) map[string]string {
	described = maps.Clone(described)
	maps.DeleteFunc(described, func(name, _ string) bool { return slices.Contains(names, name) })
	return described
}

// Describe writes descriptions into a schema. Each must be of a member.
func Describe(s *jsonschema.Schema, described map[string]string) error {
	d := describer{root: s, texts: described, used: map[string]bool{}, met: map[*jsonschema.Schema]bool{}}
	d.describe(s, "")
	for _, path := range slices.Sorted(maps.Keys(described)) {
		if !d.used[path] {
			return fmt.Errorf("there is no member %s, which is described", path)
		}
	}
	return nil
}

// describer writes descriptions into a schema.
type describer struct {
	root  *jsonschema.Schema
	texts map[string]string
	used  map[string]bool
	met   map[*jsonschema.Schema]bool
}

// describe describes the members of a schema at a path.
func (d *describer) describe(s *jsonschema.Schema, path string) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = d.root.Defs[name]
		if d.met[s] {
			return
		}
		d.met[s] = true
	}
	for _, part := range slices.Concat(s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Items, s.AdditionalProperties}) {
		d.describe(part, path)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		at := strings.TrimPrefix(path+"."+name, ".")
		if text, ok := d.texts[at]; ok {
			member.Description = text
			d.used[at] = true
		}
		d.describe(member, at)
	}
}
