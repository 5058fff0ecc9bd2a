package fix_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/race"
)

const inYAML = `# the nightly query
StartAt: Start
States:
  Start:
    Type: Pass
    Result: {id: q}
    Next: Wait   # first
  Wait:
    Type: Wait
    Seconds: 5
    Next: Get
  Get: # asks
    Type: Task
    Resource: arn:aws:states:::aws-sdk:athena:getQueryExecution
    Parameters:
      QueryExecutionId.$: $.id
    ResultPath: $.q
    Next: "Done?"
  Done?:
    Type: Choice
    Choices:
      - Variable: $.q.QueryExecution.Status.State
        StringEquals: SUCCEEDED
        Next: Report
      - Variable: $.q.QueryExecution.Status.State
        StringEquals: FAILED
        Next: Failed
    Default: Wait
  # ends
  Report:
    Type: Succeed
  Failed:
    Type: Fail
`

func read(file []byte) (*source.Definition, error) {
	return source.LoadOne(context.Background(), "-", source.Options{Stdin: bytes.NewReader(file)})
}

// A definition in YAML keeps its comments and layout around the loop.
func TestYAML(t *testing.T) {
	t.Parallel()
	after, loops, err := fix.ApplyFile(t.Context(), []byte(inYAML), read, fix.Options{Models: models.Load})
	require.NoError(t, err)
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	for _, line := range []string{"# the nightly query", "    Next: Get begins   # first", "  Get: # asks", "  # ends", "    Result: {id: q}", "  Get timed out:", "  Get begins:"} {
		require.Contains(t, "\n"+string(after), "\n"+line+"\n")
	}
	_, rest, _ := strings.Cut(inYAML, "  # ends")
	require.True(t, strings.HasSuffix(string(after), rest))
}

// A comment in a state that becomes another stands in front of it, below the state's own.
func TestYAMLKeepsCommentsInStates(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(
		"  Wait:\n    Type: Wait\n    Seconds: 5\n", "  # pauses\n  Wait:\n    Type: Wait\n    Seconds: 5 # as \"#ops\" asked\n",
		"      - Variable: $.q.QueryExecution.Status.State\n        StringEquals: FAILED\n",
		"      # bad: see '#42'\n      - Variable: $.q.QueryExecution.Status.State\n        StringEquals: FAILED # the word\n",
		"    ResultPath: $.q\n", "    Comment: 'no # comment'\n    ResultPath: $.q\n",
	).Replace(inYAML)
	for _, end := range []string{"\n", "\r\n"} {
		file := strings.ReplaceAll(text, "\n", end)
		after, loops, err := fix.ApplyFile(t.Context(), []byte(file), read, fix.Options{Models: models.Load})
		require.NoError(t, err)
		require.Empty(t, loops[0].Refused)
		for _, lines := range []string{
			"  # pauses\n  # as \"#ops\" asked\n  Wait:\n    QueryLanguage: JSONata\n",
			"\n  Get: # asks\n    Comment: 'no # comment'\n",
			"\n  # bad: see '#42'\n  # the word\n  Done?:\n",
		} {
			require.Contains(t, string(after), strings.ReplaceAll(lines, "\n", end))
		}
		require.Equal(t, 1, strings.Count(string(after), "no # comment"))
	}

	// So do those of states that a .sync Task takes the place of.
	after, loops, err := fix.ApplyFile(t.Context(), []byte(`StartAt: Train
States:
  Train:
    Type: Task
    Resource: arn:aws:states:::sagemaker:createTrainingJob
    Parameters: {TrainingJobName.$: $.name, RoleArn: "arn:aws:iam::123456789012:role/r"}
    ResultPath: $.started # the ARN
    Next: Wait
  # pauses
  Wait:
    Type: Wait
    Seconds: 60 # as asked
    Next: Get
  Get: # asks
    Type: Task
    Resource: arn:aws:states:::aws-sdk:sagemaker:describeTrainingJob
    Parameters: {TrainingJobName.$: $.name}
    ResultPath: $.job
    Next: Done?
  Done?:
    Type: Choice
    Choices:
      - {Variable: $.job.TrainingJobStatus, StringEquals: Completed, Next: Report}
      # bad
      - {Variable: $.job.TrainingJobStatus, StringEquals: Failed, Next: Failed}
      - {Variable: $.job.TrainingJobStatus, StringEquals: Stopped, Next: Failed}
    Default: Wait
  # ends
  Report: {Type: Succeed}
  Failed: {Type: Fail, Error: E}
`), read, fix.Options{Models: models.Load, MaxWait: time.Hour})
	require.NoError(t, err)
	require.Equal(t, compile.SyncTask, loops[0].Strategy, "%v", loops[0].Notes)
	for _, comment := range []string{"# the ARN\n", "# pauses\n", "# as asked\n", "# asks\n", "# bad\n", "# ends\n"} {
		require.Equal(t, 1, strings.Count(string(after), " "+comment), comment)
	}
}

