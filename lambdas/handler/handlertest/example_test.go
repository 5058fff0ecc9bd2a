package handlertest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/handler/handlertest"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// t stands for a *testing.T, which an example does not have.
var t failing

type failing struct{}

func (failing) Helper()                           {}
func (failing) Context() context.Context          { return context.Background() }
func (failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// A report that takes an hour is made once, wherever a function dies. In a test, t
// is the *testing.T. TestDeploymentInTheLoop of docs/example does it with a driver
// that calls a service over HTTP.
func Example() {
	r := handlertest.Run(t, handlertest.Case{
		Request: `{"job": "shop:Report", "maxWaitSeconds": 7200}`,
		Driver: func(w *handlertest.World) jobs.Driver {
			return &reports{now: w.Now, lasts: time.Hour, protection: jobs.Idempotency{Class: jobs.ByToken}}
		},
	}).RequireSucceeded()
	fmt.Println(r.Duration().Round(time.Hour), r.Attempts("RunJob"))
	// Output: 1h0m0s 1
}
