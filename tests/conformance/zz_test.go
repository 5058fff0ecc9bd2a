package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobpoller/jobpoller/statemachines/compile"
)

func TestZZ(t *testing.T) {
	r := fixSamples(t, filepath.Join(os.Getenv("JOBPOLLER_CORPUS"), "aws-samples"), compile.Variables)
	fmt.Println(r.total, len(r.failures))
	for k, v := range r.failures {
		fmt.Println(k, "::", v)
	}
}
