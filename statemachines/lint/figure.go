package lint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pause writes a delay: "5 s", "10 min".
func pause(d time.Duration) string {
	if d >= 2*time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", int(d/time.Minute))
	}
	return sayNumber(d.Seconds()) + " s"
}

// span writes a time: "3 days", "80h0m", "3h51m", "4m55s", "45s".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch minutes := d.Round(time.Minute); {
	case d >= 2*day && minutes%day == 0:
		return fmt.Sprintf("%d days", minutes/day)
	case d >= time.Hour:
		return strings.TrimSuffix(minutes.String(), "0s")
	default:
		text := d.Round(time.Second).String()
		if d >= time.Minute && strings.HasSuffix(text, "m0s") {
			return strings.TrimSuffix(text, "0s")
		}
		return text
	}
}

// dollars writes a cost.
func dollars(usd float64) string {
	if usd > 0 && usd < 0.005 {
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// sayNumber writes a number without an exponent.
func sayNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// list writes values for people.
func list(values []string) string { return join(values, "and") }

// join lists values with a word before the last.
func join(values []string, word string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:len(values)-1], ", ") + " " + word + " " + values[len(values)-1]
}

// quoteAll lists names in quotes, and quoteAny lists names of which one counts.
func quoteAll(names []string) string { return join(quoteEach(names), "and") }
func quoteAny(names []string) string { return join(quoteEach(names), "or") }

func quoteEach(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strconv.Quote(name)
	}
	return all
}
