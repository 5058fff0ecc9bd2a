package simtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// inputText is the JSON text of an input; nil is {}.
func inputText(input any) ([]byte, error) {
	if input == nil {
		return []byte("{}"), nil
	}
	return jsonText(input)
}

// jsonText is the JSON text of a value.
func jsonText(value any) ([]byte, error) {
	switch v := value.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	default:
		return json.Marshal(v)
	}
}

// compareOutput says how an output differs from the wanted one; "" if it does
// not. The error is of a wanted value that is not JSON.
func compareOutput(output []byte, want any) (problem string, err error) {
	text, err := jsonText(want)
	if err != nil {
		return "", fmt.Errorf("wanted output: %w", err)
	}
	wanted, err := decode(text)
	if err != nil {
		return "", fmt.Errorf("wanted output: %w", err)
	}
	got, err := decode(output)
	if err != nil {
		return "", fmt.Errorf("the output is %s: %w", output, err)
	}
	d := differ("", got, wanted)
	if d == nil {
		return "", nil
	}
	problem = fmt.Sprintf("the output is %s; want %s", showJSON(got), showJSON(wanted))
	if d.pointer != "" {
		problem += fmt.Sprintf("\nthey differ at %s: %s, want %s", d.pointer, d.got, d.want)
	}
	return problem, nil
}

// decode returns JSON text as a value, with numbers as json.Number.
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("not JSON: %w; a string is taken as JSON text, so text of its own needs quotes in it", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("not JSON: there is more after the first value")
	}
	return value, nil
}

// difference is where two values differ.
type difference struct {
	pointer   string
	got, want string
}

// absent is how a difference shows a member or item that is not there.
const absent = "nothing"

// differ returns the first difference, or nil.
func differ(pointer string, got, want any) *difference {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return differMembers(pointer, g, w)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return differItems(pointer, g, w)
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(g, w) {
			return nil
		}
	default:
		if isScalar(got) && got == want {
			return nil
		}
	}
	return &difference{pointer, showJSON(got), showJSON(want)}
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}

func differMembers(pointer string, got, want map[string]any) *difference {
	names := slices.Sorted(maps.Keys(want))
	for name := range maps.Keys(got) {
		if _, ok := want[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		g, inGot := got[name]
		w, inWant := want[name]
		switch {
		case !inGot:
			return &difference{at, absent, showJSON(w)}
		case !inWant:
			return &difference{at, showJSON(g), absent}
		}
		if d := differ(at, g, w); d != nil {
			return d
		}
	}
	return nil
}

func differItems(pointer string, got, want []any) *difference {
	for i := range max(len(got), len(want)) {
		at := pointer + "/" + strconv.Itoa(i)
		switch {
		case i >= len(got):
			return &difference{at, absent, showJSON(want[i])}
		case i >= len(want):
			return &difference{at, showJSON(got[i]), absent}
		}
		if d := differ(at, got[i], want[i]); d != nil {
			return d
		}
	}
	return nil
}

// sameNumber compares by value: 1 is 1.0 and 1e0. Whole numbers are compared
// exactly, others as encoding/json reads them.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Int).SetString(string(a), 10)
	y, okY := new(big.Int).SetString(string(b), 10)
	if okX && okY {
		return x.Cmp(y) == 0
	}
	f, errF := a.Float64()
	g, errG := b.Float64()
	return errF == nil && errG == nil && f == g
}

// showJSON is a value as short JSON text.
func showJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return shorten(string(text))
}

// shorten keeps the start of a long text.
func shorten(text string) string {
	const most = 300
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}
