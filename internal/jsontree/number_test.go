package jsontree_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Python writes 60.0, and JSON Schema calls it an integer.
func TestWholeNumbersInAnySpelling(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		"60": "60", "60.0": "60", "6e1": "60", "6E+1": "60", "600e-1": "60", "0.6e2": "60", "60.000e0": "60", "-60.0": "-60",
		"0": "0", "-0": "0", "0.0": "0", "0e99": "0", "0e-99": "0", "00": "0",
		"9223372036854775807": "9223372036854775807", "9007199254740993.0": "9007199254740993",
		"12345678901234567890123456789.00": "12345678901234567890123456789", "1e30": "1" + strings.Repeat("0", 30),
		"1e308": "1" + strings.Repeat("0", 308),
	} {
		got, ok := jsontree.WholeNumber(literal)
		require.True(t, ok, literal)
		require.Equal(t, want, got, literal)
	}
	for _, literal := range []string{
		"60.5", "6e-1", "1.05e1", "1e309", "1e999999999", "1e99999999999999999999", "-1e400", "1e-400", "", "-", ".5", "5.x", "0x10", "1_000", "+1", "NaN", "1e", "١",
	} {
		_, ok := jsontree.WholeNumber(literal)
		require.False(t, ok, literal)
	}
}

func TestReaderTakesWholeNumbersInAnySpelling(t *testing.T) {
	t.Parallel()
	for _, literal := range []string{"60", "60.0", "6e1"} {
		doc, err := jsontree.Parse([]byte(literal))
		require.NoError(t, err)
		var r jsontree.Reader
		var i int
		var j int64
		r.Int(&i, 1, 60)(doc.Root)
		r.Integer(&j, 8)(doc.Root)
		require.Empty(t, r.Problems)
		require.Equal(t, 60, i)
		require.EqualValues(t, 60, j)
	}
	for literal, want := range map[string]string{
		"60.5": "expected a whole number from 1 to 60, found a number (60.5)",
		"61.0": "expected a whole number from 1 to 60, found a number (61.0)",
		"1e99": "expected a whole number from 1 to 60, found a number (1e99)",
	} {
		doc, err := jsontree.Parse([]byte(literal))
		require.NoError(t, err)
		var r jsontree.Reader
		r.Int(new(int), 1, 60)(doc.Root)
		require.ErrorContains(t, r.Problems.Err(), want)
	}
	doc, err := jsontree.Parse([]byte("9.223372036854775807e18"))
	require.NoError(t, err)
	var r jsontree.Reader
	var v int64
	r.Integer(&v, 64)(doc.Root)
	require.Empty(t, r.Problems)
	require.EqualValues(t, 9223372036854775807, v)
}

func TestDigitsOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": 60.0, "b": 1.5, "c": {"d": 6e1}, "e": "60.0"}`: `{"a":60,"b":1.5,"c":{"d":6e1},"e":"60.0"}`,
		`{"a": 60, "b": [6e1]}`:                               `{"a": 60, "b": [6e1]}`,
		`[6e1]`:                                               `[6e1]`,
		`60.0`:                                                `60.0`,
		`{`:                                                   `{`,
		`null`:                                                `null`,
	} {
		require.Equal(t, want, string(jsontree.DigitsOnly([]byte(text))), text)
	}
}

// A whole number is what exact arithmetic says it is.
func FuzzWholeNumber(f *testing.F) {
	for _, seed := range []string{"60.0", "6e1", "-0.5e1", "1e400", "12.30", "1e-3", "1000e-3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, literal string) {
		digits, ok := jsontree.WholeNumber(literal)
		if ok && len(digits) > 310 {
			t.Fatalf("%q has %d digits", literal, len(digits))
		}
		if len(literal) > 30 || !json.Valid([]byte(literal)) || strings.Trim(literal, "-+.eE0123456789") != "" {
			return
		}
		if _, exponent, found := strings.Cut(strings.ToLower(literal), "e"); found && len(strings.TrimLeft(exponent, "+-0")) > 2 {
			return // too large for exact arithmetic
		}
		exact, parsed := new(big.Rat).SetString(literal)
		if !parsed {
			return
		}
		if exact.IsInt() != ok || ok && exact.Num().String() != digits {
			t.Fatalf("%q is %s, got %q, %v", literal, exact, digits, ok)
		}
	})
}
