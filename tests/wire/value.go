// Package wire makes random values of a service's shapes, and writes what the
// service would answer with them in each protocol of AWS. It is written from the
// specifications (https://smithy.io/2.0/aws/protocols/) and shares no code with what
// it tests.
package wire

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Generator makes values in the form that package awsjob has: JSON with numbers as
// text, times as RFC 3339 and blobs as base64.
type Generator struct {
	*rand.Rand

	// Protocol is the one that the values are for: not each can write all.
	Protocol catalog.Protocol
	// Plain leaves out documents and floats that JSON has no number for.
	Plain  bool
	budget int
}

const (
	deepest = 6   // a shape may contain itself
	largest = 300 // parts of a value
)

// Structure makes a value of an input or output; nil has no members.
func (g *Generator) Structure(s *catalog.Shape) map[string]any {
	if s == nil {
		return map[string]any{}
	}
	g.budget = largest
	return g.structure(s, 0)
}

func (g *Generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *Generator) structure(s *catalog.Shape, depth int) map[string]any {
	object := map[string]any{}
	for _, m := range s.Members {
		needed := m.Required || m.Token || m.In == catalog.InPath
		if m.In == catalog.InStatus || !needed && (depth > deepest || g.budget <= 0 || !g.chance(60)) {
			continue
		}
		v := g.member(m, depth)
		for tries := 0; v == nil && needed && tries < 20; tries++ {
			v = g.member(m, depth)
		}
		if v != nil {
			object[m.Name] = v
		}
	}
	return object
}

// member makes a value that can stand where the member does; nil for none.
func (g *Generator) member(m catalog.Member, depth int) any {
	v := g.value(m, depth+1)
	if m.In == "" && !m.Flat {
		return v
	}
	switch v := v.(type) { // what is empty cannot be seen there
	case string:
		if v == "" {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	case map[string]any:
		if len(v) == 0 && m.In != catalog.InPayload {
			return nil
		}
	}
	return v
}

func (g *Generator) value(m catalog.Member, depth int) any {
	g.budget--
	switch s := m.Shape; s.Type {
	case catalog.Structure:
		return g.structure(s, depth)
	case catalog.Union:
		return g.union(s, depth)
	case catalog.List:
		list := []any{}
		for range g.length(depth) {
			if v := g.member(catalog.Member{Shape: s.Element.Shape, Format: s.Element.Format, In: m.In}, depth); v != nil {
				list = append(list, v)
			}
		}
		return list
	case catalog.Map:
		object := map[string]any{}
		for i := range g.length(depth) {
			if v := g.member(catalog.Member{Shape: s.Element.Shape, Format: s.Element.Format, In: m.In}, depth); v != nil {
				object[string(rune('a'+i))] = v
			}
		}
		return object
	case catalog.Document:
		if g.Plain {
			return nil
		}
		return []any{true, json.Number("1.5"), "text", []any{"a"}, map[string]any{"a": json.Number("1")}}[g.IntN(5)]
	default:
		return g.simple(m)
	}
}

func (g *Generator) simple(m catalog.Member) any {
	switch m.Shape.Type {
	case catalog.Boolean:
		return g.chance(50)
	case catalog.Integer:
		return json.Number(strconv.Itoa(int(int32(g.Uint32() >> g.IntN(32))))) //nolint:gosec // any will do
	case catalog.Long:
		return json.Number(strconv.FormatInt(int64(g.Uint64()>>g.IntN(64)), 10)) //nolint:gosec // any will do
	case catalog.Float, catalog.Double:
		if !g.Plain && g.chance(10) {
			return []any{"NaN", "Infinity", "-Infinity"}[g.IntN(3)]
		}
		return json.Number([]string{"0", "1.5", "-0.25", "1000000", "7"}[g.IntN(5)])
	case catalog.Blob:
		return base64.StdEncoding.EncodeToString([]byte("bytes \x00\xff<&"[:g.IntN(11)]))
	case catalog.Timestamp:
		at := time.Unix(1_700_000_000+g.Int64N(100_000_000), 0).UTC()
		if TimeFormat(g.Protocol, m) != "rfc822" && g.chance(50) {
			at = at.Add(250 * time.Millisecond)
		}
		return at.Format(time.RFC3339Nano)
	default:
		return g.text(m)
	}
}

func (g *Generator) union(s *catalog.Shape, depth int) any {
	if len(s.Members) == 0 || depth > deepest {
		return nil
	}
	m := s.Members[g.IntN(len(s.Members))]
	v := g.member(m, depth)
	if v == nil {
		return nil
	}
	return map[string]any{m.Name: v}
}

func (g *Generator) length(depth int) int {
	if depth > deepest || g.budget <= 0 {
		return 0
	}
	return []int{0, 1, 1, 1, 2, 3}[g.IntN(6)]
}

func (g *Generator) text(m catalog.Member) string {
	switch {
	case len(m.Shape.Enum) > 0 && m.In == "" && g.chance(20):
		return "VALUE-OF-TOMORROW"
	case len(m.Shape.Enum) > 0:
		return m.Shape.Enum[g.IntN(len(m.Shape.Enum))]
	case m.In == catalog.InPayload:
		return `<a> & "b"`
	case m.In != "":
		return []string{"text", "a b", "x-1_2.3~4", "0"}[g.IntN(4)]
	default:
		return []string{"", "text", " two  words ", `<a href="b">'&amp;'</a>`, "line\nbreak\ttab\rreturn", "Größe 大 \U0001F600", "]]>", "a+b%20=c&d"}[g.IntN(8)]
	}
}

// TimeFormat is how a protocol writes a time.
func TimeFormat(p catalog.Protocol, m catalog.Member) string {
	switch {
	case p == catalog.CBOR:
		return "unixTimestamp"
	case m.Format != "":
		return m.Format
	case m.In == catalog.InHeader || m.In == catalog.InHeaders:
		return "rfc822"
	case m.In == catalog.InQuery || m.In == catalog.InPath:
		return "iso8601"
	case p == catalog.AWSJSON || p == catalog.RESTJSON:
		return "unixTimestamp"
	default:
		return "iso8601"
	}
}
