package jobstest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

// defectVariable names the defect that TestSample gives its driver.
const defectVariable = "JOBSTEST_DEFECT"

// TestSample passes for a driver without a defect.
func TestSample(t *testing.T) {
	t.Parallel()
	for _, class := range []jobs.Class{jobs.ByToken, jobs.ByNaturalKey, jobs.NoProtection} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			jobstest.Run(t, jobstest.Case{
				Maker:     maker(class, os.Getenv(defectVariable)),
				Service:   func(*testing.T) jobstest.Service { return newService(class) },
				Arguments: `{"Text": "x", "Copies": 2}`,
				Required:  []string{"Text"}, Reserved: []string{"Token"},
				Bad:        []jobstest.BadArguments{{Name: "half a copy", Arguments: `{"Text": "x", "Copies": 0.5}`, Want: "/Copies"}},
				Output:     described{},
				Timestamps: []string{"Sample.Began"},
				Statuses:   jobstest.Statuses{Running: []string{"RUNNING"}, Success: []string{"DONE"}, Failure: []string{"FAILED", "STOPPED"}},
				Enum:       []string{"RUNNING", "STOPPED", "FAILED", "DONE"},
				Reason:     "out of ink",
			})
		})
	}
}

// TestDefects runs TestSample with each defect in a process of its own: the
// test that the defect is named for fails.
func TestDefects(t *testing.T) {
	t.Parallel()
	tests := map[jobs.Class][]string{
		jobs.ByToken: {
			"Name: no service",
			"Waiter: a member that is not there",
			"Waiter: the spelling of the SDK for Go",
			"Statuses: one is forgotten",
			"Statuses: what is new is a failure",
			"Life: no reason",
			"Output: a null",
			"Output: a Go number",
			"Output: another case",
			"Output: no timestamp",
			"Ref: kept in memory",
			"UnknownRef: a success",
			"UnknownRef: describes the last job",
			"Token: does not reach the service",
			"StartErrors: told in words",
			"StartLosesAnswer: taken for a refusal",
			"StartHidesNothing: starts again",
			"DescribeErrors: told in words",
			"Batch: in the order of the service",
			"Batch: a wrong job",
			"Batch: no errors",
			"Canceled: goes on",
			"Stop: nothing happens",
			"StopEnded: refused",
			"StopErrors: none",
			"Permissions: one is missing",
			"Permissions: for another method",
			"Permissions: one too many",
			"Permissions: a wildcard",
			"Permissions: no ARN",
			"Arguments: read loosely",
			"Arguments: nothing is required",
			"Arguments: nothing is reserved",
			"Arguments: an error of another kind",
			"Arguments: sent all the same",
		},
		jobs.ByNaturalKey: {
			"Token: no adoption",
			"Token: a window of another class",
			"Find: none",
			"Find: never",
			"Find: no errors",
		},
		jobs.NoProtection: {
			"Token: a window of another class",
			"StartHidesNothing: starts again",
		},
	}
	for class, defects := range tests {
		for _, defect := range defects {
			t.Run(string(class)+"/"+defect, func(t *testing.T) {
				t.Parallel()
				test, _, _ := strings.Cut(defect, ":")
				command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSample$/^"+string(class)+"$/^"+test+"$")
				command.Env = append(os.Environ(), defectVariable+"="+defect)
				output, err := command.CombinedOutput()
				require.Error(t, err, "the suite finds nothing:\n%s", output)
				require.Contains(t, string(output), "--- FAIL: TestSample/"+string(class)+"/"+test, "%s", output)
				require.NotContains(t, string(output), "panic:")
			})
		}
	}
}
