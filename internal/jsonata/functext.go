package jsonata

import (
	"math"
	"strconv"
	"strings"
)

// Functions on texts: https://docs.jsonata.org/string-functions

func stringFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	v := c.at(0)
	if l, ok := v.(*list); ok && l.outer {
		v = l.items[0]
	}
	return m.text(v, c.at(1) == true)
}

// scan takes the steps of looking at each byte of a text.
func (m *machine) scan(s string) { m.step(len(s) / 32) }

func lengthFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.scan(s)
	return m.box(float64(characters(s)))
}

func substringFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.step(len(s) / 12) // it is read twice
	count := float64(characters(s))
	start := c.number(1)
	if count+start < 0 {
		start = 0
	}
	end := count
	if c.at(2) != undefined {
		length := c.number(2)
		if length <= 0 {
			return ""
		}
		end = start + length
		if start < 0 {
			end += count
		}
	}
	first, last := place(start, count), place(end, count)
	if first >= last {
		return ""
	}
	from := offsetOf(s, first)
	return m.part(s, from, from+offsetOf(s[from:], last-first))
}

// part is a part of a text. A small one is a copy: it would keep the whole
// alive, and the budget counts its part of them.
func (m *machine) part(s string, start, end int) string {
	part := s[start:end]
	if len(part) > len(s)/2 {
		return part
	}
	m.hold(len(part))
	return strings.Clone(part)
}

// place makes a number a place in what has a length, as JavaScript's slice does.
func place(f, length float64) int {
	if math.IsNaN(f) {
		return 0
	}
	if f = math.Trunc(f); f < 0 {
		f += length
	}
	return int(max(0, min(f, length)))
}

func substringBefore(m *machine, c *arguments) any { return m.cut(c, true) }
func substringAfter(m *machine, c *arguments) any  { return m.cut(c, false) }

// cut is the part of a text before or after another, or the whole.
func (m *machine) cut(c *arguments, before bool) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	separator, ok := c.at(1).(string)
	if !ok {
		separator = "undefined" // as JavaScript looks for it
	}
	m.scan(s)
	at := strings.Index(s, separator)
	switch {
	case at < 0:
		return s
	case before:
		return m.part(s, 0, at)
	}
	return m.part(s, at+len(separator), len(s))
}

func lowercase(m *machine, c *arguments) any { return m.mapText(c, strings.ToLower) }

func uppercase(m *machine, c *arguments) any { return m.mapText(c, upper) }

// upper knows the one common letter whose capital is two.
func upper(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }

func trimFunction(m *machine, c *arguments) any {
	return m.mapText(c, func(s string) string {
		out := make([]byte, 0, len(s))
		for i := range len(s) {
			switch c := s[i]; {
			case c != ' ' && c != '\t' && c != '\n' && c != '\r':
				out = append(out, c)
			case len(out) > 0 && out[len(out)-1] != ' ':
				out = append(out, ' ')
			}
		}
		return strings.TrimSuffix(string(out), " ")
	})
}

func (m *machine) mapText(c *arguments, change func(string) string) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.hold(2 * len(s))
	m.step(len(s) / 8)
	return change(s)
}

func padFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	with := c.text(2)
	if with == "" {
		with = " "
	}
	m.scan(s)
	m.scan(with)
	missing := math.Floor(math.Abs(c.number(1))) - float64(characters(s))
	if !(missing > 0) {
		return s
	}
	if missing*float64(len(with)) > float64(m.limits.Bytes) {
		m.throw(errMemory)
	}
	size := int(missing)
	m.hold(len(s) + size*len(with))
	each := characters(with)
	padding := strings.Repeat(with, size/each) + with[:offsetOf(with, size%each)]
	if c.number(1) > 0 {
		return s + padding
	}
	return padding + s
}

func joinFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	items, _ := itemsOf(c.at(0))
	separator := c.text(1)
	size := 0
	for _, item := range items {
		s, _ := item.(string)
		if size += len(s) + len(separator); size > m.limits.Bytes {
			m.throw(errMemory)
		}
	}
	m.step(len(items))
	m.hold(size)
	var b strings.Builder
	b.Grow(size)
	for i, item := range items {
		if i > 0 {
			b.WriteString(separator)
		}
		s, _ := item.(string)
		b.WriteString(s)
	}
	return b.String()
}

// limitOf is the number that bounds how often something is done: the argument,
// or no bound.
func limitOf(m *machine, c *arguments, i int, code, message string) float64 {
	if c.at(i) == undefined {
		return math.Inf(1)
	}
	limit := c.number(i)
	if limit < 0 {
		m.throw(&Error{Code: code, Message: message})
	}
	return limit
}

func containsFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	if part, ok := c.at(1).(string); ok {
		m.scan(s)
		return strings.Contains(s, part)
	}
	if c.at(1) == undefined {
		return false
	}
	return m.firstMatch(c.at(1), s, c) != nil
}

func splitFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	limit := limitOf(m, c, 2, "D3020", "Third argument of split function must evaluate to a positive number")
	if separator, ok := c.at(1).(string); ok {
		return m.splitText(s, separator, limit)
	}
	if c.at(1) == undefined {
		return m.newList(s)
	}
	out := m.newSequence()
	from := 0
	count := 0.0
	for found := m.firstMatch(c.at(1), s, c); found != nil && count < limit; found = m.nextOf(found, c) {
		start := max(from, min(found.start, len(s)))
		m.push(out, m.part(s, from, start))
		from = max(start, min(found.end, len(s)))
		count++
	}
	if count < limit {
		m.push(out, m.part(s, from, len(s)))
	}
	out.sequence = false
	return out
}

func (m *machine) splitText(s, separator string, limit float64) any {
	out := m.newList()
	m.scan(s)
	whole := len(s)
	push := func(part string) {
		if len(part) <= whole/2 {
			m.hold(len(part))
			part = strings.Clone(part)
		}
		m.push(out, part)
	}
	for {
		if float64(len(out.items)) >= math.Floor(limit) {
			return out
		}
		if separator == "" && s == "" {
			return out
		}
		size := strings.Index(s, separator)
		if separator == "" {
			size = width(s)
		}
		m.step(1)
		m.hold(slotBytes)
		if size < 0 {
			push(s)
			return out
		}
		push(s[:size])
		s = s[size+len(separator):]
	}
}

func replaceFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	if c.at(1) == "" {
		m.throw(&Error{Code: "D3010", Message: "Second argument of replace function cannot be an empty string"})
	}
	limit := limitOf(m, c, 3, "D3011", "Fourth argument of replace function must evaluate to a positive number")
	if pattern, ok := c.at(1).(string); ok {
		return m.replaceText(s, pattern, c.at(2), limit)
	}
	if c.at(1) == undefined {
		return s
	}
	var out []byte
	from := 0
	count := 0.0
	for found := m.firstMatch(c.at(1), s, c); found != nil && count < limit; found = m.nextOf(found, c) {
		start := max(from, min(found.start, len(s)))
		with := m.replacement(found, c)
		m.hold(2 * (start - from + len(with)))
		out = append(append(out, s[from:start]...), with...)
		from = min(start+len(found.text), len(s))
		count++
	}
	m.hold(2 * (len(s) - from))
	return string(append(out, s[from:]...))
}

func (m *machine) replaceText(s, pattern string, with any, limit float64) any {
	text, ok := with.(string)
	if !ok {
		m.throw(&Error{Code: "D3012", Message: "Attempted to replace a matched string with a non-string value"})
	}
	m.scan(s)
	count := strings.Count(s, pattern)
	m.step(count / 2)
	if float64(count) > limit {
		count = int(math.Ceil(limit))
	}
	if grown := float64(count) * float64(len(text)); grown > float64(m.limits.Bytes) {
		m.throw(errMemory)
	}
	m.hold(len(s) + count*len(text))
	return strings.Replace(s, pattern, text, count)
}

// replacement is what stands in the place of a match.
func (m *machine) replacement(found *match, c *arguments) string {
	template, ok := c.at(2).(string)
	if !ok {
		if c.at(2) == undefined {
			return "undefined"
		}
		text, ok := m.callWith(c.at(2), c, found.value(m)).(string)
		if !ok {
			m.throw(&Error{Code: "D3012", Message: "Attempted to replace a matched string with a non-string value"})
		}
		return text
	}
	if strings.IndexByte(template, '$') < 0 {
		return template
	}
	return m.expand(template, found)
}

// expand writes the groups of a match for $1, $2, the match for $0, and a
// dollar sign for $$.
func (m *machine) expand(template string, found *match) string {
	var out []byte
	for {
		before, after, ok := strings.Cut(template, "$")
		m.hold(2 * len(before))
		out = append(out, before...)
		if !ok {
			return string(out)
		}
		template = after
		switch {
		case strings.HasPrefix(after, "$"):
			out, template = append(out, '$'), after[1:]
			continue
		case strings.HasPrefix(after, "0"):
			m.hold(2 * len(found.text))
			out, template = append(out, found.text...), after[1:]
			continue
		}
		group, digits := groupNumber(after, len(found.groups))
		if digits == 0 {
			out = append(out, '$')
			continue
		}
		if group <= len(found.groups) {
			if s, ok := found.groups[group-1].(string); ok {
				m.hold(2 * len(s))
				out = append(out, s...)
			}
		}
		template = after[digits:]
	}
}

// groupNumber reads the number of a group: as many digits as there can be.
func groupNumber(s string, groups int) (number, digits int) {
	most := len(strconv.Itoa(max(groups, 1)))
	for digits < most && digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	number, _ = strconv.Atoi(s[:digits])
	if digits > 1 && number > groups {
		digits--
		number, _ = strconv.Atoi(s[:digits])
	}
	if digits > 0 && number == 0 {
		return 0, 0
	}
	return number, digits
}
