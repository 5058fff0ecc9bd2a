// Package clitest runs commands in tests: as functions, in scripts, and against services
// that answer as they are told.
package clitest

import (
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/tests/race"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "write the golden files of the scripts")

// localCredentials satisfy every server, so that nobody looks for others.
var localCredentials = map[string]string{
	"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_EC2_METADATA_DISABLED": "true",
}

// NewRunner returns what runs a command line of some commands, and returns the exit code. It panics
// if a command prints JSON that is not as its schema says.
func NewRunner(root func() *cobra.Command) func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		code, err := runChecked(ctx, root(), args, stdout, stderr)
		if err != nil {
			panic(err)
		}
		return code
	}
}

// RunTests is TestMain: it runs the tests, and in a process of a script the command
// jobpoller, or one of others.
func RunTests(m *testing.M, others map[string]func(), root func() *cobra.Command) {
	if filepath.Base(os.Args[0]) != "jobpoller" { // the command of a script, which sets its environment itself
		debug.SetGCPercent(400) // what the tests make is much garbage in little memory
		for name, value := range localCredentials {
			if err := os.Setenv(name, value); err != nil {
				panic(err)
			}
		}
	}
	programs := map[string]func(){"jobpoller": func() { runProcess(root()) }}
	maps.Copy(programs, others)
	testscript.Main(m, programs)
}

// RunScripts runs the scripts of a folder. Each gets an S3 server with the bucket
// "there" at $S3, and the module's folder as $MODULE. The race detector sees the first of each
// four: each command of a script is a process that starts anew. What runs at the same time in
// a command has tests without processes.
func RunScripts(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = race.OneIn(4, files)
	environment, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	values := strings.Split(strings.TrimSpace(string(environment)), "\n")
	testscript.Run(t, testscript.Params{
		Files: files, UpdateScripts: *Update,
		Setup: func(e *testscript.Env) error {
			server, err := embeddeds3.Start(embeddeds3.Options{Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
			if err != nil {
				return err
			}
			e.Defer(func() { _ = server.Close() })
			e.Setenv(moduleVariable, moduleFolder(t))
			violations := filepath.Join(t.TempDir(), "violations")
			e.Setenv(violationsVariable, violations)
			e.Defer(func() {
				if text, err := os.ReadFile(violations); err == nil { //nolint:gosec // of this test
					t.Errorf("printed against its schema: %s", text)
				}
			})
			e.Setenv("S3", server.URL())
			for i, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY"} {
				e.Setenv(name, values[i])
			}
			for name, value := range localCredentials {
				e.Setenv(name, value)
			}
			return server.CreateBucket("there")
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "bigjson": bigJSON, "serve": serve, "requests": requests, "untimed": writeUntimed,
		},
	})
}

// exits runs a command and checks its exit code: exits 3 jobpoller run ...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failure.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// bigJSON writes a JSON object of about so many bytes: bigjson FILE BYTES.
func bigJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bigjson FILE BYTES")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := `{"big":"` + strings.Repeat("x", size) + `"}`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// moduleFolder is the folder of the module.
func moduleFolder(t testing.TB) string {
	t.Helper()
	folder, err := schema.Root()
	require.NoError(t, err)
	return folder
}

// SplitShell splits a command line into words as a shell does.
func SplitShell(line string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`(\\'|[^\s'\\]|'[^']*')+`).FindAllString(line, -1) {
		word = strings.ReplaceAll(word, `'\''`, "\x00")
		words = append(words, strings.ReplaceAll(strings.ReplaceAll(word, "'", ""), "\x00", "'"))
	}
	return words
}
