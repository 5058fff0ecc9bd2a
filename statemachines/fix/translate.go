package fix

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// expression wraps JSONata.
func expression(text string) string { return "{% " + text + " %}" }

// unwrap returns the JSONata of an expression; false if the text is none.
func unwrap(text string) (string, bool) {
	text, ok := strings.CutPrefix(text, "{%")
	if !ok {
		return "", false
	}
	return strings.TrimSpace(strings.TrimSuffix(text, "%}")), true
}

// express writes a value of a state in JSONata as one expression.
func express(value any) string {
	switch v := value.(type) {
	case string:
		if text, ok := unwrap(v); ok {
			return "(" + text + ")"
		}
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = express(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case object:
		parts := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, string(mustJSON(name))+": "+express(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(mustJSON(value))
}

// translateFields writes a template of JSONPath as a value of a state in JSONata,
// over the document: what is literal in it stays so.
func translateFields(t *asl.Template, document string) (any, error) {
	switch t.Kind {
	case asl.TemplateLiteral:
		if strings.Contains(string(mustJSON(t.Literal)), `"{%`) {
			return nil, refuse("a text begins as an expression of JSONata does")
		}
		return t.Literal, nil
	case asl.TemplateObject:
		made := object{}
		for _, m := range t.Object {
			value, err := translateFields(m.Value, document)
			if err != nil {
				return nil, err
			}
			made[m.Name] = value
		}
		return made, nil
	case asl.TemplateArray:
		made := make([]any, len(t.Array))
		for i, item := range t.Array {
			value, err := translateFields(item, document)
			if err != nil {
				return nil, err
			}
			made[i] = value
		}
		return made, nil
	default:
		text, err := translate(t, document)
		return expression(text), err
	}
}

// translatePath writes a path of JSONPath in JSONata, over the document.
func translatePath(p *jsonpath.Path, document string) (string, error) {
	var b strings.Builder
	switch {
	case p == nil:
		return "{}", nil // null
	case p.Function() != "":
		return "", refuse("the path %s calls a function", p)
	case p.Context():
		b.WriteString("$states.context")
	case p.Variable() != "":
		b.WriteString("$" + p.Variable())
	default:
		b.WriteString(document)
	}
	if !p.Definite() {
		return translateSelection(p, b.String())
	}
	for _, s := range p.Steps() {
		switch s.Kind {
		case jsonpath.StepIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		default:
			b.WriteString("." + memberName(s.Names[0]))
		}
	}
	return b.String(), nil
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })

// memberName writes the name of a member in JSONata.
func memberName(name string) string {
	if plainName().MatchString(name) && name != "and" && name != "or" && name != "in" {
		return name
	}
	return "`" + name + "`"
}

// translate writes a template of JSONPath in JSONata, over the document.
func translate(t *asl.Template, document string) (string, error) {
	switch t.Kind {
	case asl.TemplateLiteral:
		text, err := json.Marshal(t.Literal)
		return string(text), err
	case asl.TemplatePath:
		return translatePath(t.Path, document)
	case asl.TemplateObject:
		parts := make([]string, len(t.Object))
		for i, m := range t.Object {
			value, err := translate(m.Value, document)
			if err != nil {
				return "", err
			}
			parts[i] = string(mustJSON(m.Name)) + ": " + value
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	case asl.TemplateArray:
		parts := make([]string, len(t.Array))
		for i, item := range t.Array {
			value, err := translate(item, document)
			if err != nil {
				return "", err
			}
			parts[i] = value
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case asl.TemplateIntrinsic:
		return translateCall(t.Intrinsic, document)
	default:
		return "", refuse("a template has an expression")
	}
}

// calls are intrinsic functions in JSONata, #1 for the first argument. StringSplit,
// which takes several separators, and MathRandom, which has seeds, are not there.
var calls = map[string]string{
	"ArrayContains":  "(#2 in #1)",
	"ArrayGetItem":   "(#1)[#2]",
	"ArrayLength":    "$count(#1)",
	"ArrayPartition": "$partition(#1, #2)",
	"ArrayRange":     "$range(#1, #2, #3)",
	"ArrayUnique":    "$append([], $distinct(#1))",
	"Base64Decode":   "$base64decode(#1)",
	"Base64Encode":   "$base64encode(#1)",
	"Hash":           "$hash(#1, #2)",
	"JsonMerge":      "$merge([#1, #2])",
	"JsonToString":   "$string(#1)",
	"MathAdd":        "(#1 + #2)",
	"StringToJson":   "$parse(#1)",
	"UUID":           "$uuid()",
}

// translateCall writes an intrinsic function in JSONata, over the document.
func translateCall(call *intrinsic.Call, document string) (string, error) {
	var parts []string
	for _, a := range call.Arguments() {
		part := string(mustJSON(a.Literal))
		var err error
		switch {
		case a.Path != nil:
			part, err = translatePath(a.Path, document)
		case a.Call != nil:
			part, err = translateCall(a.Call, document)
		}
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	name := call.Function()
	switch template, ok := calls[name]; {
	case name == "Array":
		return "[" + strings.Join(parts, ", ") + "]", nil
	case name == "Format":
		return translateFormat(call, parts[1:])
	case !ok:
		return "", refuse("JSONata has no function for States.%s", name)
	default:
		var pairs []string
		for i, part := range parts {
			pairs = append(pairs, "#"+strconv.Itoa(i+1), part)
		}
		return strings.NewReplacer(pairs...).Replace(template), nil
	}
}

// translateFormat writes the pieces of a States.Format one after the other.
func translateFormat(call *intrinsic.Call, values []string) (string, error) {
	template, ok := call.Arguments()[0].Literal.(string)
	pieces := strings.Split(template, "{}")
	if !ok || strings.Contains(call.String(), `\`) || len(pieces) != len(values)+1 {
		return "", refuse("the template of %s cannot be read", call)
	}
	parts := []string{string(mustJSON(pieces[0]))}
	for i, value := range values {
		parts = append(parts, "$string("+value+")")
		if pieces[i+1] != "" {
			parts = append(parts, string(mustJSON(pieces[i+1])))
		}
	}
	return "(" + strings.Join(parts, " & ") + ")", nil
}

func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return text
}

// mergeAt is JSONata for a document with a value at a reference path, as ResultPath
// puts it there: nil discards the value.
func mergeAt(p *jsonpath.Path, document, value string) (string, error) {
	if p == nil {
		return document, nil
	}
	steps := p.Steps()
	around := make([]string, len(steps)) // what each member is put into
	at := document
	for i, s := range steps {
		if s.Kind != jsonpath.StepName {
			return "", refuse("the ResultPath %s has an index", p)
		}
		around[i] = at
		at += "." + memberName(s.Names[0])
	}
	for i, s := range slices.Backward(steps) {
		value = "$merge([" + around[i] + ", {" + string(mustJSON(s.Names[0])) + ": " + value + "}])"
	}
	return value, nil
}
