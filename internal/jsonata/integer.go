package jsonata

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pictures of integers are those of XPath:
// https://www.w3.org/TR/xpath-functions-31/#formatting-integers

// numbering is how an integer is written.
type numbering uint8

const (
	inDecimal numbering = iota
	inLetters
	inRoman
	inWords
	inSequence // a numbering that JSONata does not have
)

// letterCase is the case of letters and words.
type letterCase uint8

const (
	lower letterCase = iota
	capital
	title
)

// integerPicture says how an integer is written.
type integerPicture struct {
	numbering  numbering
	letterCase letterCase
	ordinal    bool
	token      string
	zero       rune
	mandatory  int // digits at least
	optional   int
	separators []separator
	every      int // digits between separators, 0 if these are not regular
	width      int // digits when it is parsed, 0 if any
}

// separator is a character between digits, and how many follow it.
type separator struct {
	position  int
	character rune
}

// zeros are the first digits of the scripts that have digits.
var zeros = []rune{
	0x30, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50,
	0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50,
	0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
}

// zeroOf is the zero of the digits to which a character belongs, or 0.
func zeroOf(r rune) rune {
	for _, zero := range zeros {
		if r >= zero && r <= zero+9 {
			return zero
		}
	}
	return 0
}

// parseIntegerPicture reads a picture.
func (m *machine) parseIntegerPicture(picture string) *integerPicture {
	m.step(len(picture))
	m.hold(32 * len(picture))
	p := &integerPicture{token: picture}
	if i := strings.LastIndexByte(picture, ';'); i >= 0 {
		p.token = picture[:i]
		p.ordinal = strings.HasPrefix(picture[i+1:], "o")
	}
	switch p.token {
	case "A", "a":
		p.numbering = inLetters
	case "I", "i":
		p.numbering = inRoman
	case "W", "w", "Ww":
		p.numbering = inWords
	default:
		m.parseDigits(p)
		return p
	}
	switch {
	case p.token == "Ww":
		p.letterCase = title
	case p.token < "a":
		p.letterCase = capital
	}
	return p
}

// parseDigits reads a pattern of digits from its end.
func (m *machine) parseDigits(p *integerPicture) {
	digits := 0
	for _, r := range slices.Backward([]rune(p.token)) {
		switch zero := zeroOf(r); {
		case zero != 0:
			if p.zero != 0 && p.zero != zero {
				m.throw(&Error{Code: "D3131", Message: "In a decimal digit pattern, all digits must be from the same decimal group"})
			}
			p.zero = zero
			p.mandatory++
			digits++
		case r == '#':
			p.optional++
			digits++
		default:
			p.separators = append(p.separators, separator{digits, r})
		}
	}
	if p.mandatory == 0 {
		p.numbering = inSequence
	}
	p.every = regular(p.separators)
}

// regular is how many digits lie between separators, 0 if that changes.
func regular(separators []separator) int {
	divisor := 0
	for _, s := range separators {
		if s.character != separators[0].character {
			return 0
		}
		divisor = gcd(divisor, s.position)
	}
	if divisor == 0 {
		return 0
	}
	for i := range separators {
		if separators[i].position != (i+1)*divisor {
			return 0
		}
	}
	return divisor
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// floorInt rounds down, into the range of 64 bits.
func floorInt(f float64) int64 { return truncate(math.Floor(f)) }

func formatIntegerFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	picture, ok := c.at(1).(string)
	if !ok {
		m.throw(badArgument(2, "formatInteger"))
	}
	m.finite(c.number(0))
	return m.formatInteger(math.Floor(c.number(0))+0, m.parseIntegerPicture(picture))
}

// formatInteger writes a whole number.
func (m *machine) formatInteger(f float64, p *integerPicture) string {
	sign := ""
	if f < 0 {
		sign, f = "-", -f
	}
	var out string
	switch p.numbering {
	case inLetters:
		out = m.letters(f, p.letterCase)
	case inRoman:
		out = m.roman(f)
		if p.letterCase == capital {
			out = strings.ToUpper(out)
		}
	case inWords:
		out = m.words(f, p.ordinal)
		switch p.letterCase {
		case capital:
			out = strings.ToUpper(out)
		case lower:
			out = strings.ToLower(out)
		case title:
		}
	case inSequence:
		m.throw(&Error{Code: "D3130", Message: "Formatting or parsing an integer as a sequence starting with " +
			m.excerpt(p.token) + " is not supported by this implementation"})
	default:
		out = m.digits(f, p)
	}
	return sign + out
}

