package fix

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// translateSelection writes a path that selects several values as a list in JSONata, over what it begins with. A name behind a
// list is that of a member of each item, in both languages.
func translateSelection(p *jsonpath.Path, begin string) (string, error) {
	var b strings.Builder
	b.WriteString(begin)
	for _, s := range p.Steps() {
		switch {
		case s.Deep:
			return "", refuseSelection(p)
		case s.Kind == jsonpath.StepName:
			b.WriteString("." + memberName(s.Names[0]))
		case s.Kind == jsonpath.StepAll:
		case s.Kind == jsonpath.StepFilter:
			f, ok := s.Filter()
			if !ok {
				return "", refuseSelection(p)
			}
			condition, ok := translateFilter(f)
			if !ok {
				return "", refuseSelection(p)
			}
			b.WriteString("[" + condition + "]")
		default:
			return "", refuseSelection(p)
		}
	}
	return "[" + b.String() + "]", nil
}

func refuseSelection(p *jsonpath.Path) error {
	return refuse("the path %s selects several values in a way that fix does not write in JSONata: it writes names, [*], and filters that "+
		"compare members of an item with texts, such as [?(@.Status == 'FAILED')]", p)
}

// translateFilter writes a filter as a condition in JSONata, on the item.
func translateFilter(f jsonpath.Filter) (condition string, ok bool) {
	join := func(operator string) (string, bool) {
		parts := make([]string, len(f.Parts))
		for i, part := range f.Parts {
			if parts[i], ok = translateFilter(part); !ok {
				return "", false
			}
		}
		return "(" + strings.Join(parts, operator) + ")", true
	}
	member := make([]string, len(f.Member))
	for i, name := range f.Member {
		member[i] = memberName(name)
	}
	at := strings.Join(member, ".")
	switch f.Kind {
	case jsonpath.FilterAll:
		return join(" and ")
	case jsonpath.FilterAny:
		return join(" or ")
	case jsonpath.FilterNot:
		inner, ok := join("")
		return "$not(" + inner + ")", ok
	case jsonpath.FilterExists:
		return "$exists(" + at + ")", true
	case jsonpath.FilterCompare:
	}
	switch f.Operator {
	case "==", "===":
		return at + " = " + string(mustJSON(f.Literal)), isPlainLiteral(f.Literal)
	case "in":
		list, isList := f.Literal.([]any)
		odd := slices.ContainsFunc(list, func(value any) bool { return !isPlainLiteral(value) })
		return at + " in " + string(mustJSON(f.Literal)), isList && !odd
	case "!=", "!==": // also where the item lacks the member, unlike in JSONata
		return "$not(" + at + " = " + string(mustJSON(f.Literal)) + ")", isPlainLiteral(f.Literal)
	case "<", "<=", ">", ">=":
		number, isNumber := f.Literal.(json.Number)
		return "$type(" + at + ") = 'number' and " + at + " " + f.Operator + " " + number.String(), isNumber
	default:
		return "", false
	}
}

// isPlainLiteral tells whether both languages compare a literal alike.
func isPlainLiteral(value any) bool {
	switch v := value.(type) {
	case string:
		_, err := strconv.ParseFloat(v, 64)
		return err != nil // else JSONPath takes it for a number beside one
	case bool, json.Number:
		return true
	default:
		return false
	}
}
