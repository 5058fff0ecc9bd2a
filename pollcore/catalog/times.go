package catalog

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// TimesOf returns the times of a job as they stand in an item of the list, or where
// Describe is set in the answer of the describe call; zero where one is missing.
func (j *Job) TimesOf(answer any) (start, end time.Time, err error) {
	from, to := j.StartTime, j.EndTime
	if j.List != nil && j.List.Start != "" {
		from, to = j.List.Start, j.List.End
	}
	if start, err = timeAt(from, answer); err != nil {
		return time.Time{}, time.Time{}, err
	}
	end, err = timeAt(to, answer)
	return start, end, err
}

func timeAt(path string, answer any) (time.Time, error) {
	value, err := search(path, answer)
	if err != nil || value == nil {
		return time.Time{}, err
	}
	at, err := ParseTime(value)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", path, err)
	}
	return at, nil
}

// ParseTime reads a time of a job in an answer of its service: an RFC 3339 text, or the
// number of milliseconds since 1970 where the model has no timestamp.
func ParseTime(value any) (time.Time, error) {
	switch v := value.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return at, nil
		}
	case json.Number:
		if n, err := v.Float64(); err == nil {
			return ParseTime(n)
		}
	case float64:
		if math.Abs(v) < year10000 {
			return time.UnixMilli(int64(v)).UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("expected a time, found %.40q", fmt.Sprint(value))
}

const year10000 = 253402300800000 // in milliseconds since 1970