// Inline in a template, too, unless the loop has values of the template.
func TestYAMLInTemplate(t *testing.T) {
	t.Parallel()
	template := func(definition string) string {
		indented := "        " + strings.ReplaceAll(strings.TrimSuffix(definition, "\n"), "\n", "\n        ") + "\n"
		return "Resources:\n  Poller:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Type: STANDARD\n      Definition:\n" + indented + "Outputs: {}\n"
	}
	after, loops, err := fix.ApplyFile(t.Context(), []byte(template(inYAML)), read, fix.Options{Models: models.Load})
	require.NoError(t, err)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, string(after), "\n          Get begins:\n")
	require.True(t, strings.HasSuffix(string(after), "\nOutputs: {}\n"))

	with := strings.Replace(inYAML, "QueryExecutionId.$: $.id", "QueryExecutionId: !Ref Query # of last night", 1)
	with = strings.Replace(with, "arn:aws:states:::aws-sdk:athena:getQueryExecution", "!Sub arn:${AWS::Partition}:states:::aws-sdk:athena:getQueryExecution", 1)
	after, loops, err = fix.ApplyFile(t.Context(), []byte(template(with)), read, fix.Options{Models: models.Load})
	require.NoError(t, err)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, string(after), "QueryExecutionId: !Ref Query\n")
	require.Contains(t, string(after), "Resource: !Sub arn:${AWS::Partition}:states:::aws-sdk:athena:getQueryExecution\n")
}

// States in brackets, functions in their long form and other line ends are kept, too.
func TestYAMLForms(t *testing.T) {
	t.Parallel()
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(inYAML) }
	inTemplate := func(definition string) string {
		indented := "        " + strings.ReplaceAll(strings.TrimSuffix(definition, "\n"), "\n", "\n        ") + "\n"
		return "Resources:\n  Poller:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Definition:\n" + indented
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a state in brackets": {replace("  Wait:\n    Type: Wait\n    Seconds: 5\n    Next: Get\n", "  Wait: {Type: Wait, Seconds: 5, Next: Get} # waits\n"), []string{"\n  Wait:\n", "# first"}},
		"all in brackets": {
			"# all\n" + `{StartAt: Wait, States: {Wait: {Type: Wait, Seconds: 5, Next: Get}, Get: {Type: Task, Resource: "arn:aws:states:::aws-sdk:athena:getQueryExecution", ` +
				`Parameters: {QueryExecutionId: q}, ResultPath: $.q, Next: Done}, Done: {Type: Choice, Choices: [{Variable: $.q.QueryExecution.Status.State, ` +
				`StringEquals: SUCCEEDED, Next: Report}], Default: Wait}, Report: {Type: Succeed}}}` + "\n",
			[]string{`Report: {Type: Succeed}}}`, `{StartAt: "Get begins"`},
		},
		"a long function": {
			inTemplate(replace("      QueryExecutionId.$: $.id\n", "      QueryExecutionId:\n        Fn::Sub: \"${Query}-1\"\n")),
			[]string{"QueryExecutionId:\n", "Fn::Sub: \"${Query}-1\"\n"},
		},
		"a function of several lines": {
			inTemplate(replace("      QueryExecutionId.$: $.id\n", "      QueryExecutionId: !Sub\n        - ${A}-1\n        - A: !Ref Query\n")),
			[]string{"QueryExecutionId: !Sub\n", "- ${A}-1\n", "- A: !Ref Query\n"},
		},
		"other line ends": {strings.ReplaceAll(inYAML, "\n", "\r\n"), []string{"  Get begins:\r\n", "  # ends\r\n"}},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops, err := fix.ApplyFile(t.Context(), []byte(c.text), read, fix.Options{Models: models.Load})
			require.NoError(t, err)
			require.Empty(t, loops[0].Refused)
			for _, part := range c.want {
				require.Contains(t, string(after), part)
			}
			if strings.Contains(c.text, "\r") {
				require.NotContains(t, strings.ReplaceAll(string(after), "\r\n", ""), "\n")
			}
		})
	}
}

