package simulate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// place is where a value stands in JSON: names of members and indices of lists.
type place []any

// plainPath is a path of JMESPath that leads to one value.
var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+(\[0\])*(\.\w+(\[0\])*)*$`) })

// parsePlace reads a path such as "jobs[0].status"; nil for any other expression.
func parsePlace(path string) place {
	if !plainPath().MatchString(path) {
		return nil
	}
	var p place
	for part := range strings.SplitSeq(path, ".") {
		name, rest, _ := strings.Cut(part, "[")
		p = append(p, name)
		for range strings.Count("["+rest, "[0]") {
			p = append(p, 0)
		}
	}
	return p
}

// String writes a place as it is, in the spelling of its answer.
func (p place) String() string { return p.write(func(name string) string { return name }) }

// spell writes a place in the spelling of SDK integrations: "Jobs[0].Status".
func (p place) spell() string { return p.write(javasdk.MemberName) }

func (p place) write(member func(name string) string) string {
	var b strings.Builder
	for i, part := range p {
		switch part := part.(type) {
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(member(part))
		case int:
			b.WriteString("[" + strconv.Itoa(part) + "]")
		}
	}
	return b.String()
}

// putEach is put, in all items that the lists on the way have.
func (p place) putEach(in, value any) any {
	i := slices.IndexFunc(p, func(part any) bool { _, is := part.(int); return is })
	if i < 0 {
		return p.put(in, value)
	}
	items, _ := p[:i].get(in).([]any)
	if len(items) == 0 {
		return p.put(in, value)
	}
	for n := range items {
		items[n] = p[i+1:].putEach(items[n], value)
	}
	return in
}

// put sets the value at the place, and returns what holds it. Members and items
// that are missing are made.
func (p place) put(in, value any) any {
	if len(p) == 0 {
		return value
	}
	if i, ok := p[0].(int); ok {
		list, _ := in.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = p[1:].put(list[i], value)
		return list
	}
	object, _ := in.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	name := p[0].(string)
	object[name] = p[1:].put(object[name], value)
	return object
}

// remove takes the member at the place out of an object.
func (p place) remove(from any) {
	if object, ok := p[:len(p)-1].get(from).(map[string]any); ok {
		delete(object, p[len(p)-1].(string))
	}
}

// tell puts a word where members of the name of the last one have that name for a text, as
// made-up ones have. Those of the parts of a thing tell the same as its own.
func (p place) tell(in any, word string) any {
	name := p[len(p)-1].(string) //nolint:forcetypeassert // a text is a member
	switch v := in.(type) {
	case []any:
		for _, item := range v {
			p.tell(item, word)
		}
	case map[string]any:
		for member, value := range v {
			if member == name && value == name {
				v[member] = word
			} else {
				p.tell(value, word)
			}
		}
	}
	return in
}

// unlist empties the list that the place leads through, if what it leads to is made up.
func (p place) unlist(in any) any {
	item := slices.IndexFunc(p, func(part any) bool { _, is := part.(int); return is })
	if item < 0 || p.get(in) != p[len(p)-1] {
		return in
	}
	return p[:item].put(in, []any{})
}

// untold removes what stands at the place, if it is made up and the model does not require it.
func (p place) untold(in any, s *catalog.Shape) any {
	name := p[len(p)-1].(string) //nolint:forcetypeassert // a text is a member
	if m := shapeAt(s, p[:len(p)-1]).Member(name); p.get(in) == name && m != nil && !m.Required {
		p.remove(in)
	}
	return in
}

// get returns what stands at the place, or nil.
func (p place) get(in any) any {
	for _, part := range p {
		switch part := part.(type) {
		case string:
			object, _ := in.(map[string]any)
			in = object[part]
		case int:
			list, _ := in.([]any)
			if part >= len(list) {
				return nil
			}
			in = list[part]
		}
	}
	return in
}

// find returns where the value stands in another, if it does.
func find(in any, value string) (place, bool) {
	switch v := in.(type) {
	case string:
		return nil, v == value
	case []any:
		for i, item := range v {
			if p, ok := find(item, value); ok {
				return append(place{i}, p...), true
			}
		}
	case map[string]any:
		for name, member := range v {
			if p, ok := find(member, value); ok {
				return append(place{name}, p...), true
			}
		}
	}
	return nil, false
}
