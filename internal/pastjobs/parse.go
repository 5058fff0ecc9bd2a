package pastjobs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/internal/timespan"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// durationsWanted says what a file of durations may hold.
const durationsWanted = "a duration a line such as 15m3s or 903 (seconds), CSV with the columns start and end, or JSON"

// Parse reads a file of durations. The entry, which may be nil, says where JSON has the
// times of its job. Where the file names the Tasks that polled, only one counts, or all
// if it is empty.
func Parse(text []byte, e *catalog.Entry, only string) (*Jobs, error) {
	p := &Jobs{Only: only}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if err := checkText(text); err != nil {
		return nil, err
	}
	var err error
	switch first := bytes.TrimLeft(text, " \t\r\n"); {
	case len(first) == 0:
		err = fmt.Errorf("the file is empty: expected %s", durationsWanted)
	case first[0] == '{' || first[0] == '[':
		err = p.readJSON(text, e)
	default:
		err = p.readLines(text)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkText refuses what is no text.
func checkText(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16 text, as PowerShell's > writes it: save it as UTF-8")
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		return errors.New("the file is compressed: unpack it, such as with gunzip -c FILE | jobpoller plan --durations -")
	}
	at := bytes.IndexByte(text, 0)
	if at < 0 && utf8.Valid(text) {
		return nil
	}
	for i := 0; at < 0; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			at = i
		}
		i += size
	}
	return fmt.Errorf("line %d: the file is not text: it has the byte 0x%02x. Expected %s", lineAt(text, int64(at)), text[at], durationsWanted)
}

// readLines reads durations as lines, or as CSV if the first line has a comma, a
// semicolon or a tab. Lines that begin with # are comments.
func (p *Jobs) readLines(text []byte) error {
	n := 0
	for raw := range bytes.Lines(text) {
		if n++; len(raw) > mostLineBytes {
			return fmt.Errorf("line %d has more than %d KiB: expected %s", n, mostLineBytes>>10, durationsWanted) //nolint:mnd // a KiB
		}
		line := strings.TrimSpace(string(raw))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if at := strings.IndexAny(line, ",;\t"); at >= 0 && len(p.Ended) == 0 {
			return p.readCSV(text, rune(line[at]))
		}
		if line[0] == '"' && len(p.Ended) == 0 {
			return p.readCSV(text, ',') // of one column
		}
		if len(p.Ended) == 0 && columnOf(line) != noColumn {
			return p.readCSV(text, ',') // a heading of one column
		}
		d, err := parseTaken(line)
		if err == nil {
			err = p.add(d, d)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// notEnded is why a job that runs, or whose end nobody saw, does not count.
const notEnded = "without an end"

// clockForm is how spreadsheets write a duration: hours, minutes and seconds.
var clockForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,5}):([0-5]\d):([0-5]\d(?:\.\d+)?)$`) })

// parseTaken reads a duration: 15m3s, 0:15:03, or a number of seconds.
func parseTaken(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if isNumber := err == nil || errors.Is(err, strconv.ErrRange); isNumber && !math.IsNaN(seconds) && !strings.ContainsAny(text, "xXpP_iI") {
		switch {
		case seconds < -asl.MaxStandardTime.Seconds():
			return 0, fmt.Errorf("a duration must not be negative, is %s s", terminal.Excerpt(text))
		case seconds > asl.MaxStandardTime.Seconds():
			return 0, fmt.Errorf("a duration must be at most 365 days, is %s s", terminal.Excerpt(text))
		}
		return time.Duration(math.Round(seconds * float64(time.Second))), nil
	}
	if clock := clockForm().FindStringSubmatch(text); clock != nil {
		text = clock[1] + "h" + clock[2] + "m" + clock[3] + "s"
	}
	d, err := timespan.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("expected a duration such as 15m3s or 903 (seconds), found %q", terminal.Excerpt(text))
	}
	return d, nil
}

// layouts are how files write times. One without a zone is in UTC.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05", time.DateTime,
}

// parseMoment reads a time, or a number of seconds or milliseconds since 1970 that is
// longer than a job can take.
func parseMoment(text string) (time.Time, error) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	const milliseconds, most = 1e11, 4e12 // from 1973 as milliseconds, to the year 5138 as seconds
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > asl.MaxStandardTime.Seconds() && n < most {
		if n < milliseconds {
			n *= 1000
		}
		return time.UnixMicro(int64(math.Round(n * 1000))).UTC(), nil //nolint:mnd // milliseconds
	}
	return time.Time{}, fmt.Errorf("expected a time such as 2026-11-23T01:15:00Z, found %q", terminal.Excerpt(text))
}

// Seconds is the time.Duration of a number of them, or the nearest there is.
func Seconds(s float64) time.Duration {
	if most := float64(math.MaxInt64 / int64(time.Second)); math.Abs(s) >= most {
		return time.Duration(math.Copysign(most, s)) * time.Second
	}
	return time.Duration(s * float64(time.Second))
}
