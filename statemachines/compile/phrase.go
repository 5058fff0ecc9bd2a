package compile

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
)

// expression is a field's JSONata.
func expression(text string) string { return "{% " + text + " %}" }

// text writes a string of JSONata.
func text(s string) string { return tojsonata.Quote(s) }

// phrase is a text and the JSONata of what stands behind it, which may be empty.
type phrase struct{ text, value string }

// jsonata writes it as an expression.
func (s phrase) jsonata() string {
	if s.value == "" {
		return text(s.text)
	}
	return text(s.text) + " & " + s.value
}

// field is the value of a field of a state: the text itself if that is all, and
// if Step Functions does not take it for an expression.
func (s phrase) field() string {
	if s.value == "" && !strings.HasPrefix(s.text, "{%") {
		return s.text
	}
	return expression(s.jsonata())
}
