package jsontree

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"
)

// The readers below read the types of the Smithy data model as people write
// them in JSON.

// Integer reads a whole number of that many bits, in any spelling.
func (r *Reader) Integer(to *int64, bits int) func(*Node) {
	return func(n *Node) {
		v, ok := integer(n, bits)
		if !ok {
			r.Report(n.Problem("expected a whole number of %d bits, found %s", bits, r.describe(n)))
			return
		}
		*to = v
	}
}

// Float reads a number of that many bits.
func (r *Reader) Float(to *float64, bits int) func(*Node) {
	return func(n *Node) {
		v, err := strconv.ParseFloat(n.Text, bits)
		if n.Kind != Number || err != nil {
			r.Report(n.Problem("expected a number of %d bits, found %s", bits, r.describe(n)))
			return
		}
		*to = v
	}
}

// Blob reads bytes in base64.
func (r *Reader) Blob(to *[]byte) func(*Node) {
	return func(n *Node) {
		v, err := base64.StdEncoding.Strict().DecodeString(n.Text)
		if n.Kind != String || err != nil {
			r.Report(n.Problem("expected a blob in base64, found %s", r.describe(n)))
			return
		}
		*to = v
	}
}

// Timestamp reads RFC 3339 or epoch seconds, as far as AWS protocols can send
// it: whole milliseconds of the years that RFC 3339 can write.
func (r *Reader) Timestamp(to *time.Time) func(*Node) {
	return func(n *Node) {
		var v time.Time
		var err error
		switch n.Kind {
		case String:
			v, err = time.Parse(time.RFC3339, n.Text)
		case Number:
			v, err = epochSeconds(n.Text)
		default:
			err = strconv.ErrSyntax
		}
		v = v.UTC()
		switch {
		case err != nil, v.Year() < 1, v.Year() > 9999:
			r.Report(n.Problem("expected a timestamp (RFC 3339 or epoch seconds), found %s", r.describe(n)))
		case v.Nanosecond()%int(time.Millisecond) != 0:
			r.Report(n.Problem("expected a timestamp of whole milliseconds, found %s", r.describe(n)))
		default:
			*to = v
		}
	}
}

func epochSeconds(text string) (time.Time, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	whole, fraction := math.Modf(seconds)
	if err == nil && math.Abs(whole) >= 1<<53 {
		err = strconv.ErrRange
	}
	if err != nil {
		return time.Time{}, err
	}
	// A float64 of this size is exact to a tenth of a millisecond.
	return time.Unix(int64(whole), int64(math.Round(fraction*1e4))*1e5), nil
}
