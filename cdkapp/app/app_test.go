//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The CDK is a program of Node.js. Without it these tests cannot run, which is a
// failure where CI=true says that they must.
func TestMain(m *testing.M) {
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Fprintln(os.Stderr, "cdkapp/app: no tests: the CDK needs Node.js 20 or later:", err)
		if os.Getenv("CI") == "true" {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// run runs the app as the command cdk does, with a context and no credentials. It
// returns the folder that it writes to, and what it says.
func run(t *testing.T, context map[string]string) (out, says string, err error) {
	t.Helper()
	var config struct {
		App     string         `json:"app"`
		Context map[string]any `json:"context"`
	}
	text, err := os.ReadFile("../../cdk.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &config))
	require.Equal(t, "go run ./cdkapp/app", config.App)
	all := maps.Clone(config.Context)
	for key, value := range context {
		all[key] = value
	}
	given, err := json.Marshal(all)
	require.NoError(t, err)
	out = t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "run", "./cdkapp/app")
	command.Dir = "../.."
	command.Env = append(os.Environ(), "CDK_OUTDIR="+out, "CDK_CONTEXT_JSON="+string(given), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err = command.Run()
	return out, stderr.String(), err
}

func TestE2EAppWritesATemplate(t *testing.T) {
	t.Parallel()
	out, says, err := run(t, map[string]string{"jobs": "ec2-image"})
	require.NoError(t, err, says)
	text, err := os.ReadFile(filepath.Join(out, "JobPoller.template.json"))
	require.NoError(t, err)
	var template struct {
		Description string                    `json:"Description"`
		Resources   map[string]map[string]any `json:"Resources"`
	}
	require.NoError(t, json.Unmarshal(text, &template))
	require.Equal(t, "Waits for jobs with ec2-image", template.Description)
	machines := 0
	for _, r := range template.Resources {
		if r["Type"] == "AWS::StepFunctions::StateMachine" {
			machines++
		}
	}
	require.Equal(t, 1, machines)
}

// Each problem stands there in a line, without the stack of a goroutine. The CDK's
// runtime for Go at times says of itself that its end is abnormal.
func TestE2EAppSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, says, err := run(t, map[string]string{"jobs": "ec2-image", "store": "tabel"})
	require.Error(t, err)
	require.Regexp(t, `^(JobPoller: context store: .*\n){2}(Runtime process exited abnormally: .*)?exit status 1\n$`, says)
}
