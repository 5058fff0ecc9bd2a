package jsontree_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// reference reads a text by the tokens of encoding/json.
type reference struct {
	text    string
	dec     *json.Decoder
	values  []string // each with its pointer, kind, place and text
	twice   []string // the pointers of members that an object has already
	tooDeep bool
}

func (r *reference) next() (json.Token, int) {
	start := int(r.dec.InputOffset())
	for start < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[start]) >= 0 {
		start++
	}
	token, _ := r.dec.Token() // the text is valid
	return token, start
}

func (r *reference) value(pointer string, depth int) {
	token, start := r.next()
	at := len(r.values)
	r.values = append(r.values, "")
	kind, text := jsontree.Null, ""
	switch t := token.(type) {
	case bool:
		kind, text = jsontree.Bool, strconv.FormatBool(t)
	case json.Number:
		kind, text = jsontree.Number, t.String()
	case string:
		kind, text = jsontree.String, t
	case json.Delim:
		r.tooDeep = r.tooDeep || depth >= jsontree.MaxDepth
		kind = jsontree.Array
		names := map[string]bool{}
		for i := 0; !r.tooDeep && r.dec.More(); i++ {
			step := strconv.Itoa(i)
			if t == '{' {
				name, _ := r.next()
				step = strings.NewReplacer("~", "~0", "/", "~1").Replace(name.(string))
				if kind = jsontree.Object; names[name.(string)] {
					r.twice = append(r.twice, pointer+"/"+step)
				}
				names[name.(string)] = true
			}
			r.value(pointer+"/"+step, depth+1)
		}
		if t == '{' {
			kind = jsontree.Object
		}
		if !r.tooDeep {
			r.next()
		}
	}
	r.values[at] = describe(pointer, kind, start, int(r.dec.InputOffset()), text)
}

func describe(pointer string, kind jsontree.Kind, start, end int, text string) string {
	return fmt.Sprintf("%q %d %d-%d %q", pointer, kind, start, end, text)
}

func flatten(n *jsontree.Node) []string {
	values := []string{describe(n.Pointer(), n.Kind, n.Offset, n.End, n.Text)}
	for _, item := range n.Items {
		values = append(values, flatten(item)...)
	}
	for _, m := range n.Members {
		values = append(values, flatten(m.Value)...)
	}
	return values
}

// requireAsEncodingJSON compares what Parse makes of the text with what
// encoding/json does.
func requireAsEncodingJSON(t *testing.T, text []byte) {
	t.Helper()
	doc, err := jsontree.Parse(text)
	if err != nil && strings.Contains(err.Error(), "nested deeper than 512") {
		nesting := 0
		for _, c := range text {
			if c == '[' || c == '{' {
				nesting++
			}
		}
		require.Greater(t, nesting, jsontree.MaxDepth)
		return
	}
	if want := json.Unmarshal(text, new(json.RawMessage)); want != nil {
		said := want.Error()
		if strings.Contains(said, "unexpected end") {
			said = "the text "
		}
		require.ErrorContains(t, err, "not valid JSON: "+said, "%q", text)
		return
	}
	r := &reference{text: string(text), dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	r.value("", 0)
	require.False(t, r.tooDeep, "%q", text)
	if len(r.twice) > 0 {
		problems, ok := errors.AsType[interface {
			error
			Brief() string
		}](err)
		require.True(t, ok, "%q", text)
		require.Equal(t, len(r.twice), strings.Count(problems.Brief(), "stands twice in this object"), "%q", text)
		for _, pointer := range r.twice {
			require.Contains(t, problems.Brief(), strings.ReplaceAll(strings.ReplaceAll(pointer, "\n", `\n`), "\r", `\r`)+": member", "%q", text)
		}
		return
	}
	require.NoError(t, err, "%q", text)
	require.Equal(t, r.values, flatten(doc.Root), "%q", text)
	var want any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&want))
	require.Equal(t, want, doc.Root.Value(), "%q", text)
}

