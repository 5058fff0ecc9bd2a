package dynamodbexport_test

import (
	"testing"

	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, conformance())
}
