package diag_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

func TestAt(t *testing.T) {
	t.Parallel()
	text := []byte("{\n  \"größe\": 1,\r\n\t\"x\": 2\n}")
	tests := []struct {
		name         string
		offset       int
		line, column int
		snippet      string
	}{
		{"start", 0, 1, 1, "  | {\n  | ^"},
		{"after wide characters", strings.Index(string(text), "1,"), 2, 12, "  |   \"größe\": 1,\n  |            ^"},
		{"after a tab", strings.Index(string(text), `"x"`), 3, 2, "  |  \"x\": 2\n  |  ^"},
		{"past the end", len(text) + 9, 4, 2, "  | }\n  |  ^"},
		{"before the start", -1, 1, 1, "  | {\n  | ^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := diag.At(text, tt.offset, "/x", "wrong")
			require.Equal(t, tt.line, p.Line)
			require.Equal(t, tt.column, p.Column)
			require.Equal(t, tt.snippet, p.Snippet())
		})
	}
}

func TestAtShortensLongLines(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 500) + "!" + strings.Repeat("b", 500)
	p := diag.At([]byte(text), 500, "", "wrong")
	require.Less(t, len(p.Source), 120)
	lines := strings.Split(p.Snippet(), "\n")
	require.Equal(t, strings.Index(lines[0], "!"), strings.Index(lines[1], "^"))
}

func TestAtShortensBetweenWideCharacters(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("€", 500) + "!" + strings.Repeat("€", 500)
	p := diag.At([]byte(text), strings.Index(text, "!"), "", "wrong")
	require.Equal(t, 501, p.Column)
	require.Equal(t, "..."+strings.Repeat("€", 40)+"!"+strings.Repeat("€", 59)+"...", p.Source)
}

func TestProblemsErrIsShort(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("x", 100_000))
	var ps diag.Problems
	for i := range diag.MaxShown {
		ps = append(ps, diag.Hidden("", "hidden").Suggest("hiden", "hidden"), diag.At(text, i*5, "", "wrong"))
	}
	for range 20_000 - 2*diag.MaxShown {
		ps = append(ps, diag.Hidden("", "hidden"))
	}
	require.ErrorContains(t, ps.Err(), "20000 problems:")
	require.ErrorContains(t, ps.Err(), "and 19950 more")
	require.NotContains(t, ps.Err().Error(), "hidden")
	found, ok := errors.AsType[diag.Problems](ps.Err())
	require.True(t, ok)
	require.True(t, strings.HasPrefix(found.Brief(), "1:1: wrong; 1:6: wrong; "))
	require.True(t, strings.HasSuffix(found.Brief(), "1:246: wrong; and 19950 more"))
	require.Less(t, len(ps.Err().Error()), 20_000)
}

func TestProblemsErr(t *testing.T) {
	t.Parallel()
	require.NoError(t, diag.Problems(nil).Err())
	text := []byte("ab\ncd")
	err := diag.Problems{diag.At(text, 3, "/b", "second"), diag.At(text, 1, "/a", "first").Suggest("colour", "color")}.Err()
	require.EqualError(t, err, "2 problems:\n1:2: /a: first (did you mean \"color\"?)\n  | ab\n  |  ^\n2:1: /b: second\n  | cd\n  | ^")
}

func TestSeverityInText(t *testing.T) {
	t.Parallel()
	for severity, want := range map[diag.Severity]string{
		diag.Error: "/a: wrong", diag.Danger: "/a: wrong", diag.Warning: "/a: warning: wrong", diag.Note: "/a: note: wrong",
	} {
		require.Equal(t, want, diag.Problem{Severity: severity, Pointer: "/a", Message: "wrong"}.String())
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	p := diag.Problem{Severity: diag.Danger, Pointer: "/a", Line: 9, Column: 9, Message: "wrong", Suggestion: "right", Source: "elsewhere"}
	moved := p.Move([]byte("x\nab"), 3, "/b")
	require.Equal(t, "2:2: /b: wrong (did you mean \"right\"?)", moved.String())
	require.Equal(t, diag.Danger, moved.Severity)
	require.Equal(t, "  | ab\n  |  ^", moved.Snippet())
}
