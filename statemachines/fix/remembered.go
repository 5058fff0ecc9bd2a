package fix

import (
	"bytes"

	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// mostRemembered are the text that a round is at, and those of an edit's forms.
const mostRemembered = 6

// remembered reads a text once, though each edit reads the text before it and the one that it
// makes, and who judges the edit reads that again. It keeps the texts that were read last.
func remembered(read edit.Read) edit.Read {
	type reading struct {
		text       []byte
		definition *source.Definition
		err        error
	}
	var last []reading // the newest at the end
	return func(text []byte) (*source.Definition, error) {
		for i, r := range last {
			if bytes.Equal(r.text, text) {
				last = append(append(last[:i:i], last[i+1:]...), r)
				return r.definition, r.err
			}
		}
		r := reading{text: bytes.Clone(text)}
		r.definition, r.err = read(text)
		if len(last) == mostRemembered {
			last = last[1:]
		}
		last = append(last, r)
		return r.definition, r.err
	}
}
