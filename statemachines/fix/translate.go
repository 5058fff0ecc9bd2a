package fix

import (
	"encoding/json"
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

// translatePath writes a path of JSONPath in JSONata, over the document.
func translatePath(p *jsonpath.Path, document string) (string, error) {
	var b strings.Builder
	switch {
	case p.Function() != "":
		return "", refuse("the path %s calls a function", p)
	case p.Context():
		b.WriteString("$states.context")
	case p.Variable() != "":
		b.WriteString("$" + p.Variable())
	default:
		b.WriteString(document)
	}
	for _, s := range p.Steps() {
		switch {
		case s.Deep || s.Kind != jsonpath.StepName && s.Kind != jsonpath.StepIndex:
			return "", refuse("the path %s selects more than one value", p)
		case s.Kind == jsonpath.StepIndex:
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
		return translateCall(t.Intrinsic.String(), t.Intrinsic, document)
	default:
		return "", refuse("a template has an expression")
	}
}

// translateCall writes the one intrinsic function that poll loops use, an array of
// paths.
func translateCall(text string, call *intrinsic.Call, document string) (string, error) {
	if !strings.HasPrefix(text, "States.Array(") || strings.Count(text, "(") > 1 || strings.Contains(text, "'") {
		return "", refuse("JSONata has to be written for %s", text)
	}
	var parts []string
	for _, p := range call.Paths() {
		part, err := translatePath(p, document)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	if strings.Count(text, ",") != max(0, len(parts)-1) {
		return "", refuse("JSONata has to be written for %s", text)
	}
	return "[" + strings.Join(parts, ", ") + "]", nil
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
	if p.Root() {
		return value, nil
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
