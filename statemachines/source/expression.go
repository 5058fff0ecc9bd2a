package source

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// maxExpression bounds the bytes of an expression in a template.
const maxExpression = 1 << 10

// nameExpressions gives expressions of Terraform's templates, such as ${jsonencode(x)},
// the name of a placeholder: what they give is not known.
func nameExpressions(t *text) *text {
	var w writer
	from, quoted := 0, false
	for i := 0; i < len(t.bytes); i++ {
		switch c := t.bytes[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == '$' && i+1 < len(t.bytes) && t.bytes[i+1] == '{':
			end := endOfExpression(t.bytes, i+len("${"), !quoted)
			if end == 0 {
				continue
			}
			from = w.name(t, from, i, end)
			i = end - 1
		}
	}
	if from == 0 {
		return t
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file)
}

// nameValues gives expressions that are the whole of a value of YAML, without quotes, the
// names of placeholders.
func nameValues(t *text) *text {
	var w writer
	from := 0
	for i := 0; i < len(t.bytes); i++ {
		if t.bytes[i] != '$' || i+1 == len(t.bytes) || t.bytes[i+1] != '{' {
			continue
		}
		before := bytes.TrimRight(t.bytes[from:i], " ")
		end := endOfExpression(t.bytes, i+len("${"), false)
		if end == 0 || len(before) == 0 || strings.IndexByte(":-,[", before[len(before)-1]) < 0 {
			continue
		}
		if after := bytes.TrimLeft(t.bytes[end:min(len(t.bytes), end+maxExpression)], " "); len(after) == 0 || strings.IndexByte(",]}#\r\n", after[0]) >= 0 {
			from = w.name(t, from, i, end)
			i = end - 1
		}
	}
	if from == 0 {
		return t
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file)
}

// name writes a text up to an expression, and a placeholder for it if it is none. It returns
// the byte from which the text is not written.
func (w *writer) name(t *text, from, start, end int) int {
	form := string(t.bytes[start:end])
	if asl.IsPlaceholderText(form) {
		return from
	}
	w.copy(t, from, start)
	w.replace(t, asl.PlaceholderForm{Start: start, End: end}, "${"+placeholderName(form)+"}")
	return end
}

// endOfExpression returns the byte after the bracket that closes an expression; 0 if none
// does, or none on its line.
func endOfExpression(text []byte, at int, lines bool) int {
	depth, quoted := 1, false
	for i := at; i < min(len(text), at+maxExpression); i++ {
		switch c := text[i]; {
		case c == '\n' && (quoted || !lines):
			return 0
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// withNames returns the text of a file in which expressions have names, if it is a template
// of Terraform by its name, or is JSON so alone.
func (f *file) withNames() *text {
	t := f.whole()
	named := nameExpressions(t)
	if named == t || isTerraformTemplate(f.name) {
		return named
	}
	if plain, _ := substituteJSON(t, noValueOf); json.Valid(plain.bytes) {
		return t
	}
	return named
}

// quoteBare makes strings of the placeholders and expressions that stand outside of
// quotes.
func quoteBare(t *text) *text {
	quoted, _ := substituteJSON(nameExpressions(t), noValueOf)
	return quoted
}

func noValueOf(string) (string, bool) { return "", false }

// isTerraformTemplate tells whether the name is one that people give to the files of
// templatefile.
func isTerraformTemplate(name string) bool {
	extension := path.Ext(name)
	return extension == ".tftpl" || extension == ".tpl"
}
