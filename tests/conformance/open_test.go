package conformance_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fieldCase is a case with what comes instead, empty if it passes.
type fieldCase struct{ aspect, instead string }

// compareOpen fails when a case of an open list passes, and when another does not. The
// list has machine, aspect and what comes instead.
func compareOpen(t *testing.T, file string, said map[string][]fieldCase) result {
	t.Helper()
	open := map[string]bool{}
	for _, v := range readTable(t, file, 3) {
		open[v[0]+"\t"+v[1]] = true
	}
	r := result{failures: map[string]string{}}
	left, clean := "machine\taspect\tinstead\n", 0
	for _, name := range slices.Sorted(maps.Keys(said)) {
		r.total += len(said[name])
		if !slices.ContainsFunc(said[name], func(c fieldCase) bool { return c.instead != "" }) {
			clean++
		}
		for _, c := range said[name] {
			key := name + "\t" + c.aspect
			switch {
			case c.instead != "" && !open[key]:
				r.failures[name+": "+c.aspect] = c.instead
			case c.instead != "":
				left += key + "\t" + c.instead + "\n"
			case open[key] && !*update:
				r.failures[name+": "+c.aspect] = "passes: remove it from " + file + ", or go test -update"
			}
			delete(open, key)
		}
	}
	require.Empty(t, open, "%s lists what is no case", file)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(left), 0o600))
	}
	notYet := strings.Count(left, "\n") - 1
	r.headline = fmt.Sprintf("passed %d of %d; all of %d of %d machines and pairs", r.total-notYet-len(r.failures), r.total, clean, len(said))
	return r
}
