package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestTransitionPrice(t *testing.T) {
	t.Parallel()
	for region, per1000 := range map[string]float64{"": 0.025, asl.DefaultRegion: 0.025, "us-west-1": 0.0279, "eu-south-1": 0.02625, "sa-east-1": 0.0375} {
		usd, err := asl.TransitionPrice(region)
		require.NoError(t, err)
		require.InDelta(t, per1000, 1000*usd, 1e-12, region)
	}
	require.InDelta(t, 0.21, asl.TransitionCost(8_331), 0.005)
}

func TestUnknownRegion(t *testing.T) {
	t.Parallel()
	_, err := asl.TransitionPrice("mars-north-1")
	require.ErrorIs(t, err, asl.ErrUnknownRegion)
	require.ErrorContains(t, err, `unknown region "mars-north-1": the price of a state transition is known for us-east-1, us-east-2, us-west-1, `)
}
