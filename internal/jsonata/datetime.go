package jsonata

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Pictures of times are those of XPath:
// https://www.w3.org/TR/xpath-functions-31/#formatting-dates-and-times

// timePart is a literal text of a picture, or a component of the time.
type timePart struct {
	literal   string
	component byte // 0 for a literal
	integer   *integerPicture
	names     bool
	nameCase  letterCase
	second    byte // the second modifier
	minWidth  int  // -1 if there is none
	maxWidth  int
	digits    int // of a year, -1 for all
}

var defaultModifiers = map[byte]string{
	'Y': "1", 'M': "1", 'D': "1", 'd': "1", 'F': "n", 'W': "1", 'w': "1", 'X': "1", 'x': "1", 'H': "1", 'h': "1", 'P': "n",
	'm': "01", 's': "01", 'f': "1", 'Z': "01:01", 'z': "01:01", 'C': "n", 'E': "n",
}

const (
	isoPicture        = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]"
	integerComponents = "YMDdFWwXxHhmsf"
)

// parseTimePicture reads a picture.
func (m *machine) parseTimePicture(picture string) []*timePart {
	m.step(4 * len(picture))
	m.hold(64 * len(picture))
	var parts []*timePart
	literal := func(text string) {
		if text != "" {
			parts = append(parts, &timePart{literal: strings.ReplaceAll(text, "]]", "]")})
		}
	}
	start := 0
	for i := 0; i < len(picture); i++ {
		if picture[i] != '[' {
			continue
		}
		literal(picture[start:i])
		if strings.HasPrefix(picture[i+1:], "[") {
			literal("[")
			i++
			start = i + 1
			continue
		}
		length := strings.IndexByte(picture[i:], ']')
		if length < 0 {
			m.throw(&Error{Code: "D3135", Message: "The picture string ends inside of a component: no matching closing bracket ] in date/time picture string"})
		}
		part := m.timePart(strings.Join(strings.Fields(picture[i+1:i+length]), ""))
		if n := len(parts); n > 0 && parts[n-1].integer != nil && part.integer != nil {
			parts[n-1].integer.width = parts[n-1].integer.mandatory
		}
		parts = append(parts, part)
		i += length
		start = i + 1
	}
	literal(picture[start:])
	return parts
}

// timePart reads a component without its brackets.
func (m *machine) timePart(marker string) *timePart {
	p := &timePart{minWidth: -1, maxWidth: -1, digits: -1}
	if marker == "" {
		m.throw(unknownComponent(m, ""))
	}
	p.component = marker[0]
	first, ok := defaultModifiers[p.component]
	if !ok {
		m.throw(unknownComponent(m, marker[:1]))
	}
	modifier := marker[1:]
	if i := strings.LastIndexByte(modifier, ','); i >= 0 {
		low, high, _ := strings.Cut(modifier[i+1:], "-")
		p.minWidth, p.maxWidth = widthOf(low), widthOf(high)
		modifier = modifier[:i]
	}
	if n := len(modifier); n > 1 && strings.IndexByte("atco", modifier[n-1]) >= 0 {
		p.second = modifier[n-1]
		modifier = modifier[:n-1]
	}
	if modifier != "" {
		first = modifier
	}
	switch {
	case first[0] == 'n':
		p.names = true
	case first[0] == 'N':
		p.names, p.nameCase = true, capital
		if strings.HasPrefix(first, "Nn") {
			p.nameCase = title
		}
	case strings.IndexByte(integerComponents, p.component) >= 0:
		m.integerPart(p, first)
	case p.component == 'Z' || p.component == 'z':
		p.integer = m.parseIntegerPicture(first)
	}
	return p
}

func unknownComponent(m *machine, component string) error {
	return &Error{Code: "D3132", Message: "Unknown component specifier " + m.excerpt(component) + " in date/time picture string"}
}

// integerPart reads how a component is written as a number.
func (m *machine) integerPart(p *timePart, modifier string) {
	if p.second != 0 {
		modifier += ";" + string(p.second)
	}
	p.integer = m.parseIntegerPicture(modifier)
	p.integer.mandatory = max(p.integer.mandatory, min(p.minWidth, maxWidth))
	if p.component != 'Y' {
		return
	}
	if p.maxWidth >= 0 {
		p.digits = p.maxWidth
		p.integer.mandatory = min(p.maxWidth, maxWidth)
	} else if width := p.integer.mandatory + p.integer.optional; width >= 2 {
		p.digits = width
	}
}

// maxWidth is the widest that a component is written.
const maxWidth = 1_000

func widthOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return n
	}
	return -1
}

var (
	monthNames = []string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	}
	dayNames = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// maxMillis is how far from 1970 a time may be.
const maxMillis = 8.64e15

// maxYear is the last year of such a time.
const maxYear = 275_760

func fromMillisFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	millis := c.number(0)
	m.finite(millis)
	if math.Abs(millis) > maxMillis {
		m.throw(&Error{Code: "D3136", Message: "The time is out of range: " + m.excerpt(c.at(0))})
	}
	t := time.UnixMilli(int64(millis)).UTC()
	offset := 0
	if zone, ok := c.at(2).(string); ok {
		offset = zoneOffset(zone)
		t = t.Add(time.Duration(offset/100*60+offset%100) * time.Minute)
	}
	picture, ok := c.at(1).(string)
	if !ok {
		if offset == 0 && t.Year() >= 0 && t.Year() <= 9999 {
			m.hold(len(isoPicture))
			return t.Format("2006-01-02T15:04:05.000Z")
		}
		picture = isoPicture
	}
	var b strings.Builder
	for _, part := range m.parseTimePicture(picture) {
		if part.component == 0 {
			b.WriteString(part.literal)
		} else {
			b.WriteString(m.formatPart(part, t, offset))
		}
	}
	return b.String()
}

// zoneOffset reads a time zone, such as -0530.
func zoneOffset(zone string) int {
	end := 0
	for end < len(zone) && end < 6 && (zone[end] >= '0' && zone[end] <= '9' || end == 0 && (zone[0] == '-' || zone[0] == '+')) {
		end++
	}
	n, _ := strconv.Atoi(zone[:end])
	return n
}

func (m *machine) formatPart(p *timePart, t time.Time, offset int) string {
	switch p.component {
	case 'Z', 'z':
		return m.formatZone(p, offset)
	case 'P':
		half := "am"
		if t.Hour() >= 12 {
			half = "pm"
		}
		if p.nameCase == capital {
			half = strings.ToUpper(half)
		}
		return half
	case 'C', 'E':
		return "ISO"
	}
	value := componentOf(t, p.component)
	if p.component == 'Y' && p.digits >= 0 && p.digits < 15 {
		value = int(math.Mod(float64(value), math.Pow(10, float64(p.digits))))
	}
	if !p.names {
		return m.formatInteger(float64(value), p.integer)
	}
	var name string
	switch p.component {
	case 'M', 'x':
		name = monthNames[value-1]
	case 'F':
		name = dayNames[value-1]
	default:
		m.throw(nameless(m, p.component))
	}
	switch p.nameCase {
	case capital:
		name = strings.ToUpper(name)
	case lower:
		name = strings.ToLower(name)
	case title:
	}
	if p.maxWidth >= 0 && len(name) > p.maxWidth {
		name = name[:p.maxWidth]
	}
	return name
}

func nameless(m *machine, component byte) error {
	return &Error{Code: "D3133", Message: "The 'name' modifier can only be applied to months and days in the date/time picture string, not " +
		m.excerpt(string(component))}
}

func (m *machine) formatZone(p *timePart, offset int) string {
	if p.integer == nil {
		p.integer = m.parseIntegerPicture(defaultModifiers['Z'])
	}
	hours, minutes := offset/100, offset%100
	var out string
	switch digits := p.integer.mandatory; {
	case p.integer.every > 0 || digits == 3 || digits == 4:
		out = m.formatInteger(float64(offset), p.integer)
	case digits == 1 || digits == 2:
		out = m.formatInteger(float64(hours), p.integer)
		if minutes != 0 {
			out += ":" + m.formatInteger(float64(minutes), m.parseIntegerPicture("00"))
		}
	default:
		m.throw(&Error{Code: "D3134", Message: "The timezone integer format specifier cannot have more than four digits"})
	}
	if offset >= 0 {
		out = "+" + out
	}
	if p.component == 'z' {
		out = "GMT" + out
	}
	if offset == 0 && p.second == 't' {
		return "Z"
	}
	return out
}

// componentOf is the number of a component of a time.
func componentOf(t time.Time, component byte) int {
	switch component {
	case 'Y':
		return t.Year()
	case 'M':
		return int(t.Month())
	case 'D':
		return t.Day()
	case 'd':
		return t.YearDay()
	case 'F':
		return (int(t.Weekday())+6)%7 + 1
	case 'W':
		_, week := t.ISOWeek()
		return week
	case 'w':
		week, _ := weekOfMonth(t)
		return week
	case 'X':
		year, _ := t.ISOWeek()
		return year
	case 'x':
		_, month := weekOfMonth(t)
		return month
	case 'H':
		return t.Hour()
	case 'h':
		return (t.Hour()+11)%12 + 1
	case 'P':
		return t.Hour() / 12
	case 'm':
		return t.Minute()
	case 's':
		return t.Second()
	}
	return t.Nanosecond() / int(time.Millisecond)
}

// weekOfMonth is the week of the month to which the week of a time belongs: as
// with years, that is the month of its Thursday.
func weekOfMonth(t time.Time) (week, month int) {
	thursday := t.AddDate(0, 0, 4-componentOf(t, 'F'))
	return (thursday.Day()-1)/7 + 1, int(thursday.Month())
}
