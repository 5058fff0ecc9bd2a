package jsonata_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// FuzzEval: nothing panics, a result is a JSON value, and inputs stay as they
// are.
func FuzzEval(f *testing.F) {
	for _, text := range []string{
		"$states.result.Jobs[Status='FAILED'].Status", "($f := function($x) { $x }; $f(1))", "/a(b)/i ~> $string",
		"$states.input ~> |$states.input.object|{'c': 1}, 'a'|", "a.b#$i.(c@$d.%.$i)", "[1..3]^(>$){$string(): $}",
		"$range(0, 9, 3) ~> $partition(2)", `$parse('{"a":1}').a & $hash('x', 'MD5')`, "λ($n)<n:n>{$n}(4)",
		"$now('[Y0001]', '+0100') & $random(1) & $uuid()", "**.*[-1]", "$sum($map(?, $f))", "'\\u0041' & `a b`",
	} {
		f.Add(text, states)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		if len(text) > 1000 || len(data) > 1000 || !json.Valid([]byte(data)) {
			return
		}
		e, err := jsonata.Compile(text)
		if err != nil {
			return
		}
		for _, r := range e.Variables() {
			require.Equal(t, "$"+r.Name, text[r.Offset:r.Offset+1+len(r.Name)])
		}
		env := environment(t)
		env.Variables["states"] = decode(t, data)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		v, err := e.Eval(ctx, env)
		require.Equal(t, decode(t, data), env.Variables["states"])
		if err != nil {
			require.NotEmpty(t, e.Cause("Output", err))
			return
		}
		require.Equal(t, encode(t, v), encode(t, decode(t, encode(t, v))))
	})
}
