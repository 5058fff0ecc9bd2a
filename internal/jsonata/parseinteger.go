package jsonata

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

func parseIntegerFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	picture, ok := c.at(1).(string)
	if !ok {
		m.throw(badArgument(2, "parseInteger"))
	}
	p := m.parseIntegerPicture(picture)
	m.step(len(s))
	return m.box(m.parseInteger(s, p))
}

// parseInteger reads a number as a picture says that it is written; what is no
// such number is NaN.
func (m *machine) parseInteger(s string, p *integerPicture) float64 {
	switch p.numbering {
	case inLetters:
		f := 0.0
		for i := range len(s) {
			f = f*26 + float64(s[i]|0x20) - 'a' + 1
		}
		return f
	case inRoman:
		return parseRoman(strings.ToLower(s))
	case inWords:
		return m.parseWords(strings.ToLower(s))
	case inSequence:
		m.throw(&Error{Code: "D3130", Message: "Formatting or parsing an integer as a sequence starting with " +
			m.excerpt(p.token) + " is not supported by this implementation"})
	case inDecimal:
	}
	if p.ordinal {
		s = s[:max(0, len(s)-2)]
	}
	m.hold(2 * len(s))
	var digits []byte
	for _, r := range s {
		switch {
		case slices.ContainsFunc(p.separators, func(s separator) bool { return s.character == r }):
		case r >= p.zero && r <= p.zero+9:
			digits = append(digits, "0123456789"[r-p.zero])
		case r == '-' && len(digits) == 0:
			digits = append(digits, '-')
		default: // what follows the digits is not read
			return parseDigits(string(digits))
		}
	}
	return parseDigits(string(digits))
}

func parseDigits(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && s != "" && !math.IsInf(f, 0) || s == "" {
		return math.NaN()
	}
	return f
}

func parseRoman(s string) float64 {
	values := map[byte]float64{'m': 1000, 'd': 500, 'c': 100, 'l': 50, 'x': 10, 'v': 5, 'i': 1}
	sum, largest := 0.0, 1.0
	for i := len(s) - 1; i >= 0; i-- {
		value, ok := values[s[i]]
		switch {
		case !ok:
			return math.NaN()
		case value < largest:
			sum -= value
		default:
			sum, largest = sum+value, value
		}
	}
	return sum
}

// wordValues are the numbers that have a word of their own.
var wordValues = func() map[string]float64 {
	values := map[string]float64{"hundred": 100, "hundredth": 100}
	for i := range smallWords {
		values[strings.ToLower(smallWords[i])] = float64(i)
		values[strings.ToLower(smallOrdinals[i])] = float64(i)
	}
	for i, tens := range tensWords {
		word := strings.ToLower(tens)
		values[word] = float64(i+2) * 10
		values[strings.TrimSuffix(word, "y")+"ieth"] = float64(i+2) * 10
	}
	for i, word := range magnitudes {
		values[strings.ToLower(word)] = math.Pow(10, float64(i+1)*3)
		values[strings.ToLower(word)+"th"] = math.Pow(10, float64(i+1)*3)
	}
	return values
}()

func (m *machine) parseWords(s string) float64 {
	m.hold(32 * len(s))
	segments := []float64{0}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' || r == ',' }) {
		if word == "and" {
			continue
		}
		value, ok := wordValues[word]
		if !ok {
			return math.NaN()
		}
		top := &segments[len(segments)-1]
		switch {
		case value >= 100:
			*top *= value
		case *top >= 1000:
			segments = append(segments, value)
		default:
			*top += value
		}
	}
	sum := 0.0
	for _, s := range segments {
		sum += s
	}
	return sum
}
