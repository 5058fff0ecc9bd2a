//go:build !e2e

package bench_test

import (
	"context"
	"errors"
	"io"
)

func measureSuites(context.Context, io.Writer, string) error {
	return errors.New("-suites starts programs: pass -tags e2e, too")
}
