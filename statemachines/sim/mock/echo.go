package mock

import (
	"encoding/json"
	"slices"
	"strings"
)

// Echo returns an answer in which members repeat what a call asks for. echoes are the paths of
// these members in the answer, by those of the arguments: a member that the answer does not have
// stays away. A list repeats a list. The list whose items are asked for by a list of ids has an item
// for each id.
func Echo(answer, arguments any, echoes map[string]string) (any, error) {
	for from, to := range echoes {
		given, err := parsePath(from)
		if err != nil {
			return nil, err
		}
		at, err := parsePath(to)
		if err != nil {
			return nil, err
		}
		switch value := given.get(arguments).(type) {
		case string, bool, json.Number:
			at.repeat(answer, value)
		case []any:
			if _, isList := at.get(answer).([]any); isList {
				at.repeat(answer, value)
			} else {
				answer, err = at.repeatEach(answer, value)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// repeat puts a value in the place of one of its type at the path, in all items of the lists on the
// way.
func (p path) repeat(in, value any) {
	switch v := in.(type) {
	case []any:
		for _, item := range v {
			p[1:].repeat(item, value)
		}
	case map[string]any:
		name, _ := p[0].(string)
		if len(p) > 1 {
			p[1:].repeat(v[name], value)
			return
		}
		text, isText := value.(string)
		switch v[name].(type) {
		case string:
			if isText {
				v[name] = named(text, name)
			}
		case bool:
			if truth, is := value.(bool); is {
				v[name] = truth
			}
		case json.Number, float64, int:
			if number, is := value.(json.Number); is {
				v[name] = number
			}
		case []any:
			if list, is := value.([]any); is {
				v[name] = slices.Clone(list)
			}
		}
	}
}

// repeatEach gives each id an item of the first list on the way.
func (p path) repeatEach(in any, ids []any) (any, error) {
	i := slices.IndexFunc(p, func(part any) bool { _, is := part.(int); return is })
	if i < 0 {
		return in, nil
	}
	items, _ := p[:i].get(in).([]any)
	for len(items) == 1 && len(items) < len(ids) {
		for range ids[1:] {
			item, err := copyOf(items[0])
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
	}
	for n, item := range items[:min(len(items), len(ids))] {
		if id, isText := ids[n].(string); isText {
			p[i+1:].repeat(item, id)
		}
	}
	if items == nil {
		return in, nil
	}
	return p[:i].set(in, items)
}

// named is what an answer has as a member of the name for what a call asks by a text: the last part
// of an ARN, unless the member has ARNs.
func named(text, member string) string {
	if strings.HasPrefix(text, "arn:") && !strings.HasSuffix(strings.ToLower(member), "arn") {
		return text[strings.LastIndexAny(text, ":/")+1:]
	}
	return text
}
