package compile

import (
	"encoding/json"
	"strings"
)

// object is a JSON object of a definition. Its order does not matter: asl.Print
// has one of its own.
type object map[string]any

// states are the states of a definition, in the order in which a reader meets
// them.
type states []state

type state struct {
	name   string
	fields object
}

// MarshalJSON implements json.Marshaler.
func (s states) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, state := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(state.name)
		if err != nil {
			return nil, err
		}
		fields, err := json.Marshal(state.fields)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(fields)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
