package conformance_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

var loopSuites = []suite{
	{name: "loops", folder: "aws-samples", cases: 212, run: runLoops},
	{name: "loop-mistakes", folder: "aws-samples", cases: 1586, run: runLoopMistakes, differences: mistakesNotFound},
}

// mistakesNotFound are mistakes after which no known status polls on: what is left is
// no loop on a status.
var mistakesNotFound = map[string]string{
	"aws-stepfunctions-examples/sam/demo-manage-glue-crawlers-with-step-functions/template.yaml#StateMachineUtilRunGlueCrawler /States/Is Running? mistake 0":                            "RUNNING goes on as the end does",
	"step-functions-workflows-collection/sfn-query-large-datasets-cdk/statemachine/statemachine.asl.json /States/Check Crawler status mistake 0":                                         "RUNNING goes on as the end does",
	"step-functions-workflows-collection/sfn-query-large-datasets-sam/template.yaml#AthenaStateMachine /States/Check Crawler status mistake 0":                                           "RUNNING goes on as the end does",
	"step-functions-workflows-collection/account-vending-machine/statemachine/statemachine.asl.json /States/Check Account Status mistake 0":                                              "IN_PROGRESS goes on as a success does",
	"step-functions-workflows-collection/sfn-cfn-stacksets-workflow-cdk/statemachine/statemachine.asl.json /States/Create Completed? mistake 0":                                          "RUNNING and QUEUED lead to a Fail state",
	"step-functions-workflows-collection/sfn-cfn-stacksets-workflow-cdk/statemachine/statemachine.asl.json /States/Delete Completed? mistake 0":                                          "RUNNING and QUEUED lead to a Fail state",
	"step-functions-workflows-collection/vod-transcode-delivery-cdk/typescript/statemachine/transcoding-statemachine.asl.json.asl.json /States/Is Meida Convert job Complete? mistake 0": "the loop names no status of a job that runs",
}

// judgedFile has what lint says of the loops of AWS's samples: a line for each loop on
// a known operation, and one for each DANGER and WARNING about a loop. A person has
// judged each line to be true.
const judgedFile = "testdata/loops/judged.txt"

// aboutLoops are the rules that are judged here; suite typecheck-samples judges those
// about types.
var aboutLoops = []string{
	lint.UnboundedLoop, lint.UnretriedTask, lint.LoopingDefault, lint.EventBudget, lint.HotLoop, lint.ShortInterval, lint.HiddenFailure,
	lint.StatusPollsOn, lint.StatusMisread, lint.StatusUnhandled, lint.StatusUnclear, lint.StartRace, lint.CallbackTimeout,
}

// runLoops reads the loops of all samples. A case is a line of the judged file: it
// passes if lint says exactly that.
func runLoops(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	var lines []string
	found := 0
	for name, m := range machinesIn(t, folder) {
		for _, l := range lint.Loops(m, lint.Options{}) {
			if len(l.Rows) > 0 {
				lines = append(lines, name+": "+lineOf(&l))
			}
		}
		for _, f := range lint.Check(m, lint.Options{}) {
			if f.Severity == diag.Note || !slices.Contains(aboutLoops, f.Rule) {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s: %s %s %s", name, f.Severity, f.Rule, f.Pointer))
			found++
		}
	}
	slices.Sort(lines)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(judgedFile), 0o750))
		require.NoError(t, os.WriteFile(judgedFile, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	text, err := os.ReadFile(judgedFile)
	require.NoError(t, err)
	judged := strings.Split(strings.TrimSpace(string(text)), "\n")
	r.total = len(judged)
	for _, line := range judged {
		if !slices.Contains(lines, line) {
			r.failures[line] = "no longer said"
		}
	}
	for _, line := range lines {
		if !slices.Contains(judged, line) {
			r.failures[line] = "nobody has judged it: judge it, then go test ./tests/conformance -update"
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("%d findings about loops", found))
	return r
}

// lineOf is a table on a line.
func lineOf(l *lint.Loop) string {
	var rows []string
	for _, row := range l.Rows {
		rows = append(rows, fmt.Sprintf("%s: %s > %s %s %s", strings.Join(row.Values, " "), row.Meaning, strings.Join(row.Routes, " or "), row.Ends, row.Rule))
	}
	return fmt.Sprintf("%s polls %s, bound %s | %s", l.Poll.Name, l.Operation, l.Bound.Kind, strings.Join(rows, " | "))
}

// machinesIn are the machines of a folder, in files and in templates, in the order of
// their names.
func machinesIn(t *testing.T, folder string) func(func(string, *asl.StateMachine) bool) {
	t.Helper()
	definitions, _ := source.Load(t.Context(), []string{folder}, source.Options{}) // files that are no definitions are in the error
	machines := map[string]*asl.StateMachine{}
	for _, d := range definitions {
		if m, err := d.Parse(); err == nil {
			name, err := filepath.Rel(folder, d.Name)
			require.NoError(t, err)
			machines[name] = m
		}
	}
	require.Greater(t, len(machines), 100)
	return func(yield func(string, *asl.StateMachine) bool) {
		for _, name := range slices.Sorted(maps.Keys(machines)) {
			if !yield(name, machines[name]) {
				return
			}
		}
	}
}
