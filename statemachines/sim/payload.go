package sim

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Payload is a JSON value that goes through a run. It is immutable and safe
// for concurrent use.
type Payload struct {
	value any                    // packed: its text
	size  int                    // of the compact text; 0 until it is asked for
	text  atomic.Pointer[[]byte] // the compact text, once it was asked for
}

func newPayload(value any) *Payload { return &Payload{value: value} }

// emptyObject is what a null InputPath or OutputPath stands for.
func emptyObject() *Payload { return newPayload(map[string]any{}) }

// Value returns the value as encoding/json decodes it, with numbers as
// json.Number. It is shared: do not change it.
func (p *Payload) Value() any {
	if text, is := p.value.(packed); is {
		return text.unpack()
	}
	return p.value
}

// JSON returns the compact text, with the members of objects in order of their
// names. Do not change it.
func (p *Payload) JSON() json.RawMessage {
	if text := p.text.Load(); text != nil {
		return *text
	}
	if text, is := p.value.(packed); is { // not kept twice
		return text.appendJSON(make([]byte, 0, p.size))
	}
	text := jsontree.AppendValue(nil, p.value)
	p.text.CompareAndSwap(nil, &text)
	return *p.text.Load()
}

// appendJSON appends the compact text, and does not keep it.
func (p *Payload) appendJSON(dst []byte) []byte {
	if text := p.text.Load(); text != nil {
		return append(dst, *text...)
	}
	if text, is := p.value.(packed); is {
		return text.appendJSON(dst)
	}
	return jsontree.AppendValue(dst, p.value)
}

// bytes is the size of the compact text. Only the run's own goroutine calls
// it.
func (p *Payload) bytes() int {
	if p.size == 0 {
		p.size = jsonSize(p.value)
	}
	return p.size
}

// tooLarge tells whether the payload is above the service's limit.
func (p *Payload) tooLarge() bool { return p.bytes() > asl.MaxPayloadBytes }

// packed is the value of a payload that is kept as text: its chunks, compressed.
type packed []string

func (p *Payload) isPacked() bool {
	_, is := p.value.(packed)
	return is
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(strings.NewReader("")) }}

// appendJSON appends the text.
func (p packed) appendJSON(dst []byte) []byte {
	out := bytes.NewBuffer(dst)
	r := inflaters.Get().(io.Reader)
	defer inflaters.Put(r)
	for _, chunk := range p {
		err := r.(flate.Resetter).Reset(strings.NewReader(chunk), nil)
		if err == nil {
			_, err = out.ReadFrom(r)
		}
		if err != nil {
			panic("sim: a chunk that it wrote itself is not readable: " + err.Error())
		}
	}
	return out.Bytes()
}

// unpack returns the value of the text.
func (p packed) unpack() any {
	value, err := decode(p.appendJSON(nil))
	if err != nil {
		panic("sim: a payload that it wrote itself is not JSON: " + err.Error())
	}
	return value
}

// mostSize is where counting the bytes of a value ends: no limit of the service
// is as high, and a value of a few bytes may hold another a million times.
const mostSize = 16 << 20

// jsonSize counts the bytes of a value's compact text without writing it, up to
// some more than mostSize.
func jsonSize(value any) int {
	switch v := value.(type) {
	case bool:
		if v {
			return len("true")
		}
		return len("false")
	case json.Number:
		return len(v)
	case string:
		return stringSize(v)
	case []any:
		size := len("[]") + max(0, len(v)-1)
		for _, item := range v {
			if size += jsonSize(item); size > mostSize {
				break
			}
		}
		return size
	case map[string]any:
		size := len("{}") + max(0, len(v)-1)
		for name, member := range v {
			if size += stringSize(name) + len(":") + jsonSize(member); size > mostSize {
				break
			}
		}
		return size
	default:
		return len("null")
	}
}

func stringSize(s string) int {
	size := len(s) + len(`""`)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			size++
		case c < ' ':
			size += len(`\u0000`) - 1
		}
	}
	return size
}

// normalize gives the value of a handler the types that encoding/json decodes to,
// with numbers as json.Number. Values that are of that form are kept as they
// are; all others go through encoding/json.
func normalize(value any) (any, error) {
	if isNormal(value, 0) {
		return value, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return decode(text)
}

// maxGoDepth is how deep a handler's value may nest to be taken as it is.
// encoding/json, which takes the others, finds cycles.
const maxGoDepth = 1000

func isNormal(value any, depth int) bool {
	switch v := value.(type) {
	case nil, bool, string:
		return true
	case json.Number:
		return isNumber(string(v))
	case []any:
		for _, item := range v {
			if depth == maxGoDepth || !isNormal(item, depth+1) {
				return false
			}
		}
		return v != nil
	case map[string]any:
		for _, member := range v {
			if depth == maxGoDepth || !isNormal(member, depth+1) {
				return false
			}
		}
		return v != nil
	default:
		return false
	}
}

func isNumber(text string) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return text != "" && (text[0] == '-' || digit(text[0])) && digit(text[len(text)-1]) && json.Valid([]byte(text))
}

// decode reads exactly one JSON value.
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return value, nil
}
