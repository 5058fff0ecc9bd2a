package simulate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// List is where an answer lists several jobs, or several parts of one, whose members tell the
// status: such as the containers of a task.
type List struct{ at []place } // with those of the answer next to it

// Join returns an answer in which the lists have the first item of one answer, and then that of another, or all but its
// first.
func (l List) Join(answer, one, two any) any {
	answer = clone(answer)
	for _, at := range l.at {
		first, others := itemsAt(at, clone(one)), itemsAt(at, clone(two))
		if items := slices.Concat(first[:min(1, len(first))], others[min(1, max(0, len(others)-1)):]); items != nil {
			answer = at.put(answer, items)
		}
	}
	return answer
}

// First returns an answer that lists no more than its first item.
func (l List) First(answer any) any {
	answer = clone(answer)
	for _, at := range l.at {
		if items := itemsAt(at, answer); len(items) > 1 {
			answer = at.put(answer, items[:1])
		}
	}
	return answer
}

// Has tells whether an answer has an item.
func (l List) Has(answer any) bool {
	return slices.ContainsFunc(l.at, func(at place) bool { return len(itemsAt(at, answer)) > 0 })
}

// String spells the place of the list: "Tasks".
func (l List) String() string { return l.at[len(l.at)-1].String() }

// Name names the items of two statuses: "Tasks[0] RUNNING and [1] STOPPED".
func (l List) Name(one, two string) string {
	return fmt.Sprintf("%s[0] %s and [1] %s", l, one, two)
}

// Tells tells whether an item of a list has a member of the answer that says how its job is. A list next to it may say it
// instead, such as one of failures.
func (r *Response) Tells(l List, answer any) bool {
	at := l.at[len(l.at)-1]
	return slices.ContainsFunc(r.Members, func(m Member) bool {
		return len(m.at) > len(at) && slices.Equal(m.at[:len(at)], at) && m.Has(answer)
	})
}

func itemsAt(at place, answer any) []any {
	items, _ := at.get(answer).([]any)
	return items
}

// findLists finds the lists whose items tell the status, the outer ones first.
func findLists(at place, answers []any) []place {
	var found, inner []place
	members, firsts, texts := map[string]bool{}, []any{}, map[string]bool{}
	for _, a := range answers {
		switch a := a.(type) {
		case map[string]any:
			for name := range a {
				members[name] = true
			}
		case []any:
			if len(a) > 0 {
				firsts = append(firsts, a[0])
				texts[fmt.Sprint(a[0])] = true
			}
		}
	}
	if len(texts) > 1 {
		found, inner = []place{at}, findLists(append(slices.Clip(at), 0), firsts)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		under := make([]any, len(answers))
		for i, a := range answers {
			under[i] = place{name}.get(a)
		}
		inner = append(inner, findLists(append(slices.Clip(at), name), under)...)
	}
	found = append(found, inner...)
	slices.SortStableFunc(found, func(a, b place) int { return a.lists() - b.lists() })
	return found
}

// lists is how many lists a place leads through.
func (p place) lists() int {
	n := 0
	for _, part := range p {
		if _, isItem := part.(int); isItem {
			n++
		}
	}
	return n
}

// severalOf are the lists of which an answer to a call may have several items: those of jobs,
// unless the call asks for one, and those of its parts.
func severalOf(found []place, asksForOne bool, arguments *asl.Template, input *catalog.Shape) []List {
	named := place{} // the list whose items the arguments name, such as Tasks of describeTasks
	for _, a := range singles(arguments, input, "") {
		i := slices.IndexFunc(found, a.names)
		if i >= 0 && found[i].lists() >= named.lists() {
			named = found[i]
		}
		asksForOne = asksForOne || i >= 0 || a.listed && slices.ContainsFunc(found, a.mayName)
	}
	var outer List
	var all []List
	for _, at := range found {
		one := asksForOne && at.lists() <= named.lists() && (len(at) == 1 || len(named) > 0)
		switch {
		case one:
		case at.lists() == 0:
			outer.at = append(outer.at, at)
		default:
			all = append(all, List{[]place{at}})
		}
	}
	if outer.at != nil {
		all = append([]List{outer}, all...)
	}
	return all
}

