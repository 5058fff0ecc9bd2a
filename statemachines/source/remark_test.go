package source_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/growthtest"
)

// remarked are files with comments, and what each comment is about: "LINE:COLUMN POINTERS", with
// "(machine)" for the whole and "-" for nothing.
var remarked = map[string]struct{ file, text, want string }{
	"members of JSON": {
		"a.asl.json", `{"Comment": "mark a", "StartAt": "A", "States": {
  "A": {"Type": "Choice", "Comment": "mark b", "Choices": [
    {"Variable": "$.x", "IsPresent": true, "Comment": "mark c", "Next": "B"},
    {"And": [{"Variable": "$.x", "IsPresent": true}], "Comment": "mark d", "Next": "B"}], "Default": "B"},
  "B": {"Type": "Pass", "Parameters": {"Comment": "mark e"}, "End": true}}}`,
		"1:13 (machine), 2:38 /States/A, 3:55 /States/A/Choices/0, 4:66 /States/A/Choices/1, 5:51 /States/B",
	},
	"YAML": {
		"a.asl.yaml", `# mark first
# another
StartAt: A
States:
  # mark of a state

  A: # mark at its end
    # mark before a field
    Type: Choice
    Choices:
      # mark a rule
      - Variable: $.x
        IsPresent: true # mark in a rule
        Next: B
    Default: B
  B: {Type: Pass, Comment: "# mark no comment", End: true}
  C: {Type: Pass, Next: D} # mark C
  D:
    Type: Pass
    Comment: |
      # mark no comment either
    End: true
# mark last`,
		"16:28 /States/B, 20:14 /States/D, 1:3 (machine), 5:5 /States/A, 7:8 /States/A, 8:7 /States/A, 11:9 /States/A/Choices/0, " +
			"13:27 /States/A/Choices/0, 17:30 /States/C, 23:3 (machine)",
	},
	"a template": {
		"template.yaml", `# mark nothing
Resources:
  # mark a resource
  Poller:
    Type: AWS::Serverless::StateMachine # mark in it
    Properties:
      Definition:
        StartAt: A
        States:
          A: # mark A
            Type: Succeed
  # mark another
  Queue: {Type: AWS::SQS::Queue}`,
		"3:5 (machine), 5:43 (machine), 10:16 /States/A",
	},
	"a text in a template": {
		"template.yaml", `Resources:
  Poller:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      # mark the text
      DefinitionString: |
        {"StartAt": "A", "States": {"A": {"Type": "Succeed", "Comment": "# mark inside"}}}`,
		"7:73 /States/A, 5:9 (machine)",
	},
	"the Serverless Framework": {
		"serverless.yml", `stepFunctions:
  stateMachines:
    nightly: # mark a machine
      definition:
        StartAt: A
        States:
          # mark A
          A: {Type: Succeed}`,
		"3:16 (machine), 7:13 /States/A",
	},
	"jsonencode": {
		"main.tf", `# mark a resource
resource "aws_sfn_state_machine" "nightly" {
  name = "x" // mark in it
  definition = jsonencode({
    StartAt = "A"
    States = {
      # mark A
      A = { Type = "Pass", Next = "B" }
      /* mark B
         mark B again */
      B = { Type = "Succeed" } # mark B at its end
    }
  })
}
# mark another
resource "aws_sqs_queue" "q" {}
`,
		"1:3 (machine), 3:17 (machine), 7:9 /States/A, 9:10 /States/B, 10:10 /States/B, 11:34 /States/B",
	},
	"a heredoc": {"main.tf", `resource "aws_sfn_state_machine" "nightly" {
  # mark the heredoc
  definition = <<-EOT
    {"StartAt": "A", "States": {"A": {"Type": "Succeed", "Comment": "mark A"}}}
  EOT
}
`, "4:69 /States/A, 2:5 (machine)"},
	"a value before it has the word, too": {"a.asl.yaml", `StartAt: A
States:
  A:
    Type: Pass
    Result: "mark # mark" # the mark
    End: true`, "5:29 /States/A"},
	"an alias begins elsewhere": {"a.asl.yaml", `StartAt: A
States:
  A: &wait # mark
    Type: Wait
    Seconds: 1
    End: true
  B: *wait`, "3:14 /States/A"},
}

func TestRemarks(t *testing.T) {
	t.Parallel()
	for name, test := range remarked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := source.LoadOne(t.Context(), test.file, source.Options{FS: fstest.MapFS{test.file: {Data: []byte(test.text)}}})
			require.NoError(t, err)
			require.NotNil(t, d.Text, "%v", d.Problems)
			var got []string
			for _, r := range d.Remarks("mark") {
				about := strings.Join(r.Pointers, ",")
				if about == "" {
					about = "(machine)"
				}
				got = append(got, fmt.Sprintf("%d:%d %s", r.At.Line, r.At.Column, about))
			}
			require.Equal(t, test.want, strings.Join(got, ", "))
		})
	}
}

// Comments are found in time that grows with the file, however many they and the machines are.
func TestManyRemarks(t *testing.T) { //nolint:paralleltest // it takes processor time
	growthtest.Linear(t, func(n int) func() {
		n /= 10
		var b strings.Builder
		b.WriteString("Resources:\n")
		for i := range n {
			fmt.Fprintf(&b, "  # mark\n  # mark\n  M%d:\n    Type: AWS::Serverless::StateMachine\n    Properties: {Definition: {StartAt: A, States: {A: {Type: Succeed}}}} # mark\n", i)
		}
		b.WriteString(strings.Repeat("# mark\n", 10*n))
		all, err := source.Load(t.Context(), []string{"t.yaml"}, source.Options{FS: fstest.MapFS{"t.yaml": {Data: []byte(b.String())}}})
		require.NoError(t, err)
		return func() {
			found := 0
			for _, d := range all {
				found += len(d.Remarks("mark"))
			}
			require.Equal(t, 3*n, found)
		}
	})
}

// Any file with comments is read, and each remark names a part of the definition.
func FuzzRemarks(f *testing.F) {
	for _, test := range remarked {
		f.Add(test.file, test.text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		name = "x" + name[max(0, len(name)-5):]
		if strings.ContainsAny(name, "/\\#\x00") {
			return
		}
		all, err := source.Load(t.Context(), []string{name}, source.Options{FS: fstest.MapFS{name: {Data: []byte(text)}}})
		if err != nil {
			return
		}
		for _, d := range all {
			for _, r := range d.Remarks("mark") {
				require.NotEmpty(t, r.Pointers)
				require.Positive(t, r.At.Line)
				require.Contains(t, r.Text, "mark")
			}
		}
	})
}
