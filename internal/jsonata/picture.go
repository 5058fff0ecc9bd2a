package jsonata

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Pictures of numbers are those of XPath:
// https://www.w3.org/TR/xpath-functions-31/#formatting-numbers

// numberFormat are the characters that a picture has.
type numberFormat struct {
	decimal, grouping, exponent, minus, percent, perMille, digit, pattern string
	infinity, nan                                                         string
	zero                                                                  rune
}

// isDigit says that a character is one of the digits.
func (f *numberFormat) isDigit(r rune) bool { return r >= f.zero && r <= f.zero+9 }

// isActive says that a character of a picture does not stand for itself.
func (f *numberFormat) isActive(r rune) bool {
	switch string(r) {
	case f.decimal, f.exponent, f.grouping, f.digit, f.pattern:
		return true
	}
	return f.isDigit(r)
}

// subPicture says how numbers above or below zero are written.
type subPicture struct {
	text, prefix, suffix          string
	active                        string
	mantissa, integer, fraction   string
	exponent                      string
	hasExponent                   bool
	minInteger, scale             int
	minFraction, maxFraction      int
	minExponent                   int
	every                         int
	integerGroups, fractionGroups []int
}

func formatNumberFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	picture, ok := c.at(1).(string)
	if !ok {
		m.throw(badArgument(2, "formatNumber"))
	}
	m.step(8 * len(picture))
	m.hold(32 * len(picture))
	format := m.numberFormat(c.at(2))
	parts := strings.Split(picture, format.pattern)
	if len(parts) > 2 {
		m.throw(pictureError("D3080"))
	}
	subs := make([]*subPicture, len(parts))
	for i, part := range parts {
		subs[i] = m.subPicture(part, format)
	}
	value := c.number(0)
	sub := subs[0]
	if value < 0 {
		if len(subs) > 1 {
			sub = subs[1]
		} else {
			negative := *sub
			negative.prefix = format.minus + negative.prefix
			sub = &negative
		}
	}
	switch {
	case math.IsNaN(value):
		return sub.prefix + format.nan + sub.suffix
	case math.IsInf(value, 0):
		return sub.prefix + format.infinity + sub.suffix
	}
	return sub.prefix + m.writeNumber(math.Abs(value), sub, format) + sub.suffix
}

// numberFormat reads the options.
func (m *machine) numberFormat(options any) *numberFormat {
	f := &numberFormat{
		decimal: ".", grouping: ",", exponent: "e", minus: "-", percent: "%", perMille: "\u2030", digit: "#", pattern: ";",
		infinity: "Infinity", nan: "NaN", zero: '0',
	}
	for name, field := range map[string]*string{
		"decimal-separator": &f.decimal, "grouping-separator": &f.grouping, "exponent-separator": &f.exponent,
		"minus-sign": &f.minus, "percent": &f.percent, "per-mille": &f.perMille, "digit": &f.digit,
		"pattern-separator": &f.pattern, "infinity": &f.infinity, "NaN": &f.nan,
	} {
		if s, ok := member(options, name).(string); ok && s != "" && len(s) <= maxSymbol {
			*field = s
		}
	}
	if s, ok := member(options, "zero-digit").(string); ok && s != "" {
		f.zero = firstRune(s)
	}
	return f
}

// maxSymbol is how long a symbol of a number format may be.
const maxSymbol = 100

var pictureMessages = map[string]string{
	"D3080": "The picture string must only contain a maximum of two sub-pictures",
	"D3081": "The sub-picture must not contain more than one instance of the 'decimal-separator' character",
	"D3082": "The sub-picture must not contain more than one instance of the 'percent' character",
	"D3083": "The sub-picture must not contain more than one instance of the 'per-mille' character",
	"D3084": "The sub-picture must not contain both a 'percent' and a 'per-mille' character",
	"D3085": "The mantissa part of a sub-picture must contain at least one character that is either an" +
		" 'optional digit character' or a member of the 'decimal digit family'",
	"D3086": "The sub-picture must not contain a passive character that is preceded by an active character" +
		" and that is followed by another active character",
	"D3087": "The sub-picture must not contain a 'grouping-separator' character that appears adjacent to a" +
		" 'decimal-separator' character",
	"D3088": "The sub-picture must not contain a 'grouping-separator' at the end of the integer part",
	"D3089": "The sub-picture must not contain two adjacent instances of the 'grouping-separator' character",
	"D3090": "The integer part of the sub-picture must not contain a member of the 'decimal digit family' that is" +
		" followed by an instance of the 'optional digit character'",
	"D3091": "The fractional part of the sub-picture must not contain an instance of the 'optional digit character'" +
		" that is followed by a member of the 'decimal digit family'",
	"D3092": "A sub-picture that contains a 'percent' or 'per-mille' character must not contain a character treated" +
		" as an 'exponent-separator'",
	"D3093": "The exponent part of the sub-picture must comprise only of one or more characters that are members of" +
		" the 'decimal digit family'",
}

func pictureError(code string) error { return &Error{Code: code, Message: pictureMessages[code]} }

// subPicture reads a part of a picture.
func (m *machine) subPicture(text string, f *numberFormat) *subPicture {
	s := &subPicture{text: text}
	isOuter := func(r rune) bool { return !f.isActive(r) || string(r) == f.exponent }
	s.active = strings.TrimLeftFunc(text, isOuter)
	s.prefix = text[:len(text)-len(s.active)]
	s.active = strings.TrimRightFunc(s.active, isOuter)
	s.suffix = text[len(s.prefix)+len(s.active):]
	s.mantissa, s.exponent, s.hasExponent = strings.Cut(s.active, f.exponent)
	var hasDecimal bool
	s.integer, s.fraction, hasDecimal = strings.Cut(s.mantissa, f.decimal)
	if code := s.problem(f, hasDecimal); code != "" {
		m.throw(pictureError(code))
	}
	s.measure(f)
	return s
}

// problem is the code of a rule that the picture breaks.
func (s *subPicture) problem(f *numberFormat, hasDecimal bool) string {
	percent, perMille := strings.Count(s.text, f.percent), strings.Count(s.text, f.perMille)
	isMantissa := func(r rune) bool { return f.isDigit(r) || string(r) == f.digit }
	switch {
	case strings.Count(s.text, f.decimal) > 1:
		return "D3081"
	case percent > 1:
		return "D3082"
	case perMille > 1:
		return "D3083"
	case percent > 0 && perMille > 0:
		return "D3084"
	case !strings.ContainsFunc(s.mantissa, isMantissa):
		return "D3085"
	case strings.ContainsFunc(s.active, func(r rune) bool { return !f.isActive(r) }):
		return "D3086"
	case hasDecimal && (strings.HasSuffix(s.integer, f.grouping) || strings.HasPrefix(s.fraction, f.grouping)):
		return "D3087"
	case !hasDecimal && strings.HasSuffix(s.integer, f.grouping):
		return "D3088"
	case strings.Contains(s.text, f.grouping+f.grouping):
		return "D3089"
	}
	if first := strings.IndexFunc(s.integer, f.isDigit); first >= 0 && strings.Contains(s.integer[first:], f.digit) {
		return "D3090"
	}
	if first := strings.Index(s.fraction, f.digit); first >= 0 && strings.ContainsFunc(s.fraction[first:], f.isDigit) {
		return "D3091"
	}
	switch {
	case s.hasExponent && s.exponent != "" && percent+perMille > 0:
		return "D3092"
	case s.hasExponent && (s.exponent == "" || strings.ContainsFunc(s.exponent, func(r rune) bool { return !f.isDigit(r) })):
		return "D3093"
	}
	return ""
}

