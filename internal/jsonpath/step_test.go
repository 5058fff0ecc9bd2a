package jsonpath_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// A filter tells which members it reads of each value, if it reads nothing else, and whether it keeps a value.
func TestStepOfFilter(t *testing.T) {
	t.Parallel()
	job := map[string]any{"Status": "FAILED", "Container": map[string]any{"Reason": "x"}}
	for path, want := range map[string]struct {
		reads [][]string
		keeps bool
	}{
		"$[?(@.Status=='FAILED')]":                            {[][]string{{"Status"}}, true},
		"$[?('RUNNING'==@.Status)]":                           {[][]string{{"Status"}}, false},
		"$[?(@.Container.Reason=='x')]":                       {[][]string{{"Container", "Reason"}}, true},
		"$[?(@.Container)]":                                   {[][]string{{"Container"}}, true},
		"$[?(!(@.Status=='FAILED') || @.Other)]":              {[][]string{{"Status"}, {"Other"}}, false},
		"$[?(@.Status=='FAILED' && @.Container.Reason=='x')]": {[][]string{{"Status"}, {"Container", "Reason"}}, true},
		"$[?(@.Status==$.Status)]":                            {nil, false},
		"$[?(@..Reason)]":                                     {nil, false},
		"$[?(@.Container[*])]":                                {nil, false},
		"$[?(@.Status in ['FAILED','STOPPED'])]":              {[][]string{{"Status"}}, true},
	} {
		steps := parse(t, path).Steps()
		last := steps[len(steps)-1]
		require.Equal(t, jsonpath.StepFilter, last.Kind, path)
		reads, ok := last.Reads()
		require.Equal(t, want.reads != nil, ok, path)
		require.Equal(t, want.reads, reads, path)
		if ok {
			require.Equal(t, want.keeps, last.Keeps(job), path)
		}
	}
	name := parse(t, "$.a").Steps()[0]
	_, ok := name.Reads()
	require.False(t, ok)
	require.False(t, name.Keeps(job))
}