// randomJSON writes a value in one of the many ways to write it.
func randomJSON(b *bytes.Buffer, random *rand.Rand, depth int) {
	space := func() {
		for random.IntN(4) == 0 {
			b.WriteByte(" \t\r\n"[random.IntN(4)])
		}
	}
	pick := func(from ...string) { b.WriteString(from[random.IntN(len(from))]) }
	quoted := func() {
		b.WriteByte('"')
		for range random.IntN(5) {
			pick("a", "b", "/", "~", "é", "\U0001F600", "\xff", "\xe2\x82", "\u2028", `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`,
				`\u0061`, `\u00E9`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\uD83D\u0041`, `\ud83d\n`, `\ud83dxude00`, `\ufffd`, `\u0000`, "\x7f")
		}
		b.WriteByte('"')
	}
	space()
	kind := random.IntN(8)
	if depth == 0 {
		kind = random.IntN(5)
	}
	switch kind {
	case 0:
		pick("null", "true", "false")
	case 1, 2:
		pick("", "-")
		pick("0", "7", "10", "9007199254740993")
		pick("", "", ".0", ".125")
		pick("", "", "e1", "E+10", "e-400", "E09")
	case 3, 4:
		quoted()
	case 5:
		b.WriteByte('[')
		space()
		for i, n := 0, random.IntN(4); i < n; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			randomJSON(b, random, depth-1)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		space()
		n := random.IntN(4)
		if random.IntN(20) == 0 {
			n = 12 + random.IntN(12) // more names than are compared one by one
		}
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			if n > 4 {
				fmt.Fprintf(b, `"%d"`, random.IntN(100))
			} else {
				quoted()
			}
			space()
			b.WriteByte(':')
			randomJSON(b, random, depth-1)
		}
		b.WriteByte('}')
	}
	space()
}

// mutate changes a few bytes, so that the text is nearly JSON.
func mutate(text []byte, random *rand.Rand) []byte {
	const alphabet = "{}[]:,\"\\/u0123456789abcdefgGE+-. \n\x00\x1f\x80\xef\xbb\xbftrunlse"
	for range 1 + random.IntN(3) {
		at := random.IntN(len(text) + 1)
		c := alphabet[random.IntN(len(alphabet))]
		switch random.IntN(4) {
		case 0:
			text = text[:at]
		case 1:
			text = append(text[:at:at], append([]byte{c}, text[at:]...)...)
		case 2:
			if at < len(text) {
				text = append(text[:at:at], text[at+1:]...)
			}
		default:
			if at < len(text) {
				text[at] = c
			}
		}
	}
	return text
}

func TestParseAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 8_000 {
		var b bytes.Buffer
		randomJSON(&b, random, 4)
		requireAsEncodingJSON(t, b.Bytes())
		requireAsEncodingJSON(t, mutate(b.Bytes(), random))
	}
	for _, text := range []string{
		`"\u00g0"`, `"\u00G0"`, `"\u00/0"`, `"\u00:0"`, `"\u00@0"`, "\"\\u00`0\"", `"\x"`, `"\`, `"\u00e"`,
		"01", "-", "-a", "1.", "1.e1", "1e", "1e+", "+1", ".5", "0x1", "nul", "truefalse", "\ufeff1", "1\x00", `{"a"}`, `{"a":1,}`, `[1,]`, `[1}`, `{1:2}`,
	} {
		requireAsEncodingJSON(t, []byte(text))
	}
	for _, depth := range []int{1, 2, 256, 257, 511, 512, 513, 20_000} {
		for open, end := range map[string]string{"[": "]", `{"a":`: "}", `[{"a":`: "}]", `{"a":[`: "]}"} {
			for _, inner := range []string{"", "1", "nope"} {
				text := strings.Repeat(open, depth) + inner
				requireAsEncodingJSON(t, []byte(text))
				requireAsEncodingJSON(t, []byte(text+strings.Repeat(end, depth)))
			}
		}
	}
}

// FuzzParse reads what the fuzzer makes of texts that a grammar made.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,{"a":[]}]`, `"\ud83d\ude00"`, `-1e9`, `{"a":1,"a":2}`, ` { "x" : [ null , true ] } `, "\xff", `"` + "\xff" + `"`} {
		f.Add([]byte(seed), uint64(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		requireAsEncodingJSON(t, text)
		random := rand.New(rand.NewPCG(seed, 0))
		var b bytes.Buffer
		randomJSON(&b, random, 4)
		requireAsEncodingJSON(t, mutate(append(b.Bytes(), text...), random))
	})
}