// An alias that leads to the loop is changed where its anchor stands. A file stays whose text
// says more than one thing, or not where a state stands.
func TestYAMLAliases(t *testing.T) {
	t.Parallel()
	replace := func(pairs ...string) string {
		text := inYAML
		for i := 0; i < len(pairs); i += 2 {
			require.Contains(t, text, pairs[i])
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	const start, first = "  Start:\n    Type: Pass\n    Result: {id: q}\n    Next: Wait   # first\n", "StartAt: Start\n"
	which := "StartAt: Which\n"
	choice := "  Which:\n    Type: Choice\n    Choices:\n      - {Variable: $.a, IsPresent: true, Next: Start}\n    Default: Other\n"
	for name, c := range map[string]struct{ text, want string }{
		"two ways in":                {replace(first, which, start, choice+"  Start: &start\n    Type: Pass\n    Result: {id: q}\n    Next: Wait\n  Other: *start\n"), ""},
		"a way in that is data, too": {replace(start, "  Start: &start\n    Type: Pass\n    Next: Wait\n", "  Report:\n    Type: Succeed\n", "  Report:\n    Type: Pass\n    Result: *start\n    End: true\n"), "the file is written in a way that cannot be changed in place"},
		"a name that is data, too":   {replace("    Next: Wait   # first", "    Next: &wait Wait", "  Report:\n    Type: Succeed\n", "  Report:\n    Type: Pass\n    Comment: *wait\n    End: true\n"), "line 32 names the value of &wait in line 7, which the new loop takes away: write that value in line 32"},
		"a Wait that another takes":  {replace("    Seconds: 5\n", "    Seconds: &pause 5\n", "  Report:\n    Type: Succeed\n", "  Report:\n    Type: Wait\n    Seconds: *pause\n    End: true\n"), "names the value of &pause in line"},
		"an anchor that comes twice": {replace(start, "  Start:\n    Type: Pass\n    Result: {id: q, n: &pause 7}\n    Next: Wait\n", "    Seconds: 5\n", "    Seconds: &pause 5\n", "  Report:\n    Type: Succeed\n", "  Report:\n    Type: Wait\n    Seconds: *pause\n    End: true\n"), "names the value of &pause in line"},
		"a path of both rules":       {replace("      - Variable: $.q", "      - Variable: &state $.q", "      - Variable: $.q.QueryExecution.Status.State\n        StringEquals: FAILED", "      - Variable: *state\n        StringEquals: FAILED"), ""},
		"a state of the loop":        {replace("  Wait:\n    Type: Wait\n    Seconds: 5\n    Next: Get\n", "  Wait: *first\n", start, "  Start: &first\n    Type: Wait\n    Seconds: 5\n    Next: Get\n"), `the state "Wait" does not begin a line of its own`},
		"a state with an anchor":     {replace("  Wait:\n", "  Wait: &wait\n"), `the state "Wait" does not begin a line of its own`},
		"a call with an anchor":      {replace("    Parameters:\n", "    Parameters: &call\n"), "a function of the template gives /States/Get/Parameters, which the new loop reads"},
		"a key of several lines":     {replace("  Wait:\n    Type: Wait\n", "  ? Wait\n  : Type: Wait\n"), `the state "Wait" does not begin a line of its own`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops, err := fix.ApplyFile(t.Context(), []byte(c.text), read, fix.Options{Models: models.Load, Strategy: compile.Variables})
			require.NoError(t, err)
			require.Len(t, loops, 1)
			if c.want == "" {
				require.Empty(t, loops[0].Refused)
				require.Contains(t, string(after), "    Next: Get begins")
				return
			}
			require.Contains(t, loops[0].Refused, c.want)
		})
	}
}

// A value that the template gives comes into the new loop, unless that has to know it.
func TestTemplateValues(t *testing.T) {
	t.Parallel()
	file := func(definition string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			require.Contains(t, definition, pairs[i])
			definition = strings.Replace(definition, pairs[i], pairs[i+1], 1)
		}
		return `{"Parameters": {"To": {"Type": "String", "Default": "Failed"}}, "Resources": {"P": {"Type": "AWS::Serverless::StateMachine", "Properties": {"Definition": ` + definition + `}}}}`
	}
	plain, start := machine("", "", "", ""), training(`, "ResultPath": null`, "")
	catch := func(fields string) string { return machine(`, "Catch": [`+fields+`]`, "", "", "") }
	jobs := strings.NewReplacer("athena:getQueryExecution", "batch:describeJobs", `{"QueryExecutionId.$": "$.id"}`, `{"Jobs": [{"Ref": "Job"}]}`, "$.q.QueryExecution.Status.State", "$.q.Jobs[0].Status").Replace(plain)
	joined := `{"Resources": {"P": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": {"Fn::Join": ["", [` +
		string(mustJSON(t, plain[:100])) + `, ` + string(mustJSON(t, plain[100:])) + `]]}}}}}`
	for name, c := range map[string]struct {
		text     string
		strategy compile.Strategy
		kept     string // in the new text
		want     string // or the reason
	}{
		"a member":                {file(plain, `{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId": {"Ref": "Query"}}`), compile.Variables, `"QueryExecutionId": {"Ref": "Query"}`, ""},
		"an item":                 {file(jobs), compile.Variables, `{"Ref": "Job"}`, ""},
		"a member of the start":   {file(start, `"arn:aws:iam::123456789012:role/r"`, `{"Ref": "Role"}`), compile.SyncTask, `"RoleArn": {"Ref": "Role"}`, ""},
		"a comment of the start":  {file(start, `"ResultPath": null`, `"Comment": {"Fn::Sub": "in ${AWS::Region}"}, "ResultPath": null`), compile.SyncTask, `"Comment": {"Fn::Sub": "in ${AWS::Region}"}`, ""},
		"the call of the start":   {file(start, `"arn:aws-cn:states:::sagemaker:createTrainingJob"`, `{"Fn::Sub": "arn:${AWS::Partition}:states:::sagemaker:createTrainingJob"}`), compile.SyncTask, "", `a function of the template gives the Resource of "Train"`},
		"a path":                  {file(plain, `"QueryExecutionId.$": "$.id"`, `"QueryExecutionId.$": {"Ref": "Path"}`), compile.Variables, "", "a function of the template gives /States/Get/Parameters/QueryExecutionId.$, which the new loop reads"},
		"a target":                {file(catch(`{"ErrorEquals": ["States.ALL"], "Next": {"Ref": "To"}}`)), compile.Variables, "", "a function of the template gives /States/Get/Catch/0/Next"},
		"an error":                {file(catch(`{"ErrorEquals": [{"Ref": "To"}], "Next": "Failed"}`)), compile.Variables, "", "a function of the template gives /States/Get/Catch/0/ErrorEquals/0"},
		"a part of an expression": {file(strings.ReplaceAll(machineWith(`, "ResultPath": "$.q", "ResultSelector": {"of": {"Ref": "Query"}, "s.$": "$.QueryExecution.Status.State"}`, "", "", ""), `"$.QueryExecution.Status.State", "StringEquals"`, `"$.q.s", "StringEquals"`)), compile.Variables, "", "a value that the template gives would have to become a part of an expression"},
		"a text that is joined":   {joined, compile.Variables, "", "in the file is not known"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops, err := fix.ApplyFile(t.Context(), []byte(c.text), read, fix.Options{Models: models.Load, Strategy: c.strategy})
			require.NoError(t, err)
			require.Len(t, loops, 1)
			if c.want == "" {
				require.Empty(t, loops[0].Refused)
				require.Contains(t, string(after), c.kept)
				return
			}
			require.Contains(t, loops[0].Refused, c.want)
		})
	}
}

// A change that the reader of the file does not take is none.
func TestFileThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	text := []byte(machine("", "", "", ""))
	takes := func(file []byte) (*source.Definition, error) {
		if !bytes.Equal(file, text) {
			return nil, errors.New("the file is locked")
		}
		return read(file)
	}
	after, loops, err := fix.ApplyFile(t.Context(), text, takes, fix.Options{Strategy: compile.Variables, Models: models.Load})
	require.NoError(t, err)
	require.Equal(t, string(text), string(after))
	require.Equal(t, "the file cannot be changed: the file is locked", loops[0].Refused)
}
