package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// What plan reads of a file at most.
const (
	mostDurationBytes = 64 << 20
	mostLineBytes     = 1 << 20
	mostDurations     = 1_000_000
)

// pastJob is a job that has ended.
type pastJob struct {
	plan.Sample

	// late is how late its end was seen; nil if that is not known exactly.
	late *time.Duration
}

// pastJobs are jobs that have ended, and why others in the same source do not count.
type pastJobs struct {
	only string // the Task whose jobs count; empty for those of all
	jobs []pastJob
	left map[string]int // by the reason

	// hint says what else could be meant by the times of the source.
	hint string
	// namesTasks: the source says which Tasks polled.
	namesTasks bool
	// executions are the starts of the executions that the source names, by their ARNs.
	executions map[string]time.Time
}

// add takes in a job that took from one time to another.
func (p *pastJobs) add(from, to time.Duration) error {
	return p.addJob(pastJob{Sample: plan.Sample{From: from, To: to}})
}

func (p *pastJobs) addJob(j pastJob) error {
	switch {
	case j.From < 0 || j.To < 0:
		return fmt.Errorf("a duration must not be negative, is %s", kit.ShortDuration(min(j.From, j.To)))
	case j.To < j.From:
		return fmt.Errorf("the longest time (%s) must not be below the shortest (%s)", kit.ShortDuration(j.To), kit.ShortDuration(j.From))
	case j.To > asl.MaxStandardTime:
		return fmt.Errorf("a duration must be at most 365 days, is %s", kit.ShortDuration(j.To))
	case len(p.jobs) == mostDurations:
		return fmt.Errorf("there are more than %d durations: pass some of them", mostDurations)
	}
	p.jobs = append(p.jobs, j)
	return nil
}

// addTimes takes in a job by the times of its start and end. Services cut these to
// seconds: a job of no time took less than one. Times in the wrong order are of two runs
// of one resource, or of clocks that were set back.
func (p *pastJobs) addTimes(start, end time.Time) error {
	switch took := end.Sub(start); {
	case took < 0:
		p.leave("with an end before the start")
		return nil
	case took == 0:
		return p.add(0, time.Second)
	default:
		return p.add(took, took)
	}
}

// leave counts a job that says nothing, with the reason.
func (p *pastJobs) leave(reason string) { p.leaveMany(reason, 1) }

func (p *pastJobs) leaveMany(reason string, n int) {
	if p.left == nil {
		p.left = map[string]int{}
	}
	p.left[reason] += n
}

// leaveOther leaves out a job that another Task polled than the one that counts.
func (p *pastJobs) leaveOther(state string) bool {
	p.namesTasks = true
	isOther := p.only != "" && state != p.only
	if isOther {
		p.leave("of other Tasks than " + p.only)
	}
	return isOther
}

// samples are how long the jobs took.
func (p *pastJobs) samples() []plan.Sample {
	all := make([]plan.Sample, len(p.jobs))
	for i, j := range p.jobs {
		all[i] = j.Sample
	}
	return all
}

// notes say what does not count.
func (p *pastJobs) notes() []string {
	const most = 10 // a file may name many
	var notes []string
	if p.hint != "" {
		notes = append(notes, p.hint)
	}
	for i, reason := range slices.Sorted(maps.Keys(p.left)) {
		if i == most {
			return append(notes, fmt.Sprintf("left out: jobs for %d more reasons", len(p.left)-most))
		}
		notes = append(notes, fmt.Sprintf("left out: %s %s", kit.Plural(p.left[reason], "job"), reason))
	}
	return notes
}

// durationsWanted says what a file of durations may hold.
const durationsWanted = "a duration a line such as 15m3s or 903 (seconds), CSV with the columns start and end, or JSON"

