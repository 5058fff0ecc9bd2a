package jsonata

import (
	"math"
	"slices"
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

func toMillisFunction(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.scan(s)
	if picture, ok := c.at(1).(string); ok {
		return m.parseTime(s, m.parseTimePicture(picture))
	}
	t, ok := parseISO(s)
	if !ok {
		m.throw(&Error{Code: "D3110", Message: "The argument of the toMillis function must be an ISO 8601 formatted timestamp. Given " +
			m.excerpt(s)})
	}
	return m.boxed(float64(t.UnixMilli()))
}

// parseISO reads a time: a year, with a month, a day, a time of the day, a
// fraction of a second and a zone, as far as they are there.
func parseISO(s string) (time.Time, bool) {
	var fields [6]int // year to second
	ok := true
	digits := func(count int) int {
		if len(s) < count {
			ok = false
			return 0
		}
		n := 0
		for i := range count {
			if s[i] < '0' || s[i] > '9' {
				ok = false
				return 0
			}
			n = n*10 + int(s[i]-'0')
		}
		s = s[count:]
		return n
	}
	follows := func(c byte) bool {
		if s == "" || s[0] != c {
			return false
		}
		s = s[1:]
		return true
	}
	fields[0], fields[1], fields[2] = digits(4), 1, 1
	if follows('-') {
		fields[1] = digits(2)
		if follows('-') {
			fields[2] = digits(2)
		}
	}
	if follows('T') {
		fields[3] = digits(2)
		ok = ok && follows(':')
		fields[4] = digits(2)
		ok = ok && follows(':')
		fields[5] = digits(2)
	}
	nanos := 0
	if follows('.') {
		unit, count := int(time.Second), 0
		for s != "" && s[0] >= '0' && s[0] <= '9' {
			unit /= 10
			nanos += int(s[0]-'0') * unit
			s = s[1:]
			count++
		}
		ok = ok && count > 0
	}
	east, zoned := parseISOZone(s)
	t := time.Date(fields[0], time.Month(fields[1]), fields[2], fields[3], fields[4], fields[5], nanos, time.UTC)
	midnight := fields[3] == 24 && fields[4] == 0 && fields[5] == 0
	valid := ok && zoned && fields[1] >= 1 && fields[1] <= 12 && fields[2] >= 1 && fields[2] <= 31 &&
		(fields[3] < 24 || midnight) && fields[4] < 60 && fields[5] < 60
	return t.Add(-time.Duration(east) * time.Minute), valid
}

// parseISOZone reads Z, +0530 or +05:30 as minutes. No zone is UTC.
func parseISOZone(s string) (east int, ok bool) {
	if s == "" || s == "Z" {
		return 0, true
	}
	sign := 1
	switch s[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return 0, false
	}
	digits := strings.Replace(s[1:], ":", "", 1)
	if len(digits) != 4 || len(s) == 6 && s[3] != ':' || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.Atoi(digits)
	return sign * (n/100*60 + n%100), true
}

// parseTime reads a time as a picture says that it is written.
func (m *machine) parseTime(s string, parts []*timePart) any {
	pattern := &regexProgram{groups: 1, fold: true}
	var b strings.Builder
	b.WriteByte('^')
	for _, p := range parts {
		b.WriteString("(" + m.timePattern(p) + ")")
	}
	b.WriteByte('$')
	m.step(8 * b.Len())
	m.hold(64 * b.Len())
	pattern, err := pattern.compile(b.String())
	if err != nil {
		m.throw(&Error{Code: "D3136", Message: "The date/time picture string is too complex"})
	}
	search := m.newSearch(pattern, s)
	for i := range search.saved {
		search.saved[i] = -1
	}
	if _, ok := search.run(0, 0); !ok {
		return undefined
	}
	read := map[byte]float64{}
	for i, p := range parts {
		if p.component != 0 {
			read[p.component] = m.parsePart(s[search.saved[2*i+2]:search.saved[2*i+3]], p)
		}
	}
	if len(read) == 0 {
		return undefined
	}
	return m.assemble(read)
}

// timePattern is a regular expression of what a part matches.
func (m *machine) timePattern(p *timePart) string {
	switch {
	case p.component == 0:
		var b strings.Builder
		for _, r := range p.literal {
			if strings.ContainsRune(`.*+?^${}()|[]\/`, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String()
	case p.component == 'Z' || p.component == 'z':
		prefix := ""
		if p.component == 'z' {
			prefix = "GMT"
		}
		if p.integer != nil && p.integer.every > 0 {
			return prefix + `[-+][0-9]+\` + string(p.integer.separators[0].character) + `[0-9]+`
		}
		return prefix + `[-+][0-9]+`
	case p.integer == nil:
		if strings.IndexByte("MxFP", p.component) < 0 {
			m.throw(nameless(m, p.component))
		}
		return "[a-zA-Z]+"
	}
	return integerPattern(p.integer)
}

func integerPattern(p *integerPicture) string {
	switch p.numbering {
	case inLetters:
		return "[a-zA-Z]+"
	case inRoman:
		return "[mdclxvi]+"
	case inWords:
		return "(?:" + strings.Join(words, "|") + `|and|[\-, ])+`
	case inDecimal, inSequence:
	}
	pattern := "[0-9]+"
	if p.width > 0 {
		pattern = "[0-9]{" + strconv.Itoa(min(p.width, maxWidth)) + "}"
	}
	if p.zero > '0' {
		pattern = strings.ReplaceAll(pattern, "0-9", string(p.zero)+"-"+string(p.zero+9))
	}
	if p.ordinal {
		pattern += "(?:th|st|nd|rd)"
	}
	return pattern
}

// words are those that stand for numbers, the longest first.
var words = func() []string {
	var all []string
	for word := range wordValues {
		all = append(all, word)
	}
	slices.SortFunc(all, func(x, y string) int {
		if len(x) != len(y) {
			return len(y) - len(x)
		}
		return strings.Compare(x, y)
	})
	return all
}()

// parsePart is the number of a component.
func (m *machine) parsePart(s string, p *timePart) float64 {
	switch {
	case p.component == 'Z' || p.component == 'z':
		return parseZone(s, p)
	case p.integer != nil:
		return m.parseInteger(s, p.integer)
	}
	var names []string
	switch p.component {
	case 'M', 'x':
		names = monthNames
	case 'F':
		names = dayNames
	default:
		if strings.EqualFold(s, "pm") {
			return 1
		}
		return 0
	}
	for i, name := range names {
		if p.maxWidth >= 0 {
			name = name[:min(p.maxWidth, len(name))]
		}
		if strings.EqualFold(name, s) {
			return float64(i + 1)
		}
	}
	return math.NaN()
}

// parseZone is the offset of a zone in minutes.
func parseZone(s string, p *timePart) float64 {
	s = strings.TrimPrefix(strings.ToUpper(s), "GMT")
	sign := 1.0
	if s[0] == '-' {
		sign = -1
	}
	s = s[1:]
	hours, minutes := s, "0"
	if p.integer != nil && p.integer.every > 0 {
		hours, minutes, _ = strings.Cut(s, string(p.integer.separators[0].character))
	} else if len(s) > 2 {
		hours, minutes = s[:2], s[2:]
	}
	return sign * (parseDigits(hours)*60 + parseDigits(minutes))
}

// assemble makes a time of its components. Those that are less than the ones
// that were read are at their start, those that are more are as now.
func (m *machine) assemble(read map[byte]float64) any {
	has := func(components string) bool {
		for i := range len(components) {
			if _, ok := read[components[i]]; !ok {
				return false
			}
		}
		return true
	}
	some := func(components string) bool {
		for i := range len(components) {
			if _, ok := read[components[i]]; ok {
				return true
			}
		}
		return false
	}
	order := "YMD"
	switch {
	case has("Yd") && !some("MD"):
		order = "Yd"
	case some("XxWw") && !some("YMD"):
		m.throw(errUnderspecified)
	}
	if some("Ph") && !some("H") {
		order += "Phmsf"
	} else {
		order += "Hmsf"
	}
	started, ended := false, false
	for i := range len(order) {
		c := order[i]
		_, ok := read[c]
		switch {
		case ok && ended:
			m.throw(errUnderspecified)
		case ok:
			started = true
		case started:
			read[c] = 0
			if strings.IndexByte("MDd", c) >= 0 {
				read[c] = 1
			}
			ended = true
		default:
			read[c] = float64(componentOf(m.env.Now.UTC(), c))
		}
	}
	return m.millisOf(read, order)
}

var errUnderspecified = &Error{
	Code:    "D3136",
	Message: "The date/time picture string is missing specifiers required to parse the timestamp",
}

func (m *machine) millisOf(read map[byte]float64, order string) any {
	if strings.HasSuffix(order, "Phmsf") {
		read['H'] = math.Mod(read['h'], 12)
		if read['P'] == 1 {
			read['H'] += 12
		}
	}
	for _, f := range read {
		if math.IsNaN(f) || math.Abs(f) > maxMillis {
			return m.boxed(math.NaN())
		}
	}
	month, day := read['M'], read['D']
	if strings.HasPrefix(order, "Yd") {
		month, day = 1, read['d']
	}
	t := time.Date(int(read['Y']), time.Month(max(1, month)), int(day), 0, 0, 0, 0, time.UTC)
	millis := float64(t.UnixMilli()) + ((read['H']*60+read['m'])*60+read['s'])*1000 + read['f']
	zone := read['Z']
	if zone == 0 {
		zone = read['z']
	}
	return m.boxed(millis - zone*60_000)
}
