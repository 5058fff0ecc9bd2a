package jsonata

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Functions on numbers: https://docs.jsonata.org/numeric-functions

// numbersOf are the items of an array that a signature says are numbers.
func numbersOf(m *machine, c *arguments) (values []any, ok bool) {
	if c.at(0) == undefined {
		return nil, false
	}
	values, _ = itemsOf(c.at(0))
	m.step(len(values))
	for _, v := range values {
		m.read(v)
	}
	return values, true
}

func sumOf(values []any) float64 {
	sum := 0.0
	for _, v := range values {
		f, _ := number(v)
		sum += f
	}
	return sum
}

func sumFunction(m *machine, c *arguments) any {
	values, ok := numbersOf(m, c)
	if !ok {
		return undefined
	}
	return m.box(sumOf(values))
}

func countFunction(m *machine, c *arguments) any {
	items, _ := itemsOf(c.at(0))
	return m.box(float64(len(items)))
}

func averageFunction(m *machine, c *arguments) any {
	values, ok := numbersOf(m, c)
	if !ok || len(values) == 0 {
		return undefined
	}
	return m.box(sumOf(values) / float64(len(values)))
}

func maxFunction(m *machine, c *arguments) any { return m.extreme(c, math.Max) }
func minFunction(m *machine, c *arguments) any { return m.extreme(c, math.Min) }

func (m *machine) extreme(c *arguments, choose func(x, y float64) float64) any {
	values, ok := numbersOf(m, c)
	if !ok || len(values) == 0 {
		return undefined
	}
	best, _ := number(values[0])
	for _, v := range values[1:] {
		f, _ := number(v)
		best = choose(best, f)
	}
	return m.box(best)
}

var (
	decimalPattern = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([Ee][-+]?[0-9]+)?$`)
	radixPattern   = regexp.MustCompile(`^0([xX][0-9A-Fa-f]+|[oO][0-7]+|[bB][01]+)$`)
)

// maxNumberLength bounds the digits of a number that is read from a text.
const maxNumberLength = 10_000

func numberFunction(m *machine, c *arguments) any {
	switch v := c.at(0).(type) {
	case undefinedType:
		return undefined
	case bool:
		if v {
			return 1.0
		}
		return 0.0
	case string:
		m.step(min(len(v), maxNumberLength))
		if f, ok := parseNumber(v); ok {
			return m.box(f)
		}
		m.throw(&Error{Code: "D3030", Message: "Unable to cast value to a number: " + m.excerpt(v)})
	}
	return c.at(0)
}

func parseNumber(s string) (float64, bool) {
	switch {
	case len(s) > maxNumberLength:
	case decimalPattern.MatchString(s):
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	case radixPattern.MatchString(s):
		base := map[byte]float64{'x': 16, 'o': 8, 'b': 2}[s[1]|0x20]
		f := 0.0
		for i := 2; i < len(s); i++ {
			digit, _ := strconv.ParseUint(s[i:i+1], 16, 8)
			f = f*base + float64(digit)
		}
		return f, true
	}
	return 0, false
}

// onNumber makes a function of one number one of JSONata.
func (m *machine) onNumber(c *arguments, change func(float64) float64) any {
	if c.at(0) == undefined {
		return undefined
	}
	return m.box(change(c.number(0)))
}

func floorFunction(m *machine, c *arguments) any { return m.onNumber(c, math.Floor) }
func ceilFunction(m *machine, c *arguments) any  { return m.onNumber(c, math.Ceil) }
func absFunction(m *machine, c *arguments) any   { return m.onNumber(c, math.Abs) }

func sqrtFunction(m *machine, c *arguments) any {
	if c.number(0) < 0 {
		m.throw(&Error{Code: "D3060", Message: "The sqrt function cannot be applied to a negative number: " + m.excerpt(c.at(0))})
	}
	return m.onNumber(c, math.Sqrt)
}

func powerFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	f := math.Pow(c.number(0), c.number(1))
	if c.at(1) == undefined || math.IsNaN(f) || math.IsInf(f, 0) {
		m.throw(&Error{Code: "D3061", Message: "The power function has resulted in a value that cannot be represented as a JSON number: base=" +
			m.excerpt(c.at(0)) + ", exponent=" + m.excerpt(c.at(1))})
	}
	return m.box(f)
}

func roundFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	return m.box(round(c.number(0), c.number(1)))
}

// round rounds to a number of decimal places; a half goes to the even neighbour.
func round(f, precision float64) float64 {
	if precision = math.Trunc(precision); precision != 0 {
		f = shift(f, precision)
	}
	rounded := math.Floor(f + 0.5)
	if math.Abs(rounded-f) == 0.5 && math.Mod(math.Abs(rounded), 2) == 1 {
		rounded--
	}
	if precision != 0 {
		rounded = shift(rounded, -precision)
	}
	if rounded == 0 {
		return 0
	}
	return rounded
}

// shift moves the decimal point of a number as it is written.
func shift(f, places float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(places) > 1_000 || math.IsNaN(places) {
		if math.Abs(places) > 1_000 && places < 0 {
			return 0
		}
		return f
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent)
	out, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(power+int(places)), 64)
	return out
}

// formatBase is $formatBase(number, radix).
func formatBase(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	f := round(c.number(0), 0)
	radix := 10.0
	if c.at(1) != undefined {
		radix = round(c.number(1), 0)
	}
	if !(radix >= 2 && radix <= 36) {
		m.throw(&Error{Code: "D3100", Message: "The radix of the formatBase function must be between 2 and 36.  It was given " + m.excerpt(radix)})
	}
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return formatInfinity(f)
	case radix == 10:
		return formatNumber(f)
	case math.Abs(f) < 1<<63:
		return strconv.FormatInt(int64(f), int(radix))
	}
	// A float of that size has no fraction: its digits are found by division.
	var digits []byte
	for rest := math.Abs(f); rest > 0; rest = math.Floor(rest / radix) {
		m.step(stepsPerDivision)
		digits = append(digits, strconv.FormatInt(int64(math.Mod(rest, radix)), int(radix))...)
	}
	if f < 0 {
		digits = append(digits, '-')
	}
	for i, j := 0, len(digits)-1; i < j; i, j = i+1, j-1 {
		digits[i], digits[j] = digits[j], digits[i]
	}
	m.hold(len(digits))
	return string(digits)
}

// stepsPerDivision are those of a division of a large float with a rest.
const stepsPerDivision = 25

func formatInfinity(f float64) string {
	if f < 0 {
		return "-Infinity"
	}
	return "Infinity"
}