// readDurations reads a file of durations. The entry, which may be nil, says where JSON
// has the times of its job. Where the file names the Tasks that polled, only one counts,
// or all if it is empty.
func readDurations(name string, in io.Reader, e *catalog.Entry, only string) (*pastJobs, error) {
	text, err := readAtMost(name, in, mostDurationBytes)
	if err != nil {
		return nil, err
	}
	p := &pastJobs{only: only}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if err := checkText(text); err != nil {
		return nil, terminal.Errorf("%s: %w", name, err)
	}
	switch first := bytes.TrimLeft(text, " \t\r\n"); {
	case len(first) == 0:
		err = fmt.Errorf("the file is empty: expected %s", durationsWanted)
	case first[0] == '{' || first[0] == '[':
		err = p.readJSON(text, e)
	default:
		err = p.readLines(text)
	}
	if err != nil {
		return nil, terminal.Errorf("%s: %w", name, err)
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

// readAtMost reads a file, or the standard input, of so many bytes.
func readAtMost(name string, in io.Reader, most int64) (text []byte, err error) {
	if name != kit.Stdin {
		f, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, terminal.Errorf("%s is a folder: pass a file", name)
		}
		in = f
	}
	text, err = io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = terminal.Errorf("%s has more than %d MiB: pass fewer durations", name, most>>20) //nolint:mnd // a MiB
	}
	return text, err
}

