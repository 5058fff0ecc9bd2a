package fix_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
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
	for _, line := range []string{"# the nightly query", "    Next: Get begins   # first", "  Get: # asks", "  # ends", "    Result: {id: q}", "  Get failed:", "  Get begins:"} {
		require.Contains(t, "\n"+string(after), "\n"+line+"\n")
	}
	_, rest, _ := strings.Cut(inYAML, "  # ends")
	require.True(t, strings.HasSuffix(string(after), rest))
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
