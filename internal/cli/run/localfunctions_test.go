package run

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// A flag that cannot work says what to pass.
func TestLocalFunctionsThatCannotRun(t *testing.T) {
	t.Parallel()
	const shipped = "../../../statemachines/lambda-loop.asl.json"
	told := filepath.Join(t.TempDir(), "told.asl.json")
	require.NoError(t, os.WriteFile(told, []byte(`{"StartAt": "Wait", "States": {"Wait": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
		"Parameters": {"FunctionName": "jobpoller-runjob", "Payload.$": "$$"}, "End": true}}}`), 0o600))
	for want, args := range map[string][]string{
		"--lambda run-job: the Tasks of check-status work on the same start records: pass --lambda check-status=go:./functions, too": {
			shipped, "--lambda", "run-job=go:./functions",
		},
		"--lambda needs a definition, such as: jobpoller run poller.asl.json --simulate 12m, or both run-job and check-status": {
			"--lambda", "run-job=go:./functions",
		},
		"--lambda run-job needs a request for one of your jobs: pass --input request.json": {
			"--lambda", "run-job=go:./functions", "--lambda", "check-status=go:./functions",
		},
		"--lambda start: no Task invokes start; there are jobpoller-checkstatus, jobpoller-runjob": {shipped, "--lambda", "start=go:./functions"},
		"--lambda collector: no Task invokes collector": {
			shipped, "--lambda", "run-job=./none", "--lambda", "check-status=./none", "--lambda", "collector=./none",
		},
		`waits for the collector, which run starts for its own functions alone: test it with package handlertest`: {
			told, "--lambda", "run-job=./none", "--lambda", "check-status=./none",
		},
	} {
		var stderr bytes.Buffer
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append([]string{"run"}, args...), io.Discard, &stderr), "%s", &stderr)
		require.Contains(t, stderr.String(), want)
	}
}

// What stands behind go: may be anything. The error says what is wrong with it, and a process
// that ends has its last words shown.
func TestPackagesOfGoThatCannotRun(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/shop\n",
		"m.asl.json": `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
			"Parameters": {"FunctionName": "enrich"}, "End": true}}}`,
		"library/a.go": "package library\n",
		"own/go.mod":   "module example.com/own\n",
		"own/cmd/a.go": "package main\n\nimport \"example.com/own/end\"\n\nfunc main() { end.End() }\n",
		"own/end/a.go": "package end\n\nimport \"os\"\n\nfunc End() { os.Exit(4) }\n",
		"broken/a.go":  "package main\n\nfunc main() { missing() }\n",
		"ends/a.go":    "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"SHOP_URL is not set\\n\"); os.Exit(3) }\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	t.Chdir(folder)
	try := func(want int, args ...string) string {
		var out bytes.Buffer
		require.Equal(t, want, runCommand(t.Context(), append([]string{"run", "m.asl.json", "-q"}, args...), &out, &out), "%s", &out)
		return out.String()
	}
	for what, want := range map[string]string{
		"go:./none":    "there is no folder ./none here: pass the folder of a package main, from the current folder",
		"go:./library": "./library is package library, which cannot run: name a package main, such as one that calls handler.Main",
		"go:./broken":  "broken/a.go:3:15: undefined: missing",
		"go:shop/none": "package shop/none is not in std",
		"go:library":   "for the folder here, pass go:./library",
		"go:./own/end": "end is package end, which cannot run",
		"./library":    "./library is a folder: pass go:./library to build its package of Go, or a program in it",
		"./none":       `no executable at "./none"`,
	} {
		said := try(kit.ExitUsage, "--lambda", "enrich="+what)
		require.Contains(t, said, "jobpoller: --lambda enrich: ", what)
		require.Contains(t, said, want, what)
	}
	said := try(kit.ExitFailed, "--lambda", "enrich=go:./ends")
	require.Contains(t, said, "enrich: SHOP_URL is not set\n")
	require.Contains(t, said, "Runtime exited with error: exit status 3")
	require.Contains(t, try(kit.ExitFailed, "--lambda", "enrich=go:./own/cmd"), "exit status 4", "a module of its own")
	for name, own := range map[string]string{"arn:aws:lambda:us-east-1:123456789012:function:enrich": "enrich", "enrich:live": "enrich", "arn:aws:lambda:us-east-1:123456789012:function:enrich:7": "enrich"} {
		require.Contains(t, try(kit.ExitUsage, "--lambda", name+"=./none"), "pass its name alone, --lambda "+own+"=./none")
	}
	require.Contains(t, try(kit.ExitUsage, "--lambda", "enrih=go:./ends"), `no Task invokes enrih (did you mean "enrich"?); there are enrich`)

	t.Setenv("PATH", folder)
	require.Contains(t, try(kit.ExitUsage, "--lambda", "enrich=go:./ends"),
		"--lambda enrich: go:./ends needs the go command in the PATH: install Go, or pass a program that is built: ./bootstrap")
}
