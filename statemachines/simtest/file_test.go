package simtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

const template = `Resources:
  Quick:
    Type: AWS::Serverless::StateMachine
    Properties:
      Type: EXPRESS
      Definition:
        StartAt: Call
        States:
          Call: {Type: Task, Resource: !GetAtt Function.Arn, End: true}
  Waits:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition:
        StartAt: Wait
        States:
          Wait: {Type: Wait, Seconds: '${Seconds}', End: true}
  Wrong:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition:
        StartAt: Wait
        States:
          Wait: {Type: Succeed, Ende: true}
`

// A machine of a template runs by its type, and what is wrong stands in the
// template.
func TestFileOfATemplate(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "template.yaml")
	require.NoError(t, os.WriteFile(name, []byte(template), 0o600))

	s := simtest.File(t, name+"#Quick")
	require.True(t, s.Options.Express)
	s.On("Call").Return(1)
	s.Run(nil).RequireSucceeded().RequireOutput(1)

	for fragment, want := range map[string]string{
		"":       "definition: " + name + " has 3 state machines: name one of them: " + name + "#Quick, " + name + "#Waits, " + name + "#Wrong",
		"#Nope":  "has no state machine \"Nope\"; it has Quick, Waits, Wrong",
		"#Wrong": name + ": 23:33: /States/Wait/Ende: unknown field \"Ende\" in a Succeed state",
		"#Waits": "the machine cannot be run: 16:30: /States/Wait/Seconds: the placeholder \"${Seconds}\" needs a value to run the definition",
	} {
		require.Contains(t, failure(t, func(t simtest.T) { simtest.File(t, name+fragment).Run(nil) }), want)
	}
	message := failure(t, func(t simtest.T) {
		simtest.File(t, name+"#Quick").Run(nil)
	})
	require.Contains(t, message, "the machine cannot be run: 9:40: state \"Call\": resource \"${Function.Arn}\" has no handler")
	require.Contains(t, message, "\nanswer each Task with On or Job, such as On(\"Call\").Return(...)")
}
