package fix_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/race"
)

var update = flag.Bool("update", false, "write the golden files")

// reader reads a definition out of the text of a file.
func reader(t *testing.T, name string) edit.Read {
	t.Helper()
	return func(file []byte) (*source.Definition, error) {
		return source.LoadOne(t.Context(), name, source.Options{FS: fstest.MapFS{name: {Data: file}}})
	}
}

// describe writes repairs for a golden file, each with its diff.
func describe(name string, all []fix.Repair) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s %s: %s%s\n", strings.Join(append([]string{r.Name()}, r.Also...), ", "), r.Class, r.About, r.Reason)
		if r.After != nil {
			b.WriteString(fix.Diff(name, name, r.Before, r.After))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Each definition of testdata/repair has its repairs beside it.
func TestRepairs(t *testing.T) {
	t.Parallel()
	var files []string
	for _, end := range []string{"json", "yaml"} {
		some, err := filepath.Glob("testdata/repair/*.asl." + end)
		require.NoError(t, err)
		files = append(files, some...)
	}
	require.NotEmpty(t, files)
	for _, file := range race.OneIn(12, files) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			read := reader(t, name)
			after, all, err := fix.RepairFile(t.Context(), text, read, fix.RepairOptions{Sure: true, Models: models.Load})
			require.NoError(t, err)
			golden := strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(describe(name, all)), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), describe(name, all), "go test -run TestRepairs -update writes it anew")

			// What is made stays made: nothing sure is left.
			_, again, err := fix.RepairFile(t.Context(), after, read, fix.RepairOptions{Sure: true, Models: models.Load})
			require.NoError(t, err)
			for _, r := range again {
				require.NotEqual(t, fix.Sure, r.Class, "%s is made twice", r.Name())
			}
		})
	}
}

func TestRepairOptions(t *testing.T) {
	t.Parallel()
	repair := func(t *testing.T, name string, o fix.RepairOptions) ([]byte, []fix.Repair) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("testdata/repair", name))
		require.NoError(t, err)
		o.Models = models.Load
		after, all, err := fix.RepairFile(t.Context(), text, reader(t, name), o)
		require.NoError(t, err)
		return after, all
	}

	t.Run("sure ones are made only if asked", func(t *testing.T) {
		t.Parallel()
		after, all := repair(t, "polls-on.asl.json", fix.RepairOptions{})
		require.NotContains(t, string(after), "Stopped")
		require.Len(t, all, 1)
		require.False(t, all[0].Made)
		require.Equal(t, fix.Sure, all[0].Class)
		require.Contains(t, string(all[0].After), "Stopped")
	})
	t.Run("an offered one is made if accepted", func(t *testing.T) {
		t.Parallel()
		after, all := repair(t, "typo-enum.asl.json", fix.RepairOptions{Accept: []string{"enum-value@Done?"}})
		require.Contains(t, string(after), `"StringEquals": "Completed"`)
		require.True(t, all[0].Made)
		require.Equal(t, fix.Offered, all[0].Class)
	})
	t.Run("max wait bounds a loop", func(t *testing.T) {
		t.Parallel()
		after, _ := repair(t, "bound.asl.json", fix.RepairOptions{Sure: true, MaxWait: 2 * time.Hour})
		require.Contains(t, string(after), `"TimeoutSeconds": 7200`)
		after, _ = repair(t, "bound-count.asl.json", fix.RepairOptions{Sure: true, MaxWait: 2 * time.Hour})
		require.Contains(t, string(after), `"NumericGreaterThanEquals": 120`) // it polls first
	})
	t.Run("max wait above the history is refused", func(t *testing.T) {
		t.Parallel()
		after, all := repair(t, "bound-count.asl.json", fix.RepairOptions{Sure: true, MaxWait: 100 * time.Hour})
		require.NotContains(t, string(after), "polls")
		require.Equal(t, fix.Refused, all[0].Class)
		require.Contains(t, all[0].Reason, "the loop cannot wait for 100h: ")
		require.Contains(t, all[0].Reason, "pass a shorter --max-wait")
	})
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		text, err := os.ReadFile("testdata/repair/polls-on.asl.json")
		require.NoError(t, err)
		_, _, err = fix.RepairFile(ctx, text, reader(t, "polls-on.asl.json"), fix.RepairOptions{Sure: true, Models: models.Load})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Findings behind many loops are all repaired, and those that are not made are named.
