package plan_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text            string
		mean, median    float64 // in seconds
		variation, over float64 // over: the share above the mean
	}{
		{"constant(10m)", 600, 600, 0, 0},
		{"uniform(15m, 30m)", 1350, 1350, 0.19245, 0.5},
		{" uniform ( 15m ,30m ) ", 1350, 1350, 0.19245, 0.5},
		{"exponential(20m)", 1200, 1200 * math.Ln2, 1, math.Exp(-1)},
		{"exp(20m)", 1200, 1200 * math.Ln2, 1, math.Exp(-1)},
		{"lognormal(15m,0.5)", 900 * math.Exp(0.125), 900, 0.53294, 0.40129},
		{"weibull(20m, 3)", 1200 * math.Gamma(4.0/3), 1200 * math.Pow(math.Ln2, 1.0/3), 0.36345, 0.49069},
		{"mix(75% constant(1m), 25% constant(61m))", 960, 60, 1.62380, 0.25},
		{"mix(50% uniform(1s, 3s), 50% uniform(2s, 4s))", 2.5, 2.5, 0.30551, 0.5},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			d := parse(t, tt.text)
			require.True(t, d.IsKnown())
			require.False(t, d.IsLearned())
			require.Equal(t, strings.TrimSpace(tt.text), d.String())
			require.InEpsilon(t, tt.mean, d.Mean().Seconds(), 1e-3)
			require.InEpsilon(t, tt.median, d.Quantile(0.5).Seconds(), 1e-3)
			require.InDelta(t, tt.variation, d.Variation(), 2e-3)
			require.InDelta(t, 1-tt.over, d.Below(d.Mean()+time.Millisecond), 1e-3)
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string
		column     int
	}{
		{"", `"" is not a distribution: expected constant, uniform, exponential, lognormal, weibull or mix`, 1},
		{"lognormel(15m, 0.5)", `did you mean "lognormal"?`, 1},
		{"lognormal(15m)", `expected ",", as in lognormal(15m, 0.5)`, 14},
		{"lognormal(15m, 0.5", `expected ")", as in lognormal(15m, 0.5)`, 19},
		{"lognormal 15m", `expected "(", as in lognormal(15m, 0.5)`, 11},
		{"lognormal(900, 0.5)", `"900" is not a duration above 0, as in lognormal(15m, 0.5)`, 11},
		{"lognormal(15m, wide)", `"wide" is not a number`, 16},
		{"lognormal(15m, NaN)", `"NaN" is not a number`, 16},
		{"lognormal(15m, 0)", "sigma must be between 0.001 and 5, got 0", 1},
		{"lognormal(15m, Inf)", "sigma must be between 0.001 and 5, got +Inf", 1},
		{"weibull(15m, 0.1)", "shape must be between 0.2 and 100, got 0.1", 1},
		{"constant(8761h)", "a duration must be at most 365 days, is 8761h", 10},
		{"constant(-1m)", `"-1m" is not a duration above 0`, 10},
		{"constant(1000000h1000000h1000000h)", "is not a duration", 10},
		{"uniform(30m, 15m)", "second duration must be above its first", 1},
		{"constant(1m) x", "expected the end", 14},
		{"mix(50% constant(1m), 40% constant(2m))", "add up to 90%, not to 100%", 1},
		{"mix(0.5 constant(1m))", `"0.5" is not a share above 0%`, 5},
		{"mix(200% constant(1m))", `"200%" is not a share above 0%`, 5},
		{"mix(100% mix(100% constant(1m)))", `"mix" is not a distribution`, 10},
		{"mix(" + strings.Repeat("1% constant(1m), ", 17) + ")", "at most 16 shapes", 0},
	}
	for _, tt := range tests {
		_, err := plan.Parse(tt.text)
		require.ErrorContains(t, err, tt.want, tt.text)
		var syntax *diag.SyntaxError
		require.ErrorAs(t, err, &syntax)
		if tt.column > 0 {
			require.Equal(t, tt.column, syntax.Problem().Column, tt.text)
		}
	}
}

// Whatever the text: an error, or a distribution that adds up.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"constant(10m)", "uniform(15m, 30m)", "exponential(20m)", "lognormal(15m, 0.5)", "weibull(20m, 3)", "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))",
		"lognormal(2540400h, 5)", "weibull(2540400h, 0.2)", "constant(1ns)", "uniform(1ns, 2ns)", "mix(50% constant(1ns), 50% constant(2540400h))", "weibull(1ns, 100)", "mix(",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := plan.Parse(text)
		if err != nil {
			require.ErrorAs(t, err, new(*diag.SyntaxError))
			return
		}
		requireSound(t, d)
	})
}

// requireSound checks that quantiles rise and shares add up.
func requireSound(t require.TestingT, d plan.Distribution) {
	before := time.Duration(0)
	for _, p := range []float64{0, 1e-9, 0.01, 0.5, 0.99, 1 - 1e-9, 1} {
		q := d.Quantile(p)
		if q == plan.Forever {
			return
		}
		require.GreaterOrEqual(t, q, before)
		require.GreaterOrEqual(t, d.Below(q+1), p-0.01)
		before = q
	}
	require.GreaterOrEqual(t, d.Mean(), d.Quantile(0)-1)
	require.LessOrEqual(t, d.Mean(), d.Quantile(1)+1)
	require.False(t, math.IsNaN(d.Variation()))
	require.False(t, math.IsNaN(d.Quantile(math.NaN()).Seconds()))
}

func TestNothingIsKnownOfTheZeroDistribution(t *testing.T) {
	t.Parallel()
	var d plan.Distribution
	require.False(t, d.IsKnown())
	require.Zero(t, d.Mean())
	require.Zero(t, d.Variation())
	require.Zero(t, d.Quantile(0.5))
	require.Zero(t, d.Below(time.Hour))
}

func TestQuantileAndBelowAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"uniform(15m, 30m)", "lognormal(15m, 0.5)", "weibull(20m, 0.7)", "mix(30% exponential(1m), 70% lognormal(1h, 1))"}).Draw(t, "text")
		d, err := plan.Parse(text)
		require.NoError(t, err)
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		require.InDelta(t, p, d.Below(d.Quantile(p)), 1e-5)
	})
}
