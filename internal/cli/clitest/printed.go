package clitest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/internal/schema/schematest"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// kept is an output that keeps what it has taken.
type kept struct {
	io.Writer

	text bytes.Buffer
	err  error
}

// Write implements io.Writer.
func (k *kept) Write(p []byte) (int, error) {
	n, err := k.Writer.Write(p)
	k.text.Write(p[:n])
	if err != nil {
		k.err = err
	}
	return n, err
}

// runChecked runs a command line and returns the exit code, and an error if it has printed JSON
// that is not as its schema says.
func runChecked(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) (int, error) {
	if terminal.DisplayOf(terminal.NewWriter(stdout)) != nil { // for people
		return kit.Execute(ctx, root, args, stdout, stderr), nil
	}
	out := &kept{Writer: stdout}
	code := kit.Execute(ctx, root, args, out, stderr)
	c, _, err := root.Find(args)
	if err != nil || out.err != nil || out.text.Len() == 0 || c.Flags().Changed("help") {
		return code, nil //nolint:nilerr // there is no output to check
	}
	printed := schematest.Printed{Path: c.CommandPath(), Changed: c.Flags().Changed, Text: out.text.Bytes()}
	if output := c.Flags().Lookup("output"); output != nil {
		printed.Output = output.Value.String()
	}
	if err := printed.Check(module); err != nil {
		return code, fmt.Errorf("%q: %w", args, err)
	}
	return code, nil
}

// module is the folder of the module, which tests may leave. A script says it to its processes.
var module = cmp.Or(os.Getenv(moduleVariable), rootAtStart())

func rootAtStart() string {
	root, err := schema.Root()
	if err != nil {
		return "" // a process of a script
	}
	return root
}

// What a script tells its processes: the folder of the module, and the file that takes what they
// print against a schema.
const (
	moduleVariable     = "MODULE"
	violationsVariable = "CLITEST_VIOLATIONS"
)

// runProcess is the process jobpoller of a script.
func runProcess(root *cobra.Command) {
	kit.EndProcess(func(ctx context.Context) int {
		code, err := runChecked(ctx, root, os.Args[1:], os.Stdout, os.Stderr)
		if err != nil {
			if err := os.WriteFile(os.Getenv(violationsVariable), []byte(err.Error()), 0o600); err != nil { //nolint:gosec // the script names it
				panic(err)
			}
		}
		return code
	})
}

// RequireSchema compares the schema of what a command prints with what the type gives.
func RequireSchema(t *testing.T, name string, of reflect.Type, o schema.Options) {
	t.Helper()
	s, err := schema.Of(of, o)
	require.NoError(t, err, name)
	CompareSchema(t, name, s)
}

// CompareSchema compares a schema with its file.
func CompareSchema(t *testing.T, name string, s *jsonschema.Schema) {
	t.Helper()
	schematest.Require(t, *Update, name, s)
}
