package typecheck

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Spelling is how an integration spells arguments and results: it turns them into
// those of a call of the service, and back.
type Spelling struct{ sdk bool }

// Spelling returns the spelling of the integration.
func (a *API) Spelling() Spelling { return Spelling{sdk: a.spelling != nil && a.spelling.sdk} }

// Arguments returns the arguments of a Task in the model's spelling, with bytes in
// base64. A null is no argument. The error is a diag.Problems.
func (Spelling) Arguments(arguments any, input *catalog.Shape) (any, error) {
	text, err := json.Marshal(withoutNulls(arguments))
	if err != nil {
		return nil, err
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	f := fit{input: true, sent: true}
	value := f.value(doc.Root, input)
	return value, f.problems.Err()
}

func withoutNulls(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(object))
	for name, member := range object {
		if member != nil {
			out[name] = withoutNulls(member)
		}
	}
	return out
}

// asText is what is sent of a value where the model has bytes or text.
func (f *fit) asText(n *jsontree.Node, shape *catalog.Shape) (string, bool) {
	isText, isJSON := n.Kind == jsontree.String, n.Kind == jsontree.Object || n.Kind == jsontree.Array
	if !f.sent || shape.Type != catalog.Blob && (shape.Type != catalog.String || !isJSON) || !isText && !isJSON {
		return "", false
	}
	text := n.Text
	if isJSON {
		marshaled, err := json.Marshal(n.Value())
		if err != nil {
			return "", false
		}
		text = string(marshaled)
	}
	if shape.Type == catalog.Blob {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text, true
}

// Result returns the answer of a call, in the model's spelling, as the result of a
// Task. Bytes that are text are text.
func (s Spelling) Result(answer any, output *catalog.Shape) any {
	result := s.spell(answer, output)
	object, ok := result.(map[string]any)
	if !ok || s.sdk {
		return result
	}
	object[httpMetadata] = map[string]any{"HttpStatusCode": json.Number("200")}
	return object
}

func (s Spelling) spell(value any, shape *catalog.Shape) any {
	switch v := value.(type) {
	case map[string]any:
		if shape == nil {
			return v
		}
		object := make(map[string]any, len(v))
		for name, item := range v {
			if shape.Type == catalog.Map {
				object[name] = s.spell(item, shape.Element.Shape)
			} else if m := shape.Member(name); m != nil {
				object[s.name(m.Name)] = s.spell(item, m.Shape)
			} else {
				object[name] = item
			}
		}
		return object
	case []any:
		if shape == nil || shape.Type != catalog.List {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = s.spell(item, shape.Element.Shape)
		}
		return list
	case string:
		if shape != nil && shape.Type == catalog.Blob {
			if text, err := base64.StdEncoding.DecodeString(v); err == nil && utf8.Valid(text) {
				return string(text)
			}
		}
	}
	return value
}

// name is what the integration calls a member.
func (s Spelling) name(member string) string {
	if s.sdk {
		return javasdk.MemberName(member)
	}
	return javasdk.Capitalize(member)
}
