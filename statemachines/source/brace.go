package source

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// braced is a value that Ansible, Jinja or Helm puts in.
var braced = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{[^%\n][^\n]*?\}\}`) })

// isBraced tells whether a program such as Ansible puts values into the document.
func (d *document) isBraced() bool { return d.yaml && !d.copied }

// refuseStatements refuses a text that is no definition before its statements, such as
// "{% if x %}", are rendered.
func (m *machineReader) refuseStatements(chars *text) {
	at := firstOf(chars.bytes)
	if at < 0 || m.d.Problems == nil && json.Valid(m.d.Text) {
		return
	}
	l := languageOf(&file{name: m.file.name, bytes: chars.bytes}, at)
	p := chars.problem(at, "", fmt.Sprintf("%q is %s, so the definition of %s is not checked: lint it as it is rendered",
		shownSign(chars.bytes[at:min(len(chars.bytes), at+maxShownSign)]), l.name, m.d.Title()))
	p.Severity = diag.Warning
	m.d.Text, m.d.Problems = nil, diag.Problems{p}
}

// nameBraces gives "{{ x }}" the name of a placeholder: what it gives is not known.
func nameBraces(t *text) *text {
	var w writer
	from := 0
	for _, at := range braced().FindAllIndex(t.bytes, -1) {
		w.copy(t, from, at[0])
		name := placeholderName(string(t.bytes[at[0]:at[1]]))
		w.replace(t, asl.PlaceholderForm{Start: at[0], End: at[1]}, "${"+name+"}")
		from = at[1]
	}
	if from == 0 {
		return t
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file)
}
