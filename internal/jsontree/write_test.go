package jsontree_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func FuzzAppendAsEncodingJSON(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<a>&\u2028\u2029", "é日\U0001F600", "\xff\xe2\x80", `{"b": [1.50, true, null, {"a": "<x>"}], "a": ""}`, `1e400`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, html := range []bool{false, true} {
			want := encode(t, text, html)
			require.Equal(t, want, string(jsontree.AppendString([]byte("before"), text, html))[len("before"):])
			require.Equal(t, want, string(jsontree.AppendString(nil, []byte(text), html)))
		}
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.UseNumber()
		var value any
		if dec.Decode(&value) == nil {
			require.Equal(t, encode(t, value, false), string(jsontree.AppendValue(nil, value)))
		}
	})
}

func encode(t *testing.T, value any, html bool) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	require.NoError(t, enc.Encode(value))
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