// measure counts the digits of the picture.
func (s *subPicture) measure(f *numberFormat) {
	var separators []separator
	total := f.countDigits(s.integer, true)
	before := 0
	for i, part := range strings.Split(s.integer, f.grouping) {
		if i > 0 {
			separators = append(separators, separator{position: total - before})
			s.integerGroups = append(s.integerGroups, total-before)
		}
		before += f.countDigits(part, true)
	}
	slices.Reverse(separators)
	s.every = regular(separators)
	before = 0
	for i, part := range strings.Split(s.fraction, f.grouping) {
		if i > 0 {
			s.fractionGroups = append(s.fractionGroups, before)
		}
		before += f.countDigits(part, true)
	}
	s.minInteger = f.countDigits(s.integer, false)
	s.scale = s.minInteger
	s.minFraction, s.maxFraction = f.countDigits(s.fraction, false), f.countDigits(s.fraction, true)
	if s.minInteger == 0 && s.maxFraction == 0 {
		if s.hasExponent {
			s.minFraction, s.maxFraction = 1, 1
		} else {
			s.minInteger = 1
		}
	}
	if s.hasExponent && s.minInteger == 0 && strings.Contains(s.integer, f.digit) {
		s.minInteger = 1
	}
	if s.minInteger == 0 && s.minFraction == 0 {
		s.minFraction = 1
	}
	s.minExponent = f.countDigits(s.exponent, false)
}

// countDigits counts the digits of a part, with the optional ones or without.
func (f *numberFormat) countDigits(part string, optional bool) int {
	n := 0
	for _, r := range part {
		if f.isDigit(r) || optional && string(r) == f.digit {
			n++
		}
	}
	return n
}

// writeNumber writes a number that is not negative.
func (m *machine) writeNumber(value float64, s *subPicture, f *numberFormat) string {
	switch {
	case strings.Contains(s.text, f.percent):
		value *= 100
	case strings.Contains(s.text, f.perMille):
		value *= 1000
	}
	exponent := 0
	if s.minExponent > 0 && value > 0 {
		value, exponent = scale(value, s.scale)
	}
	if math.IsInf(value, 0) {
		return f.infinity
	}
	digits := s.maxFraction + s.minInteger + 400
	m.hold((16 + len(f.grouping)) * digits)
	m.step(s.maxFraction + s.minInteger + 100)
	text := strconv.FormatFloat(round(value, float64(s.maxFraction)), 'f', s.maxFraction, 64)
	integer, fraction, _ := strings.Cut(text, ".")
	integer, fraction = strings.TrimLeft(integer, "0"), strings.TrimRight(fraction, "0")
	integer = strings.Repeat("0", max(0, s.minInteger-len(integer))) + integer
	fraction += strings.Repeat("0", max(0, s.minFraction-len(fraction)))
	var b strings.Builder
	groups := map[int]bool{}
	for _, position := range s.integerGroups {
		groups[position] = true
	}
	for i := range len(integer) {
		if rest := len(integer) - i; i > 0 && (s.every > 0 && rest%s.every == 0 || s.every == 0 && groups[rest]) {
			b.WriteString(f.grouping)
		}
		b.WriteRune(rune(integer[i]-'0') + f.zero)
	}
	if fraction != "" {
		b.WriteString(f.decimal)
	}
	clear(groups)
	for _, position := range s.fractionGroups {
		groups[position] = true
	}
	for i := range len(fraction) {
		if i > 0 && groups[i] {
			b.WriteString(f.grouping)
		}
		b.WriteRune(rune(fraction[i]-'0') + f.zero)
	}
	if s.minExponent > 0 {
		b.WriteString(f.exponent)
		if exponent < 0 {
			b.WriteString(f.minus)
		}
		power := strconv.Itoa(max(exponent, -exponent))
		for _, r := range strings.Repeat("0", max(0, s.minExponent-len(power))) + power {
			b.WriteRune(r - '0' + f.zero)
		}
	}
	return b.String()
}

// scale is a number as a mantissa with a number of digits before the point,
// and an exponent.
func scale(value float64, digits int) (mantissa float64, exponent int) {
	high, low := math.Pow(10, float64(digits)), math.Pow(10, float64(digits-1))
	for value < low && exponent > -400 {
		value *= 10
		exponent--
	}
	for value > high && exponent < 400 {
		value /= 10
		exponent++
	}
	return value, exponent
}
