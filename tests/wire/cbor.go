package wire

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// head appends the head of an item of CBOR (RFC 8949).
func head(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, major|27), n)
	}
}

func cborText(b []byte, text string) []byte { return append(head(b, 3, uint64(len(text))), text...) }

func cborFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 7<<5|27), math.Float64bits(v))
}

// cborValue appends a value as CBOR.
func cborValue(b []byte, m catalog.Member, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = head(b, 5, uint64(len(v)))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			in := m.Shape.Element
			if m.Shape.Type != catalog.Map {
				in = memberOf(m.Shape, name)
			}
			b = cborValue(cborText(b, name), *in, v[name])
		}
		return b
	case []any:
		b = head(b, 4, uint64(len(v)))
		for _, item := range v {
			b = cborValue(b, *m.Shape.Element, item)
		}
		return b
	case bool:
		if v {
			return append(b, 7<<5|21)
		}
		return append(b, 7<<5|20)
	case json.Number:
		return cborNumber(b, m.Shape.Type, v)
	default:
		return cborString(b, m.Shape.Type, v.(string))
	}
}

func cborNumber(b []byte, t catalog.ShapeType, v json.Number) []byte {
	if t == catalog.Float || t == catalog.Double {
		f, _ := v.Float64() // the generator made it
		return cborFloat(b, f)
	}
	n, _ := v.Int64()
	if n < 0 {
		return head(b, 1, uint64(-1-n))
	}
	return head(b, 0, uint64(n))
}

func cborString(b []byte, t catalog.ShapeType, v string) []byte {
	switch t {
	case catalog.Blob:
		bytes, _ := base64.StdEncoding.DecodeString(v) // the generator made it
		return append(head(b, 2, uint64(len(bytes))), bytes...)
	case catalog.Timestamp:
		at, _ := time.Parse(time.RFC3339Nano, v)
		return cborFloat(head(b, 6, 1), float64(at.UnixMilli())/1000)
	case catalog.Float, catalog.Double:
		return cborFloat(b, map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[v])
	default:
		return cborText(b, v)
	}
}
