package throttle_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/server/throttle"
)

// Fifty calls of TestState are allowed at once, and ten a second after them.
func Example() {
	var limiter throttle.Limiter
	allowed := 0
	for range 100 {
		if limiter.Allow(start, "TestState", "123456789012", "us-east-1", "") {
			allowed++
		}
	}
	fmt.Println(allowed)
	// Output: 50
}
