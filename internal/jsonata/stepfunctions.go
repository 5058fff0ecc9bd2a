package jsonata

import (
	"crypto/md5"  //nolint:gosec // the user chooses the algorithm
	"crypto/sha1" //nolint:gosec // the user chooses the algorithm
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"
	"slices"
	"strings"
)

// Functions that Step Functions adds, and those that depend on the environment:
// https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html

// atMost refuses arguments that a function does not take.
func (m *machine) atMost(function string, c *arguments, count int) {
	if len(c.args) > count {
		m.throw(badArgument(count+1, function))
	}
}

// maxRangeItems is the longest range that AWS makes; 360,146 items fail.
const maxRangeItems = 360_145

// integers reads the arguments from the first on up to one that is undefined.
// They must be numbers, and are rounded towards zero.
func (m *machine) integers(function string, c *arguments, first int) (values []int64) {
	for i := first; i < len(c.args) && c.args[i] != undefined; i++ {
		n, ok := number(c.args[i])
		if !ok {
			m.throw(badArgument(i+1, function))
		}
		values = append(values, truncate(n))
	}
	return values
}

// truncate rounds towards zero, into the range of 64 bits.
func truncate(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	case math.IsNaN(f):
		return 0
	}
	return int64(f)
}

// rangeFunction is $range(first, last, step).
func rangeFunction(m *machine, c *arguments) any {
	m.atMost("range", c, 3)
	if len(c.args) < 2 {
		m.throw(badArgument(len(c.args)+1, "range"))
	}
	n := m.integers("range", c, 0)
	if len(n) < 3 || n[2] == 0 {
		return undefined
	}
	first, last, step := n[0], n[1], n[2]
	if step > 0 && first > last || step < 0 && first < last {
		return undefined
	}
	// The differences of two int64 fit in an uint64.
	span, stride := uint64(last)-uint64(first), uint64(step) //nolint:gosec // two's complement is meant
	if step < 0 {
		span, stride = -span, -stride
	}
	count := span / stride
	if count >= maxRangeItems {
		m.throw(errMemory)
	}
	out := m.numbers(0, 0, int(count)+1)
	for i := range out.items {
		out.items[i] = float64(first + int64(i)*step)
	}
	return out
}

// partitionFunction is $partition(array, size).
func partitionFunction(m *machine, c *arguments) any {
	m.atMost("partition", c, 2)
	if c.at(0) == undefined {
		return undefined
	}
	if c.at(0) == nil {
		m.throw(&Error{Code: "T0412", Message: `Argument 1 of function "partition" must be an array`})
	}
	items := itemsOrOne(c.at(0))
	n := m.integers("partition", c, 1)
	switch {
	case len(items) == 0 || len(n) > 0 && n[0] == 0:
		return undefined
	case len(n) == 0:
		return m.newList(m.newList(items...))
	case n[0] < 0:
		m.throw(&Error{Code: "D3137", Message: "Second argument must be zero or greater"})
	}
	out := m.newList()
	for chunk := range slices.Chunk(items, int(min(n[0], int64(len(items))))) {
		m.step(1)
		m.push(out, m.concatenate(chunk, nil)) // a part would keep the whole alive
	}
	return out
}

var hashes = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// hashFunction is $hash(text, algorithm): the digest in hexadecimal.
func hashFunction(m *machine, c *arguments) any {
	m.atMost("hash", c, 2)
	var words [2]string
	for i, a := range c.args {
		s, ok := a.(string)
		if !ok && a != undefined {
			m.throw(badArgument(i+1, "hash"))
		}
		words[i] = s
	}
	if c.at(0) == undefined || c.at(1) == undefined {
		return undefined
	}
	algorithm := hashes[words[1]]
	if algorithm == nil {
		m.throw(&Error{
			Code:    "D3137",
			Message: "Second argument must be one of MD5, SHA-1, SHA-256, SHA-384, SHA-512",
		})
	}
	m.step(10 + len(words[0])/16)
	m.hold(len(words[0]) + 256)
	h := algorithm()
	h.Write([]byte(words[0]))
	return hex.EncodeToString(h.Sum(nil))
}

// millisFunction is $millis().
func millisFunction(m *machine, c *arguments) any {
	m.atMost("millis", c, 0)
	return m.box(float64(m.env.Now.UnixMilli()))
}

// nowFunction is $now(picture, timezone).
func nowFunction(m *machine, c *arguments) any {
	args := append([]any{float64(m.env.Now.UnixMilli())}, c.args...)
	args = functions["fromMillis"].signature.apply(m, "now", args, undefined)
	return fromMillisFunction(m, &arguments{args: args})
}

// randomFunction is $random(seed). With a seed it is the first number of Java's
// java.util.Random, as on AWS.
func randomFunction(m *machine, c *arguments) any {
	m.atMost("random", c, 1)
	seed := m.integers("random", c, 0)
	if len(seed) == 0 {
		return m.box(m.env.Random.Float64())
	}
	const multiplier, mask = 0x5DEECE66D, 1<<48 - 1
	state := (uint64(seed[0]) ^ multiplier) & mask //nolint:gosec // two's complement is meant
	bits := func(n int) uint64 {
		state = (state*multiplier + 0xB) & mask
		return state >> (48 - n)
	}
	return m.box(float64(bits(26)<<27+bits(27)) / (1 << 53))
}

// uuidFunction is $uuid().
func uuidFunction(m *machine, c *arguments) any {
	m.atMost("uuid", c, 0)
	m.step(10)
	return m.env.UUID()
}

var errJSON = &Error{Code: "D3137", Message: "Invalid JSON"}

// parseFunction is $parse(text): the value that the text has as JSON.
func parseFunction(m *machine, c *arguments) any {
	m.atMost("parse", c, 1)
	if c.at(0) == undefined {
		return undefined
	}
	s, ok := c.at(0).(string)
	if !ok {
		m.throw(badArgument(1, "parse"))
	}
	m.step(len(s) / 4)
	m.hold(2 * len(s))
	if !json.Valid([]byte(s)) {
		m.throw(errJSON)
	}
	return m.decode(json.NewDecoder(strings.NewReader(s)))
}

// decode reads a JSON value, which is known to be one. It refuses a member
// that stands twice and a number beyond 64 bits.
func (m *machine) decode(d *json.Decoder) any {
	d.UseNumber()
	v, err := m.decodeValue(d, 0)
	if err != nil {
		m.throw(errJSON)
	}
	return v
}

func (m *machine) decodeValue(d *json.Decoder, level int) (any, error) {
	m.nest(level)
	m.step(2)
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return m.decodeItems(d, level)
		}
		return m.decodeMembers(d, level)
	case json.Number:
		m.hold(slotBytes)
		if isInteger(string(token)) {
			return token, nil
		}
		f, err := token.Float64()
		return f, err
	case string:
		m.hold(len(token))
		return token, nil
	default:
		return token, nil
	}
}

func (m *machine) decodeItems(d *json.Decoder, level int) (any, error) {
	out := m.newList()
	for d.More() {
		item, err := m.decodeValue(d, level+1)
		if err != nil {
			return nil, err
		}
		m.push(out, item)
	}
	_, err := d.Token()
	return out, err
}

func (m *machine) decodeMembers(d *json.Decoder, level int) (any, error) {
	out := m.newObject()
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := out.place(name); twice {
			return nil, errJSON
		}
		value, err := m.decodeValue(d, level+1)
		if err != nil {
			return nil, err
		}
		m.set(out, name, value)
	}
	_, err := d.Token()
	return out, err
}
