package plan_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// Exports take 15 minutes, more or less. Their end is to be seen 30 seconds late.
func ExampleBest() {
	durations, err := plan.Parse("lognormal(15m, 0.25)")
	if err != nil {
		panic(err)
	}
	goal, err := plan.ParseGoal("30s")
	if err != nil {
		panic(err)
	}
	best, err := plan.Best(durations, goal, plan.Limits{})
	if err != nil {
		panic(err)
	}
	fmt.Println(best.Method, best.Schedule.Delays, "then", best.Schedule.Then)
	fmt.Println(best.Why)
	fmt.Printf("%.1f calls, %.1f with a fixed delay of %s\n", best.Cost.Calls, best.FixedCost.Calls, best.Fixed.Then)
	// Output:
	// initial [10m53s] then 50s
	// A fixed delay after an initial delay does: a list of up to 1000 delays saves less than 10 % of the calls.
	// 7.1 calls, 16.0 with a fixed delay of 1m0s
}
