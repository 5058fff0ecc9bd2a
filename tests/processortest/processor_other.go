//go:build !unix

package processortest

import (
	"testing"
	"time"
)

var began = time.Now()

// Time is the time that has passed: who measures takes the best of several tries.
func Time(testing.TB) time.Duration { return time.Since(began) }

// PeakMemory is the most memory in bytes that this process has had; false where the system
// does not count it.
func PeakMemory(testing.TB) (bytes int64, ok bool) { return 0, false }
