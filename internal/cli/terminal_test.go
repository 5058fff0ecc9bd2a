package cli

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// What a job says is shown on the line of its reason: it moves no cursor, sets no
// title and forges no line.
func TestTextOfJobsIsQuoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	definition, mocks := filepath.Join(dir, "m.asl.json"), filepath.Join(dir, "mocks.json")
	require.NoError(t, os.WriteFile(definition, []byte(`{"StartAt": "A", "States": {"A": {"Type": "Task",
		"Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "End": true}}}`), 0o600))
	evil := `\u001b]0;title\u0007\u001b[2J\nSUCCEEDED after 0s\u009b\u202e`
	require.NoError(t, os.WriteFile(mocks, []byte(`{"A": {"fail": {"error": "Evil`+evil+`", "cause": "`+evil+`"}}}`), 0o600))
	for _, args := range [][]string{{"--trace"}, {"-o", "json"}, {"-o", "jsonl", "--trace"}} {
		var stdout, stderr bytes.Buffer
		code := runCommand(t.Context(), append([]string{"run", definition, "--mocks", mocks, "--virtual"}, args...), &stdout, &stderr)
		require.Equal(t, kit.ExitFailed, code, "%s%s", &stdout, &stderr)
		shown := stdout.String() + stderr.String()
		require.Contains(t, shown, "title")
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u202e]", shown)
		require.NotRegexp(t, `(?m)^SUCCEEDED`, shown)
	}
}

// A file's name and content are quoted in errors too.
func TestTextOfFilesIsQuoted(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"lint", "no\x1b[2J\nSUCCEEDED after 0s.json"},
		{"run", "no\x1b[2J\nSUCCEEDED after 0s.json"},
		{"show", "no\x1b[2J\nSUCCEEDED", "X"},
		{"no\x1b[2J\nSUCCEEDED"},
		{"run", "--name", "no\x1b[2J\nSUCCEEDED"},
	} {
		var stdout, stderr bytes.Buffer
		require.NotZero(t, runCommand(t.Context(), args, &stdout, &stderr))
		shown := stdout.String() + stderr.String()
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f]", shown)
		require.NotRegexp(t, `(?m)^SUCCEEDED`, shown)
	}
}

// The name of a state stands in the place of a problem, which no command prints as
// a line of its own.
func TestNamesInPlacesAreQuoted(t *testing.T) {
	t.Parallel()
	evil := `A\u001b]0;title\u0007\nSUCCEEDED after 0s\r\u009b\u202e`
	definition := filepath.Join(t.TempDir(), "a\x1b[2J\nSUCCEEDED after 0s.asl.json")
	require.NoError(t, os.WriteFile(definition, []byte(`{"StartAt": "`+evil+`", "States": {"`+evil+`": {"Type": "Pass", "Next": "B`+evil+`"}}}`), 0o600))
	for _, command := range [][]string{{"lint"}, {"graph"}, {"run"}, {"run", "--virtual"}, {"lint", "-o", "json"}} {
		var stdout, stderr bytes.Buffer
		require.NotZero(t, runCommand(t.Context(), append(command, definition), &stdout, &stderr), command)
		shown := stdout.String() + stderr.String()
		require.Contains(t, shown, "title", command)
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u202e]", shown, command)
		require.NotRegexp(t, `(?m)^SUCCEEDED`, shown, command)
	}
}

// Nothing of the command writes around the package terminal: package fmt prints
// what it is given as it is, and os.Stdout is the terminal itself.
func TestOutputGoesThroughTheTerminal(t *testing.T) {
	t.Parallel()
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && d.Name() == "clitest" {
			return fs.SkipDir
		}
		if filepath.Ext(name) == ".go" {
			files = append(files, name)
		}
		return err
	}))
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			called := fmt.Sprintf("%s.%s", selector.X, selector.Sel.Name)
			if called == "terminal.Fprintf" {
				seen++
			}
			forbidden := called == "os.Stdout" || called == "os.Stderr"
			for _, prefix := range []string{"fmt.Fprint", "fmt.Print", "log.Print", "log.Fatal", "log.Panic", "log.Default", "slog.Default"} {
				forbidden = forbidden || strings.HasPrefix(called, prefix) // a logger made with log.New has a writer
			}
			require.False(t, forbidden && filepath.Base(name) != "process.go", "%s: %s: write with terminal.Fprintf to the command's own output", name, called)
			return true
		})
	}
	require.NotZero(t, seen)
}
