package jmespath_test

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// The race detector finds programs that see a type before all of it is described.
func TestCompileForNewTypeAtOnce(t *testing.T) {
	t.Parallel()
	expr, err := jmespath.Parse("F0.F.F")
	require.NoError(t, err)
	for n := range 10 {
		fields := make([]reflect.StructField, 300)
		for i := range fields {
			list := reflect.ArrayOf(len(fields)*n+i+2, reflect.TypeFor[string]())
			inner := reflect.StructOf([]reflect.StructField{{Name: "F", Type: list}})
			outer := reflect.StructOf([]reflect.StructField{{Name: "F", Type: inner}})
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: outer}
		}
		whole := reflect.StructOf(fields)
		var all sync.WaitGroup
		var found [50]diag.Problems
		for i := range found {
			all.Go(func() {
				for range 200 * i { // so that some come while the type is being described
					runtime.Gosched()
				}
				_, found[i] = expr.Compile(whole)
			})
		}
		all.Wait()
		for _, findings := range found {
			require.Empty(t, findings)
		}
	}
}