// readLines reads durations as lines, or as CSV if the first line has a comma, a
// semicolon or a tab. Lines that begin with # are comments.
func (p *pastJobs) readLines(text []byte) error {
	n := 0
	for raw := range bytes.Lines(text) {
		if n++; len(raw) > mostLineBytes {
			return fmt.Errorf("line %d has more than %d KiB: expected %s", n, mostLineBytes>>10, durationsWanted) //nolint:mnd // a KiB
		}
		line := strings.TrimSpace(string(raw))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if at := strings.IndexAny(line, ",;\t"); at >= 0 && len(p.jobs) == 0 {
			return p.readCSV(text, rune(line[at]))
		}
		if line[0] == '"' && len(p.jobs) == 0 {
			return p.readCSV(text, ',') // of one column
		}
		if len(p.jobs) == 0 && columnOf(line) != noColumn {
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

// column is what a column of a CSV file, or a member of a JSON object, says of a job.
type column int

const (
	noColumn column = iota
	startColumn
	endColumn
	durationColumn
	fromColumn // the least that a job took
	toColumn
	lateColumn
)

// columns are the names of columns and members, without case, "_", "-" and spaces.
var columns = map[string]column{
	"start": startColumn, "started": startColumn, "startedat": startColumn, "startedon": startColumn, "starttime": startColumn,
	"startdate": startColumn, "startdatetime": startColumn, "begin": startColumn, "submitted": startColumn, "submittedat": startColumn,
	"submittime": startColumn, "submissiontime": startColumn, "submissiondatetime": startColumn,
	"end": endColumn, "ended": endColumn, "endedat": endColumn, "endedon": endColumn, "endtime": endColumn, "enddate": endColumn,
	"enddatetime": endColumn, "stop": endColumn, "stopped": endColumn, "stoppedat": endColumn, "stoptime": endColumn, "stopdate": endColumn,
	"completed": endColumn, "completedat": endColumn, "completedon": endColumn, "completiontime": endColumn, "completiondate": endColumn,
	"completiondatetime": endColumn, "finished": endColumn, "finishedat": endColumn, "finishtime": endColumn,
	"duration": durationColumn, "seconds": durationColumn, "durationseconds": durationColumn, "elapsed": durationColumn,
	"fromseconds": fromColumn, "toseconds": toColumn, "lateseconds": lateColumn,
}

var withoutMarks = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

func columnOf(name string) column { return columns[strings.ToLower(withoutMarks.Replace(name))] }

// readCSV reads a table: with a heading, or else a column of durations, or two columns of
// times, or two of durations between which the job ended.
func (p *pastJobs) readCSV(text []byte, comma rune) error {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace, r.ReuseRecord = comma, '#', -1, true, true
	var heading []column
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("line %d, column %d: not CSV: %w", parse.Line, parse.Column, parse.Err)
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if first {
			if heading, err = readHeading(record); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			if columnOf(record[slices.IndexFunc(heading, func(c column) bool { return c != noColumn })]) != noColumn {
				continue
			}
		}
		if err := p.addRow(heading, func(i int) string {
			if i < len(record) {
				return strings.TrimSpace(record[i])
			}
			return ""
		}); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// readHeading says what the columns of a table are, by its first row.
func readHeading(record []string) ([]column, error) {
	heading := make([]column, len(record))
	has := map[column]bool{}
	for i, name := range record {
		if c := columnOf(name); c != noColumn && !has[c] {
			heading[i], has[c] = c, true
		}
	}
	switch {
	case has[startColumn] && has[endColumn] || has[durationColumn] || has[fromColumn] && has[toColumn]:
		return heading, nil
	case len(has) > 0:
		return nil, fmt.Errorf("expected the columns start and end, or duration, found %s", cutText(strings.Join(record, ", ")))
	}
	isTime, isDuration := 0, 0
	for _, text := range record {
		if _, err := parseMoment(text); err == nil {
			isTime++
		} else if _, err := parseTaken(text); err == nil {
			isDuration++
		}
	}
	switch {
	case len(record) == 2 && isTime == 2: //nolint:mnd // start and end
		return []column{startColumn, endColumn}, nil
	case len(record) == 2 && isDuration == 2: //nolint:mnd // shortest and longest
		return []column{fromColumn, toColumn}, nil
	case len(record) == 1 && isDuration == 1:
		return []column{durationColumn}, nil
	}
	return nil, fmt.Errorf("expected two times (start and end), or a heading with the columns start and end, or duration, found %s",
		cutText(strings.Join(record, ", ")))
}

// addRow takes in a row of a table. A row without an end is of a job that runs.
func (p *pastJobs) addRow(heading []column, cell func(int) string) error {
	texts := map[column]string{}
	for i, c := range heading {
		if c != noColumn {
			texts[c] = cell(i)
		}
	}
	switch {
	case texts[durationColumn] != "":
		d, err := parseTaken(texts[durationColumn])
		if err != nil {
			return err
		}
		return p.add(d, d)
	case texts[fromColumn] != "" && texts[toColumn] != "":
		from, err := parseTaken(texts[fromColumn])
		if err != nil {
			return err
		}
		to, err := parseTaken(texts[toColumn])
		if err != nil {
			return err
		}
		return p.add(from, to)
	case texts[startColumn] != "" && texts[endColumn] != "":
		start, err := parseMoment(texts[startColumn])
		if err != nil {
			return err
		}
		end, err := parseMoment(texts[endColumn])
		if err != nil {
			return err
		}
		return p.addTimes(start, end)
	}
	p.leave(notEnded)
	return nil
}

// notEnded is why a job that runs, or whose end nobody saw, does not count.
const notEnded = "without an end"

// clockForm is how spreadsheets write a duration: hours, minutes and seconds.
var clockForm = regexp.MustCompile(`^(\d{1,5}):([0-5]\d):([0-5]\d(?:\.\d+)?)$`)

// parseTaken reads a duration: 15m3s, 0:15:03, or a number of seconds.
func parseTaken(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if isNumber := err == nil || errors.Is(err, strconv.ErrRange); isNumber && !math.IsNaN(seconds) && !strings.ContainsAny(text, "xXpP_iI") {
		switch {
		case seconds < -asl.MaxStandardTime.Seconds():
			return 0, fmt.Errorf("a duration must not be negative, is %s s", cutText(text))
		case seconds > asl.MaxStandardTime.Seconds():
			return 0, fmt.Errorf("a duration must be at most 365 days, is %s s", cutText(text))
		}
		return time.Duration(math.Round(seconds * float64(time.Second))), nil
	}
	if clock := clockForm.FindStringSubmatch(text); clock != nil {
		text = clock[1] + "h" + clock[2] + "m" + clock[3] + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("expected a duration such as 15m3s or 903 (seconds), found %q", cutText(text))
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
	return time.Time{}, fmt.Errorf("expected a time such as 2026-11-23T01:15:00Z, found %q", cutText(text))
}

// cutText keeps a message short, whatever a file holds.
func cutText(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
