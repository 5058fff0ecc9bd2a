package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/race"
)

// randomText is text that does not compress well.
func randomText(r *rand.Rand, n int) string {
	var out strings.Builder
	for out.Len() < n {
		fmt.Fprintf(&out, "%x \"é\n", r.Uint64())
	}
	return out.String()
}

// A history gives the same events after it has packed its payloads, and goes on.
func TestPackedEventsAreTheSame(t *testing.T) {
	t.Parallel()
	for seed := range race.Of[uint64](40, 8) {
		r := rand.New(rand.NewPCG(seed, 2))
		var h, same history
		var k packer
		for range 300 {
			d := randomDetails(r)
			if r.IntN(3) == 0 {
				d.Output = newPayload(map[string]any{"text": randomText(r, r.IntN(30_000)), "n": json.Number("1.50")})
			}
			if r.IntN(5) == 0 {
				d.AssignedVariables = map[string]*Payload{"large": d.Output, "small": newPayload(true)}
				if d.Output == nil {
					d.AssignedVariables["large"] = newPayload([]any{randomText(r, 5_000)})
				}
			}
			kind := randomType(r)
			h.add(0, DefaultStart(), kind, d)
			same.add(0, DefaultStart(), kind, d)
			switch r.IntN(40) {
			case 0:
				h.pack(&k)
			case 1:
				h.seal(0, &k)
			case 2:
				keep := 1 + r.IntN(200)
				h.seal(keep, &k)
				same.seal(keep, nil)
			}
		}
		h.pack(&k)
		want, got := same.after(0, 0), h.after(0, 0)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, string(AppendEvent(nil, &want[i], EventFormat{})), string(AppendEvent(nil, &got[i], EventFormat{})))
			if e := want[i]; e.payload != nil {
				require.Equal(t, e.payload.Value(), got[i].payload.Value())
				require.Equal(t, string(e.payload.JSON()), string(got[i].payload.JSON()))
				require.Equal(t, e.payload.bytes(), got[i].payload.bytes())
			}
		}
	}
}

// Texts of all lengths come back, those of one byte repeated with them.
func TestPackedTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var k packer
	for _, n := range []int{0, 1, leastChunk - 3, leastChunk - 2, leastChunk - 1, leastChunk, mostChunk - 2, mostChunk - 1, mostChunk, 3 * mostChunk, 1_000_000} {
		for _, text := range []string{strings.Repeat("x", n), randomText(r, n)} {
			p := newPayload(text)
			small, _ := k.pack(p)
			require.Equal(t, text, small.Value())
			require.Equal(t, string(p.JSON()), string(small.JSON()))
		}
	}
}

// Payloads share what they have in common, wherever it is.
func TestPayloadsShareChunks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	large := randomText(r, 200_000)
	pack := func(k *packer, value any) int {
		_, added := k.pack(newPayload(value))
		return added
	}
	var k packer
	first := pack(&k, large)
	require.Greater(t, first, 50_000, "it does not compress to nothing")
	for name, value := range map[string]any{
		"again":         large,
		"in a state":    map[string]any{"a": "new", "input": large},
		"with an end":   large + "end",
		"cut":           large[1_000:],
		"with a middle": large[:100_000] + "middle" + large[100_000:],
	} {
		require.Less(t, pack(&k, value), first/5, name)
	}
}
