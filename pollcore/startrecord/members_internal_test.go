package startrecord

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A text has the members that package json finds in it.
func FuzzSplitObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` {"a" : 1 , "b":{"c":[1,"}",{"d":"\""}]}, "a": "x\\"} `, `{"\u0061":"\u0062","e\"":null}`, `{"a":true,"b":-1e9}`,
		`null`, `[{"a": 1}]`, `"{}"`, `{"a"}`, `{"a":1,}`, ``, "{\"a\":1\n}", `{"":{}}`, `{"version":1,"callback":{"jobIds":["x","y"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if invalidUTF8(text) >= 0 {
			return
		}
		var want map[string]json.RawMessage
		err := json.Unmarshal(text, &want)
		require.Equal(t, err == nil && want != nil, isObject(text))
		if err != nil || want == nil {
			return
		}
		got := splitObject(text)
		found := map[string]json.RawMessage{}
		for _, m := range got {
			found[string(m.name)] = json.RawMessage(m.value)
		}
		require.Equal(t, want, found)
		for name, value := range want {
			if string(value) == "null" {
				value = nil
			}
			require.Equal(t, []byte(value), got.find(name))
			var wanted, read string
			if value != nil && json.Unmarshal(value, &wanted) == nil {
				require.NoError(t, readInto(&read, value))
				require.Equal(t, wanted, read)
			}
		}
	})
}