func TestManyFindingsOutsideOfLoops(t *testing.T) {
	t.Parallel()
	const loops = 11
	var b strings.Builder
	for n := range loops {
		fmt.Fprintf(&b, `"Pause %[1]d": {"Type": "Wait", "Seconds": 30, "Next": "Look %[1]d"},
			"Look %[1]d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
				"Retry": [{"ErrorEquals": ["States.ALL"]}], "Next": "Done %[1]d"},
			"Done %[1]d": {"Type": "Choice", "Default": "Pause %[1]d", "Choices": [
				{"Condition": "{%% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %%}", "Next": "%[2]s"},
				{"Condition": "{%% $states.input.QueryExecution.Status.State in ['FAILED', 'CANCELLED'] %%}", "Next": "Bad %[1]d"}]},
			"Bad %[1]d": {"Type": "Fail", "Error": "QueryFailed", "Cause": "{%% $states.input.QueryExecution.Status.StateChangeReason %%}"},
		`, n, map[bool]string{true: "Good", false: fmt.Sprintf("Pause %d", n+1)}[n == loops-1])
	}
	text := []byte(`{"QueryLanguage": "JSONata", "TimeoutSeconds": 36000, "StartAt": "Pause 0", "States": {` + b.String() + `"Good": {"Type": "Succeed"}}}`)
	_, all, err := fix.RepairFile(t.Context(), text, reader(t, "many.asl.json"), fix.RepairOptions{Models: models.Load, Sure: true})
	require.NoError(t, err)
	made := map[string]bool{}
	for _, r := range all {
		if r.Rule == "absent-member" {
			require.True(t, r.Made, r.Name())
			made[r.State] = true
		}
	}
	require.Len(t, made, loops)
}

// A loop that writes its progress in each turn gets a bound, behind which it writes no more.
func TestRepairBoundOfAWritingLoop(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Pause", "States": {
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:rds:describeDBSnapshots", "Parameters": {"DbSnapshotIdentifier.$": "$.id"},
    "ResultPath": "$.r", "Next": "Save"},
  "Save": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:updateItem", "ResultPath": null,
    "Parameters": {"TableName": "jobs", "Key": {"id": {"S.$": "$.id"}}, "ReturnValues.$": "States.Format('{}', $.r.DbSnapshots[0].PercentProgress)"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Default": "Bad", "Choices": [
    {"Variable": "$.r.DbSnapshots[0].Status", "StringEquals": "creating", "Next": "Pause"},
    {"Variable": "$.r.DbSnapshots[0].Status", "StringEquals": "available", "Next": "Good"}]},
  "Bad": {"Type": "Fail", "Error": "SnapshotFailed"}, "Good": {"Type": "Succeed"}}}`
	_, all, err := fix.RepairFile(t.Context(), []byte(text), reader(t, "save.asl.json"), fix.RepairOptions{Models: models.Load, Sure: true})
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(r fix.Repair) bool { return r.Rule == "unbounded-loop" })
	require.True(t, all[i].Made, all[i].Reason)
}

// What the language warns of stays, with what to do, unless it is ignored.
func TestRepairTellsWhatIsSuspicious(t *testing.T) {
	t.Parallel()
	text := []byte(`{"StartAt": "Big?", "States": {
		"Big?": {"Type": "Choice", "Choices": [{"Variable": "$.size", "NumericGreaterThan": 9, "Next": "Done"}]},
		"Done": {"Type": "Succeed"}}}`)
	o := fix.RepairOptions{Sure: true, Models: models.Load}
	after, repairs, err := fix.RepairFile(t.Context(), text, reader(t, "m.asl.json"), o)
	require.NoError(t, err)
	require.Equal(t, string(text), string(after))
	require.Len(t, repairs, 1)
	require.Equal(t, "suspicious@Big?", repairs[0].Name())
	require.Equal(t, fix.Refused, repairs[0].Class)
	require.Contains(t, repairs[0].Reason, `add "Default"`)
	o.Ignored = func(*source.Definition) func(lint.Finding) bool {
		return func(f lint.Finding) bool { return f.Rule == lint.Suspicious && f.Pointer == "/States/Big?" }
	}
	_, repairs, err = fix.RepairFile(t.Context(), text, reader(t, "m.asl.json"), o)
	require.NoError(t, err)
	require.Empty(t, repairs)
}
