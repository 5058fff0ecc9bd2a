package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/derived"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// reverse is a machine that makes calls and takes the failures of what it polls for successes, and the success for a
// failure.
func reverse(t *testing.T, e *catalog.Entry, calls ...string) (*asl.StateMachine, lint.Options) {
	t.Helper()
	var rules []string
	for next, values := range map[string][]string{"Good": e.Job.Failure, "Bad": e.Job.Success} {
		for _, value := range values {
			rules = append(rules, fmt.Sprintf(`{"Variable": "$.run.%s", "StringEquals": %q, "Next": %q}`, javasdk.MemberPath(e.Job.Status), value, next))
		}
	}
	task := func(operation string) string {
		return `"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:` + e.Service.ARNName + ":" + javasdk.Uncapitalize(operation) +
			`", "Parameters": {}, "ResultPath": "$.run", "Retry": [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 3}], `
	}
	begin := ""
	for i, call := range calls {
		next := "Wait"
		if i+1 < len(calls) {
			next = fmt.Sprint("Begin", i+1)
		}
		begin += fmt.Sprintf(`"Begin%d": {%s"Next": %q}, `, i, task(call), next)
	}
	m, err := asl.Parse([]byte(`{"StartAt": "Begin0", "TimeoutSeconds": 3600, "States": {` + begin + `
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
		"Poll": {` + task(e.Operation.Name) + `"Next": "Choose"},
		"Choose": {"Type": "Choice", "Choices": [` + strings.Join(rules, ", ") + `], "Default": "Wait"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err, e.FullName())
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	return m, lint.Options{Types: types}
}

// A loop that a derived entry judges has rows that say so, and no finding by them is more than a NOTE.
func TestDerived(t *testing.T) {
	t.Parallel()
	list, err := models.List()
	require.NoError(t, err)
	notes := 0
	for _, l := range list {
		service, err := models.Load(l.Key)
		require.NoError(t, err)
		for _, e := range derived.Entries(service) {
			m, o := reverse(t, e, e.Name)
			loops := lint.Loops(m, o)
			require.Len(t, loops, 1)
			require.NotNil(t, loops[0].Derived, e.FullName())
			require.Contains(t, loops[0].String(), fmt.Sprintf("as %s %s (derived)", l.Key, e.Name))
			meant := map[lint.Meaning]bool{}
			for _, row := range loops[0].Rows {
				if row.Meaning != lint.MeansUnknown {
					require.Equal(t, lint.ByModel, row.By, e.FullName())
				}
				if row.Rule != "" {
					require.Equal(t, diag.Note, row.Severity, e.FullName())
					notes++
				}
				meant[row.Meaning] = true
			}
			require.True(t, meant[lint.MeansSuccess] && meant[lint.MeansFailure] && meant[lint.MeansRunning], e.FullName())
			for _, f := range lint.Check(m, o) {
				if strings.HasPrefix(f.Rule, "status-") || f.Rule == typecheck.AbsentMember {
					require.Equal(t, diag.Note, f.Severity, "%s: %s", e.FullName(), f.Message)
				}
			}
		}
	}
	require.Greater(t, notes, 250)
}

// A derived entry judges only the loops of machines that start its job, and what the user says goes before it.
func TestDerivedOnlyForItsStart(t *testing.T) {
	t.Parallel()
	kendra, err := models.Load("kendra")
	require.NoError(t, err)
	e, err := derived.Lookup(kendra, "CreateIndex")
	require.NoError(t, err)
	m, o := reverse(t, e, "UpdateIndex")
	require.Nil(t, lint.Loops(m, o)[0].Derived)
	m, o = reverse(t, e, "CreateIndex", "DeleteIndex")
	require.Nil(t, lint.Loops(m, o)[0].Derived)
	m, o = reverse(t, e, "CreateIndex")
	require.Contains(t, listFindings(m, o), "ACTIVE of kendra:DescribeIndex looks like a success (derived from the service's model, not reviewed), but ")
	o.Said = map[string]lint.Meaning{"ACTIVE": lint.MeansSuccess}
	for _, row := range lint.Loops(m, o)[0].Rows {
		if row.Meaning == lint.MeansSuccess {
			require.Equal(t, lint.ByUser, row.By)
			require.Equal(t, diag.Danger, row.Severity)
		}
	}
}
