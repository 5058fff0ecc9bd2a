// Package timespan reads times as people write them: 90s, 2h, 10d.
package timespan

import (
	"errors"
	"math"
	"strings"
	"time"
)

const hoursOfDay = 24

var errForm = errors.New("not a time span")

// Parse reads a time as [time.ParseDuration] does, with days of 24 hours in front: 10d,
// 1.5d, 1d12h.
func Parse(text string) (time.Duration, error) {
	sign, unsigned := 1, text
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		if unsigned = text[1:]; text[0] == '-' {
			sign = -1
		}
	}
	number, rest, ok := strings.Cut(unsigned, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	if strings.Trim(number, "0123456789.") != "" {
		return 0, errForm
	}
	hours, err := time.ParseDuration(number + "h") // days read as hours
	if err != nil || hours > math.MaxInt64/hoursOfDay {
		return 0, errForm
	}
	days := hoursOfDay * hours
	others, err := time.ParseDuration("0s" + rest)
	if err != nil || others > math.MaxInt64-days {
		return 0, errForm
	}
	return time.Duration(sign) * (days + others), nil
}
