package terminal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// attacks are what a job may say, and what is shown of it on a line.
var attacks = map[string]string{
	"plain":                        "plain",
	"tab\tand ünïcödé 漢字 👍":        "tab\tand ünïcödé 漢字 👍",
	"\x1b[2J\x1b]0;title\a":        `\u001b[2J\u001b]0;title\u0007`,
	"\u009b31m":                    `\u009b31m`,
	"\x9b31m":                      "\ufffd31m",
	"del\x7f\b":                    `del\u007f\u0008`,
	"\u202egnp.exe\u2066\u200f":    `\u202egnp.exe\u2066\u200f`,
	"ok\r\nSUCCEEDED after 0s":     `ok\r\nSUCCEEDED after 0s`,
	"ok\u2028next\u2029\u0085line": `ok\u2028next\u2029\u0085line`,
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range attacks {
		require.Equal(t, want, terminal.Quote(text))
		require.Equal(t, "1 "+want+" "+want+"\n\n", terminal.Sprintf("%d %s %v\n\n", 1, text, errors.New(text)))
		require.Equal(t, want, terminal.Sprintf("%s", json.RawMessage(text)))
	}
	require.Equal(t, "a\n  b", terminal.Sprintf("%s", terminal.Lines("a\n  b")))
	require.Equal(t, `"a\nb" |ab  | 1.50   7 [a\nb] %!s(MISSING)`, terminal.Sprintf("%q |%-4s| %.2f %*d %v %s", "a\nb", "ab", 1.5, 3, 7, []string{"a\nb"}))
}

// Of an error of several lines, what another package quotes is on one.
func TestErrorText(t *testing.T) {
	t.Parallel()
	service := &smithy.GenericAPIError{Code: "Evil", Message: "no\nSUCCEEDED after 0s"}
	err := errors.Join(fmt.Errorf("first: %w", service), errors.New("second"))
	require.EqualValues(t, "first: api error Evil: no\\nSUCCEEDED after 0s\nsecond", terminal.ErrorText(err))
	require.EqualValues(t, "a\nb", terminal.ErrorText(errors.New("a\nb")))
}

func TestWriter(t *testing.T) {
	t.Parallel()
	for text, want := range attacks {
		var out bytes.Buffer
		w := terminal.NewWriter(&out)
		n, err := fmt.Fprint(w, text)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.NoError(t, w.Flush())
		require.Equal(t, strings.ReplaceAll(strings.ReplaceAll(want, `\r`, `\u000d`), `\n`, "\n"), out.String())
	}
	require.Nil(t, terminal.DisplayOf(terminal.NewWriter(&bytes.Buffer{})))
}

// JSON means the same before and after, and says nothing to a terminal.
func TestWriterKeepsJSON(t *testing.T) {
	t.Parallel()
	for text := range attacks {
		var out bytes.Buffer
		w := terminal.NewWriter(&out)
		require.NoError(t, json.NewEncoder(w).Encode(text))
		require.NoError(t, w.Flush())
		var back string
		require.NoError(t, json.Unmarshal(out.Bytes(), &back))
		require.Equal(t, strings.ToValidUTF8(text, "\ufffd"), back)
		require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f]`, out.String())
	}
}

// However a text is cut into writes, the same is shown, and nothing that a
// terminal obeys.
func FuzzWriter(f *testing.F) {
	for text := range attacks {
		f.Add([]byte(text), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		at = min(max(at, 0), len(text))
		var whole, cut bytes.Buffer
		for out, parts := range map[*bytes.Buffer][][]byte{&whole: {text}, &cut: {text[:at], text[at:]}} {
			w := terminal.NewWriter(out)
			for _, part := range parts {
				_, err := w.Write(part)
				require.NoError(t, err)
			}
			require.NoError(t, w.Flush())
		}
		require.Equal(t, whole.String(), cut.String())
		require.True(t, utf8.Valid(whole.Bytes()))
		require.False(t, strings.ContainsFunc(whole.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }))
		require.NotContains(t, terminal.Quote(string(text)), "\n")
	})
}

// The name of a file forges no line of an error, and the error in it stays one.
func TestErrorf(t *testing.T) {
	t.Parallel()
	cause := errors.New("is missing")
	err := terminal.Errorf("%s: %w%s (%d)", "a\nb\x1b", cause, terminal.Lines("\nlook"), 2)
	require.EqualError(t, err, `a\nb\u001b: is missing`+"\nlook (2)")
	require.ErrorIs(t, err, cause)
}
