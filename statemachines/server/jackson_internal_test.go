package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want   string
		line, column int
	}{
		{`not a definition`, "Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')", 1, 4},
		{`{'not': 'json'`, "Unexpected character (''' (code 39)): was expecting double-quote to start field name", 1, 3},
		{``, "Invalid execution input.", 1, 1},
		{`{"a":1`, "Unexpected end-of-input: expected close marker for Object (start marker at [Source: (String); line: 1, column: 1])", 1, 7},
		{"[\n [1,", "Unexpected end-of-input: expected close marker for Array (start marker at [Source: (String); line: 2, column: 2])", 2, 5},
		{`{"a" 1}`, "Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value", 1, 7},
		{`{"a":1 "b":2}`, "Unexpected character ('\"' (code 34)): was expecting comma to separate Object entries", 1, 9},
		{`[1 2]`, "Unexpected character ('2' (code 50)): was expecting comma to separate Array entries", 1, 5},
		{`[1,]`, "Unexpected character (']' (code 93)): expected a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')", 1, 5},
		{`"a`, "Unexpected end-of-input: was expecting closing quote for a string value", 1, 3},
		{`"\x"`, "Unrecognized character escape 'x' (code 120)", 1, 3},
		{`"\u00g0"`, "Unexpected character ('g' (code 103)): expected a hex-digit for character escape sequence", 1, 7},
		{`01`, "Invalid numeric value: Leading zeroes not allowed", 1, 1},
		{`-a`, "Unexpected character ('a' (code 97)) in numeric value: expected digit (0-9) to follow minus sign, for valid numeric value", 1, 3},
		{`1x`, "Unexpected character ('x' (code 120)): Expected space separating root-level values", 1, 3},
		{strings.Repeat("[", 1001), "Document nesting depth (1001) exceeds the maximum allowed (1000, from `StreamReadConstraints.getMaxNestingDepth()`)", 1, 1001},
	}
	for _, tt := range tests {
		require.Equal(t, jsonMistake{tt.want, tt.line, tt.column}, findJSONMistake([]byte(tt.text)), tt.text)
	}
}

// The reader refuses what is not JSON, and nothing else.
func FuzzJSONMistake(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-3,null,true,"x\n\u00e9"]}`, ` {} `, `{"a":}`, "\"\x01\"", `[[],{}]`, `tru`, `1.`, `-0`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		mistake := findJSONMistake(text)
		require.Equal(t, json.Valid(text), mistake.message == "", "%q: %s", text, mistake.message)
	})
}
