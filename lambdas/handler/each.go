package handler

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// each calls do for 0 to n-1, several at once, and failed where that panics: what is odd
// about one job must not fail the others.
func each(n, atOnce int, do func(i int), failed func(i int, err error)) {
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range min(n, atOnce) {
		wg.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
				if err := contain(func() { do(i) }); err != nil {
					failed(i, err)
				}
			}
		})
	}
	wg.Wait()
}

// contain calls do. Its error is a panic of do.
func contain(do func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	do()
	return nil
}

// panicError is a panic. Its text may quote a job's data, its stack does not.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }
