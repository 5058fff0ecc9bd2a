package server

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"time"
)

// epoch is a time as answers have it: seconds since 1970 with milliseconds.
type epoch time.Time

// IsZero tells whether there is no time, for omitzero.
func (e epoch) IsZero() bool { return time.Time(e).IsZero() }

// MarshalJSON implements json.Marshaler.
func (e epoch) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Time(e).UnixMilli())/1000, 'f', 3, 64), nil
}

// empty is the answer of an operation that has nothing to say.
type empty struct{}

// newUUID makes the name of something that nobody has named.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
