package jmespath

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// call is a call of a function in an expression.
type call struct {
	*Node
	args []code
	ref  code // the argument that is an expression, if one is
	base int  // of the arguments' place in frame.args
}

// eval evaluates the arguments, checks them and runs the function.
func (c *call) eval(fr *frame, in value) value {
	args := fr.args[c.base : c.base+len(c.args)]
	for i, arg := range c.args {
		if arg != nil {
			args[i] = arg(fr, in)
		}
	}
	if fr.err != nil || !c.check(fr, args) {
		return value{}
	}
	return c.fn.run(c, fr, args)
}

// check holds the arguments against the parameters.
func (c *call) check(fr *frame, args []value) bool {
	for i := range args {
		p := c.fn.param(i)
		if p.ref {
			continue
		}
		if p.kinds&SetOf(args[i].kind) == 0 {
			fr.fail(InvalidType, c.Kids[i].Offset, "%s() takes %s as argument %d, found %s", c.Name, p, i+1, SetOf(args[i].kind))
			return false
		}
		if p.elems != 0 && !c.checkElements(fr, i, p, args[i]) {
			return false
		}
	}
	return true
}

func (c *call) checkElements(fr *frame, i int, p param, arg value) bool {
	allowed := p.elems
	return iterate(fr, c.Kids[i].Offset, arg, func(fr *frame, item value) bool {
		if allowed&SetOf(item.kind) == 0 {
			fr.fail(InvalidType, c.Kids[i].Offset, "%s() takes %s as argument %d, found %s in it", c.Name, p, i+1, SetOf(item.kind))
			return false
		}
		allowed = SetOf(item.kind)
		return true
	})
}

func runAbs(_ *call, _ *frame, args []value) value   { return number(math.Abs(args[0].num)) }
func runCeil(_ *call, _ *frame, args []value) value  { return number(math.Ceil(args[0].num)) }
func runFloor(_ *call, _ *frame, args []value) value { return number(math.Floor(args[0].num)) }

func runSum(_ *call, _ *frame, args []value) value {
	sum := 0.0
	args[0].each(func(item value) bool {
		sum += item.num
		return true
	})
	return number(sum)
}

func runAvg(c *call, fr *frame, args []value) value {
	n := args[0].length()
	if n == 0 {
		return value{}
	}
	return number(runSum(c, fr, args).num / float64(n))
}

func runContains(c *call, fr *frame, args []value) value {
	subject, search := args[0], args[1]
	if subject.kind == jsontype.String {
		return boolean(search.kind == jsontype.String && strings.Contains(subject.text, search.text))
	}
	found := false
	iterate(fr, c.Kids[0].Offset, subject, func(fr *frame, item value) bool {
		found = fr.equal(c.Kids[0].Offset, item, search, 0)
		return !found
	})
	return boolean(found)
}

func runStartsWith(_ *call, _ *frame, args []value) value {
	return boolean(strings.HasPrefix(args[0].text, args[1].text))
}

func runEndsWith(_ *call, _ *frame, args []value) value {
	return boolean(strings.HasSuffix(args[0].text, args[1].text))
}

func runJoin(c *call, fr *frame, args []value) value {
	var words []string
	args[1].each(func(item value) bool {
		words = append(words, item.text)
		return fr.write(c.Offset, len(item.text)+len(args[0].text))
	})
	if fr.err != nil {
		return value{}
	}
	return text(strings.Join(words, args[0].text))
}

func runKeys(_ *call, _ *frame, args []value) value {
	names := args[0].names()
	keys := make([]value, len(names))
	for i, name := range names {
		keys[i] = text(name)
	}
	return list(keys)
}

func runValues(c *call, fr *frame, args []value) value {
	var values []value
	for _, name := range args[0].names() {
		values = append(values, fr.member(c.Kids[0].Offset, args[0], name))
	}
	return list(values)
}

// runLength counts characters, elements or members.
func runLength(_ *call, _ *frame, args []value) value {
	if args[0].kind == jsontype.String {
		return number(float64(utf8.RuneCountInString(args[0].text)))
	}
	return number(float64(args[0].length()))
}

func runMap(c *call, fr *frame, args []value) value {
	items := make([]value, 0, args[1].length())
	iterate(fr, c.Kids[1].Offset, args[1], func(fr *frame, item value) bool {
		items = append(items, c.ref(fr, item))
		return true
	})
	return list(items)
}