// digits writes a number in digits.
func (m *machine) digits(f float64, p *integerPicture) string {
	plain := strconv.FormatFloat(f, 'f', 0, 64)
	missing := max(0, p.mandatory-len(plain))
	m.hold(8 * (missing + len(plain)))
	m.step(missing + len(plain))
	digits := strings.Repeat("0", missing) + plain
	at := map[int]rune{} // separators by how many digits follow
	if p.every > 0 {
		for position := p.every; position < len(digits); position += p.every {
			at[position] = p.separators[0].character
		}
	} else {
		for _, s := range p.separators {
			at[s.position] = s.character
		}
	}
	var b strings.Builder
	for i := range len(digits) {
		if s, ok := at[len(digits)-i]; ok && i > 0 {
			b.WriteRune(s)
		}
		b.WriteRune(rune(digits[i]-'0') + p.zero)
	}
	if s, ok := at[0]; ok && p.every == 0 {
		b.WriteRune(s)
	}
	if p.ordinal {
		b.WriteString(ordinalSuffix(digits))
	}
	return b.String()
}

func ordinalSuffix(digits string) string {
	suffix := map[byte]string{'1': "st", '2': "nd", '3': "rd"}[digits[len(digits)-1]]
	if suffix == "" || len(digits) > 1 && digits[len(digits)-2] == '1' {
		return "th"
	}
	return suffix
}

// letters are a, b, ... z, aa, ab, ...
func (m *machine) letters(f float64, c letterCase) string {
	first := byte('a')
	if c == capital {
		first = 'A'
	}
	var out []byte
	for f > 0 {
		m.step(stepsPerDivision)
		f--
		out = append(out, first+byte(math.Mod(f, 26)))
		f = math.Floor(f / 26)
	}
	slices.Reverse(out)
	m.hold(len(out))
	return string(out)
}

var romanNumerals = []struct {
	value float64
	text  string
}{
	{1000, "m"},
	{900, "cm"},
	{500, "d"},
	{400, "cd"},
	{100, "c"},
	{90, "xc"},
	{50, "l"},
	{40, "xl"},
	{10, "x"},
	{9, "ix"},
	{5, "v"},
	{4, "iv"},
	{1, "i"},
}

func (m *machine) roman(f float64) string {
	thousands := math.Floor(f / 1000)
	if thousands > float64(m.limits.Bytes) {
		m.throw(errMemory)
	}
	m.hold(2 * int(thousands))
	var out strings.Builder
	out.WriteString(strings.Repeat("m", int(thousands)))
	f -= thousands * 1000
	for _, n := range romanNumerals {
		for f >= n.value {
			f -= n.value
			out.WriteString(n.text)
		}
	}
	return out.String()
}

var (
	smallWords = []string{
		"Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
		"Thirteen", "Fourteen", "Fifteen", "Sixteen", "Seventeen", "Eighteen", "Nineteen",
	}
	smallOrdinals = []string{
		"Zeroth", "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth", "Eleventh",
		"Twelfth", "Thirteenth", "Fourteenth", "Fifteenth", "Sixteenth", "Seventeenth", "Eighteenth", "Nineteenth",
	}
	tensWords  = []string{"Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"}
	magnitudes = []string{"Thousand", "Million", "Billion", "Trillion"}
)

// words writes a number in English.
func (m *machine) words(f float64, ordinal bool) string {
	var b strings.Builder
	m.writeWords(&b, f, false, ordinal)
	return b.String()
}

// writeWords writes a number that follows others or not.
func (m *machine) writeWords(b *strings.Builder, f float64, follows, ordinal bool) {
	m.step(1)
	m.hold(64)
	switch {
	case f < 100:
		if follows {
			b.WriteString(" and ")
		}
		writeSmall(b, int(f), ordinal)
	case f < 1000:
		if follows {
			b.WriteString(", ")
		}
		b.WriteString(smallWords[int(f/100)] + " Hundred")
		m.writeRest(b, math.Mod(f, 100), ordinal)
	default:
		magnitude := min(int(math.Floor(math.Log10(f)/3)), len(magnitudes))
		factor := math.Pow(10, float64(magnitude*3))
		if f < factor { // the logarithm was rounded up
			magnitude--
			factor /= 1000
		}
		if follows {
			b.WriteString(", ")
		}
		count := math.Floor(f / factor)
		m.writeWords(b, count, false, false)
		b.WriteString(" " + magnitudes[magnitude-1])
		m.writeRest(b, f-count*factor, ordinal)
	}
}

func (m *machine) writeRest(b *strings.Builder, rest float64, ordinal bool) {
	switch {
	case rest > 0:
		m.writeWords(b, rest, true, ordinal)
	case ordinal:
		b.WriteString("th")
	}
}

// writeSmall writes a number below 100.
func writeSmall(b *strings.Builder, n int, ordinal bool) {
	words := smallWords
	if ordinal {
		words = smallOrdinals
	}
	if n < 20 {
		b.WriteString(words[n])
		return
	}
	tens := tensWords[n/10-2]
	switch {
	case n%10 > 0:
		b.WriteString(tens + "-" + words[n%10])
	case ordinal:
		b.WriteString(strings.TrimSuffix(tens, "y") + "ieth")
	default:
		b.WriteString(tens)
	}
}

// firstRune is the character that a text begins with.
func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
