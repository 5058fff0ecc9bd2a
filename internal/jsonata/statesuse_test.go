package jsonata_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// What an expression may read of $states is never less than what it reads.
func TestReadsStates(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]struct{ data, whole bool }{
		`$n + 1`:                {false, false},
		`$millis() < $deadline`: {false, false},
		`$states.input.a = 1`:   {true, false},
		`$states.result[0] & $states.input.states`:    {true, true},
		`$states.errorOutput.Cause`:                   {true, false},
		`$map($states.input.a, function($x){ $x.b })`: {true, false},
		`$states.context.State.RetryCount`:            {true, true},
		`$states`:                                     {true, true},
		`$lookup($states, 'con' & 'text')`:            {true, true},
		`$states.*`:                                   {true, true},
		`$states . input`:                             {true, true},
		"$states.`context`.State":                     {true, true},
		`$states.input.%.context`:                     {true, true},
		`($s := $states; $s.context)`:                 {true, true},
	} {
		e, err := jsonata.Compile(expression)
		require.NoError(t, err, expression)
		data, whole := e.ReadsStates()
		require.Equal(t, want.data, data, expression)
		require.Equal(t, want.whole, whole, expression)
	}
}
