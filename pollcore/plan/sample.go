package plan

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Sample is how long one job took: between From and To. Both are the same where the
// service says when the job started and ended. Where only polls saw the end, From is
// the time of the last poll before it and To of the first one after it.
type Sample struct{ From, To time.Duration }

// Forever is the end of a [Sample] of a job that still ran at From.
const Forever = time.Duration(math.MaxInt64)

// Exactly is the sample of a job of a known duration.
func Exactly(d time.Duration) Sample { return Sample{d, d} }

// ErrNoSamples is the error for no samples at all.
var ErrNoSamples = errors.New("no durations to learn from")

// SampleError is a sample that cannot be.
type SampleError struct {
	Index  int // of the sample
	Sample Sample
}

// Error says which sample it is, counted from 1, and what is wrong with it.
func (e *SampleError) Error() string {
	if e.Sample.From < 0 {
		return fmt.Sprintf("duration %d is negative: %s", e.Index+1, e.Sample.From)
	}
	return fmt.Sprintf("duration %d is at least %s and at most %s: expected the shorter one first", e.Index+1, e.Sample.From, e.Sample.To)
}

// checkSamples reports the first sample that cannot be.
func checkSamples(samples []Sample) error {
	if len(samples) == 0 {
		return ErrNoSamples
	}
	for i, s := range samples {
		if s.From < 0 || s.To < s.From {
			return &SampleError{i, s}
		}
	}
	return nil
}