// single is an argument with one text.
type single struct {
	name   string
	listed bool // in a list
}

// names tells whether the argument names an item of a list: "InstanceIds" one of "Instances".
func (s single) names(at place) bool {
	name := strings.ToLower(s.name)
	if s.listed {
		name = strings.TrimSuffix(name, "s")
	}
	for _, suffix := range handleWords {
		name = strings.TrimSuffix(name, suffix)
	}
	list := strings.ToLower(lastName(at))
	return name != "" && (list == name || list == name+"s" || s.listed && strings.HasPrefix(list, name))
}

// mayName tells whether all words of the argument are in the name of a list: those of "Ids", "TaskIds" and "ImportTaskIds" are in
// "ImportSnapshotTasks", and that of "Owners" is not.
func (s single) mayName(at place) bool {
	list := strings.ToLower(lastName(at))
	for _, word := range nameWord().FindAllString(s.name, -1) {
		word = strings.TrimSuffix(strings.ToLower(word), "s")
		if !strings.Contains(list, word) && !slices.Contains(handleWords, word) {
			return false
		}
	}
	return true
}

// handleWords are the words of an argument that say by what it names an item.
var handleWords = []string{"identifier", "name", "arn", "id"}

// nameWord is a word of the name of a member.
var nameWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{Lu}*[^\p{Lu}]+`) })

// singles are the arguments of a call that have one text each. A filter is one of its name.
func singles(arguments *asl.Template, shape *catalog.Shape, filter string) []single {
	var all []single
	if arguments == nil || shape == nil {
		return nil
	}
	members := membersOf(arguments)
	if name := members["Name"]; name != nil && members["Values"] != nil {
		filter, _ = name.Literal.(string)
	}
	for _, m := range shape.Members {
		value := members[javasdk.MemberName(m.Name)]
		if value == nil {
			continue
		}
		items := itemsOf(value)
		switch element := m.Shape.Element; {
		case m.Shape.Type == catalog.String && m.Shape.Enum == nil && filter == "":
			all = append(all, single{name: m.Name})
		case m.Shape.Type == catalog.Structure:
			all = append(all, singles(value, m.Shape, "")...)
		case m.Shape.Type != catalog.List || len(items) != 1:
		case element.Shape.Type == catalog.String && filter != "":
			all = append(all, single{name: strings.ReplaceAll(filter, "-", "")})
		case element.Shape.Type == catalog.String && element.Shape.Enum == nil:
			all = append(all, single{name: m.Name, listed: true})
		case element.Shape.Type == catalog.Structure:
			all = append(all, singles(items[0], element.Shape, "")...)
		}
	}
	return all
}

// membersOf are those of an object in a template.
func membersOf(t *asl.Template) map[string]*asl.Template {
	all := map[string]*asl.Template{}
	if literal, is := t.Literal.(map[string]any); is {
		for name, value := range literal {
			all[name] = &asl.Template{Literal: value}
		}
	}
	for _, m := range t.Object {
		all[m.Name] = m.Value
	}
	return all
}

// itemsOf are those of a list in a template; nil if they are not known.
func itemsOf(t *asl.Template) []*asl.Template {
	if literal, is := t.Literal.([]any); is {
		var all []*asl.Template
		for _, value := range literal {
			all = append(all, &asl.Template{Literal: value})
		}
		return all
	}
	if call := t.Intrinsic; call != nil && call.Function() == "Array" {
		return make([]*asl.Template, len(call.Arguments()))
	}
	if t.Expression != nil { // "[$id]"; only a run knows that $id is no list
		if p := t.Expression.Part(); p.Kind == jsonata.PartArray && len(p.Filters) == 0 && len(p.Parts) == 1 && p.Parts[0].Kind != jsonata.PartRange {
			return make([]*asl.Template, 1)
		}
	}
	return t.Array
}
