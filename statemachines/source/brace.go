package source

import (
	"regexp"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// braced is a value that Ansible, Jinja or Helm puts in.
var braced = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{[^{}\n]*\}\}`) })

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
