package asl

import (
	"errors"
	"fmt"
	"strings"
)

// DefaultRegion is the region whose prices hold where none is named.
const DefaultRegion = "us-east-1"

// prices are what 1,000 state transitions of a Standard workflow cost, in US
// dollars without the free tier: by https://aws.amazon.com/step-functions/pricing/
// and, for the regions that its public copies lack, by the table that the
// project aws-lambda-power-tuning keeps.
var prices = []struct {
	region string
	usd    float64
}{
	{DefaultRegion, 0.025},
	{"us-east-2", 0.025},
	{"us-west-1", 0.0279},
	{"us-west-2", 0.025},
	{"ca-central-1", 0.025},
	{"sa-east-1", 0.0375},
	{"us-gov-east-1", 0.03},
	{"us-gov-west-1", 0.03},
	{"eu-west-1", 0.025},
	{"eu-west-2", 0.025},
	{"eu-west-3", 0.0297},
	{"eu-central-1", 0.025},
	{"eu-north-1", 0.025},
	{"eu-south-1", 0.02625},
	{"ap-southeast-1", 0.025},
	{"ap-southeast-2", 0.025},
	{"ap-northeast-1", 0.025},
	{"ap-northeast-2", 0.0271},
	{"ap-south-1", 0.0285},
	{"ap-east-1", 0.0275},
	{"me-south-1", 0.0275},
	{"af-south-1", 0.02975},
}

// ErrUnknownRegion is the error of TransitionPrice for a region whose price is
// not known.
var ErrUnknownRegion = errors.New("unknown region")

// TransitionPrice returns what one state transition of a Standard workflow costs
// in a region, in US dollars without the free tier; "" is DefaultRegion. The
// error of any other region matches ErrUnknownRegion and names those that are
// known.
func TransitionPrice(region string) (usd float64, err error) {
	if region == "" {
		region = DefaultRegion
	}
	names := make([]string, len(prices))
	for i, p := range prices {
		if p.region == region {
			return p.usd / 1000, nil
		}
		names[i] = p.region
	}
	return 0, fmt.Errorf("%w %q: the price of a state transition is known for %s", ErrUnknownRegion, region, strings.Join(names, ", "))
}

// TransitionCost returns what state transitions of a Standard workflow cost in
// DefaultRegion, in US dollars without the free tier.
func TransitionCost(transitions float64) (usd float64) { return transitions * prices[0].usd / 1000 }
