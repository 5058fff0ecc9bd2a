package jsonata

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Times are read as they are written, by the same pictures.

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
	return m.box(float64(t.UnixMilli()))
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
		part := m.timePattern(p)
		m.hold(64 * len(part)) // what it is compiled to
		b.WriteString("(" + part + ")")
	}
	b.WriteByte('$')
	m.step(8 * b.Len())
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
			return m.box(math.NaN())
		}
	}
	if math.Abs(read['Y']) > maxYear {
		return m.box(math.NaN())
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
	return m.box(millis - zone*60_000)
}
