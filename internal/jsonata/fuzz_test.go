//go:build unix

package jsonata_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/tests/processortest"
	"github.com/jobpoller/jobpoller/tests/race"
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
		v, err := e.Eval(t.Context(), env)
		require.Equal(t, decode(t, data), env.Variables["states"])
		if err != nil {
			require.NotEmpty(t, e.Cause("Output", err))
			return
		}
		require.Equal(t, encode(t, v), encode(t, decode(t, encode(t, v))))
	})
}

// Bounds of one expression. The processor time is a guard against what the
// budget does not count: the budget itself ends an evaluation in half a second.
const (
	maxProcessorTime = 2 * time.Second
	maxUnderRace     = 20 * time.Second
	maxLiveBytes     = 256 << 20
)

// FuzzBudget evaluates expressions of the grammar. None takes more than its
// budget of processor time or live memory, panics, or shows an error of Go.
func FuzzBudget(f *testing.F) {
	for i := range 16 {
		seed := make([]byte, 64)
		for j := range seed {
			seed[j] = byte(i*31 + j*(7+i%13))
		}
		f.Add(seed)
	}
	live := watchLiveBytes()
	f.Fuzz(func(t *testing.T, bytes []byte) { requireBudget(t, bytes, live) })
}

// expressions is how many random expressions are evaluated.
var expressions = flag.Int("expressions", race.Of(50, 10), "random expressions of the grammar to evaluate")

// The same without the fuzzer's instruments, which make an evaluation slow.
//
//nolint:paralleltest // it measures the process
func TestRandomExpressionsStayInTheirBudget(t *testing.T) {
	live := watchLiveBytes()
	random := rand.New(rand.NewPCG(1, 2))
	most, slowest := time.Duration(0), ""
	for range *expressions {
		bytes := make([]byte, 20+random.IntN(200))
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		if spent, text := requireBudget(t, bytes, live); spent > most {
			most, slowest = spent, text
		}
	}
	t.Logf("%d expressions, the slowest took %v: %s", *expressions, most, slowest)
}

// requireBudget evaluates an expression of the grammar.
func requireBudget(t *testing.T, bytes []byte, live *atomic.Int64) (spent time.Duration, text string) {
	t.Helper()
	text = (&grammar{bytes: bytes}).expression()
	e, err := jsonata.Compile(text)
	if err != nil {
		requireOwnWords(t, text, err.Error())
		return 0, text
	}
	env := environment(t)
	live.Store(0)
	started := processortest.Time(t)
	v, err := e.Eval(t.Context(), env)
	spent = processortest.Time(t) - started
	require.Less(t, spent, race.Of(maxProcessorTime, maxUnderRace), text)
	require.Less(t, live.Load(), int64(maxLiveBytes), text)
	require.Equal(t, environment(t).Variables, env.Variables, text)
	if err != nil {
		requireOwnWords(t, text, e.Cause("Output", err))
		return spent, text
	}
	encode(t, v)
	return spent, text
}

// requireOwnWords refuses texts of the Go runtime.
func requireOwnWords(t *testing.T, expression, message string) {
	t.Helper()
	for _, word := range []string{"runtime error", "makeslice", "goroutine", "failed inside", "interface conversion", "nil pointer", "%!"} {
		require.False(t, strings.Contains(message, word) && !strings.Contains(expression, word), "%s: %s", expression, message)
	}
}

// watchLiveBytes keeps the most bytes that a collection of garbage has left
// alive.
func watchLiveBytes() *atomic.Int64 {
	var most atomic.Int64
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	type sentinel struct{ _ [64]byte }
	var watch func(*sentinel)
	watch = func(*sentinel) {
		metrics.Read(sample)
		most.Store(max(most.Load(), int64(sample[0].Value.Uint64())))
		runtime.SetFinalizer(&sentinel{}, watch)
	}
	runtime.SetFinalizer(&sentinel{}, watch)
	return &most
}
