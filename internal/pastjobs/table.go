package pastjobs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

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
func (p *Jobs) readCSV(text []byte, comma rune) error {
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
		return nil, fmt.Errorf("expected the columns start and end, or duration, found %s", terminal.Excerpt(strings.Join(record, ", ")))
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
		terminal.Excerpt(strings.Join(record, ", ")))
}

// addRow takes in a row of a table. A row without an end is of a job that runs.
func (p *Jobs) addRow(heading []column, cell func(int) string) error {
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
	p.Leave(notEnded)
	return nil
}