func runMerge(c *call, fr *frame, args []value) value {
	merged := map[string]value{}
	for i, arg := range args {
		for _, name := range arg.names() {
			merged[name] = fr.member(c.Kids[i].Offset, arg, name)
		}
	}
	return object(merged)
}

func runNotNull(_ *call, _ *frame, args []value) value {
	for _, arg := range args {
		if arg.kind != jsontype.Null {
			return arg
		}
	}
	return value{}
}

func runReverse(c *call, fr *frame, args []value) value {
	if args[0].kind == jsontype.String {
		if !fr.write(c.Offset, len(args[0].text)) {
			return value{}
		}
		runes := []rune(args[0].text)
		slices.Reverse(runes)
		return text(string(runes))
	}
	items := args[0].items()
	slices.Reverse(items)
	return list(items)
}

// compareScalars orders two numbers or two strings; strings by code points,
// which is the order of their bytes.
func compareScalars(a, b value) int {
	if a.kind == jsontype.String {
		return strings.Compare(a.text, b.text)
	}
	return cmp.Compare(a.num, b.num)
}

func runSort(_ *call, _ *frame, args []value) value {
	items := args[0].items()
	slices.SortStableFunc(items, compareScalars)
	return list(items)
}

// keyed is an element and what the expression of a _by function gives for it.
type keyed struct{ item, key value }

// keys evaluates the expression for each element; all must give numbers, or
// all strings.
func (c *call) keys(fr *frame, array value) []keyed {
	pairs := make([]keyed, 0, array.length())
	allowed := c.fn.param(1).by
	iterate(fr, c.Kids[0].Offset, array, func(fr *frame, item value) bool {
		key := c.ref(fr, item)
		if fr.err == nil && allowed&SetOf(key.kind) == 0 {
			fr.fail(InvalidType, c.Kids[1].Offset, "%s() orders by %s, found %s", c.Name, allowed, SetOf(key.kind))
		}
		allowed = SetOf(key.kind)
		pairs = append(pairs, keyed{item, key})
		return fr.err == nil
	})
	if fr.err != nil {
		return nil
	}
	return pairs
}

func runSortBy(c *call, fr *frame, args []value) value {
	pairs := c.keys(fr, args[0])
	slices.SortStableFunc(pairs, func(a, b keyed) int { return compareScalars(a.key, b.key) })
	items := make([]value, len(pairs))
	for i, pair := range pairs {
		items[i] = pair.item
	}
	return list(items)
}

// extreme is the first of the greatest (sign 1) or least (sign -1) elements.
func extreme(pairs []keyed, sign int) value {
	if len(pairs) == 0 {
		return value{}
	}
	best := pairs[0]
	for _, pair := range pairs[1:] {
		if sign*compareScalars(pair.key, best.key) > 0 {
			best = pair
		}
	}
	return best.item
}

// plain pairs each element with itself.
func plain(array value) []keyed {
	var pairs []keyed
	array.each(func(item value) bool {
		pairs = append(pairs, keyed{item, item})
		return true
	})
	return pairs
}

func runMax(_ *call, _ *frame, args []value) value    { return extreme(plain(args[0]), 1) }
func runMin(_ *call, _ *frame, args []value) value    { return extreme(plain(args[0]), -1) }
func runMaxBy(c *call, fr *frame, args []value) value { return extreme(c.keys(fr, args[0]), 1) }
func runMinBy(c *call, fr *frame, args []value) value { return extreme(c.keys(fr, args[0]), -1) }

func runToArray(_ *call, _ *frame, args []value) value {
	if args[0].kind == jsontype.Array {
		return args[0]
	}
	return list([]value{args[0]})
}

// runToNumber reads a string that is a JSON number.
func runToNumber(_ *call, _ *frame, args []value) value {
	if args[0].kind == jsontype.Number {
		return args[0]
	}
	word := args[0].text
	if !json.Valid([]byte(word)) {
		return value{}
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return value{}
	}
	return number(n)
}

// runToString gives what is no string as compact JSON.
func runToString(c *call, fr *frame, args []value) value {
	if args[0].kind == jsontype.String {
		return args[0]
	}
	v := fr.export(c.Kids[0].Offset, args[0], 0)
	if fr.err != nil {
		return value{}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		fr.fail(InvalidValue, c.Kids[0].Offset, "%v", err)
		return value{}
	}
	return text(strings.TrimSuffix(b.String(), "\n"))
}

func runType(_ *call, _ *frame, args []value) value { return text(args[0].kind.String()) }
