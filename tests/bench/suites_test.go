//go:build !e2e

package bench_test

import (
	"context"
	"errors"
	"io"
)

// measureSuites needs the tests that start programs.
func measureSuites(context.Context, io.Writer, string) error {
	return errors.New("-suites needs the tag e2e: run make bench-suites")
}
