//go:build !unix

package growthtest

import (
	"testing"
	"time"
)

var began = time.Now()

// processorTime is the time that has passed: the tests compare the best of several tries.
func processorTime(testing.TB) time.Duration { return time.Since(began) }
