package compile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// compiled is what compile prints.
func compiled(t testing.TB, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), append([]string{"compile"}, args...), &stdout, &stderr), "%s", &stderr)
	return stdout.Bytes()
}

// A definition in YAML is the one in JSON, of every strategy.
func TestCompiledYAML(t *testing.T) {
	t.Parallel()
	for _, strategy := range kit.StrategyNames(compile.Strategies()) {
		args := []string{"redshift-data", "ExecuteStatement", "--max-wait", "1h", "--strategy", strategy}
		switch strategy {
		case string(compile.Loop):
		case string(compile.SyncTask):
			args[0], args[1] = "sagemaker", "CreateTrainingJob"
			args = append(args, "--start")
		default:
			args = append(args, "--arguments", `{"Sql": "-- {% $states.input.sql %}\n\t# 'no': \"yes\"", "WorkgroupName": "0x1F", "StatementName": "null", "Database": ""}`, "--start")
		}
		text := compiled(t, args...)
		var fromYAML any
		require.NoError(t, yaml.Unmarshal(compiled(t, append(args, "-o", "yaml")...), &fromYAML))
		again, err := json.Marshal(fromYAML)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(again))
	}
}

// Whatever stands in a definition, YAML has it too.
func FuzzYAML(f *testing.F) {
	for _, seed := range []string{"", "yes", "~", "1e3", "2026-11-21", "a: b", "- a", "# a", "%", "'", "\"\\", "a\nb ", "\u2028\x7f", "😀", "<<", "=", "{% $x %}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		value := map[string]any{"a" + text: text, "list": []any{text, map[string]any{}, []any{}, 1.5, true}}
		out, err := toYAML(jsontree.Compact(value))
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, yaml.Unmarshal(out, &got), "%s", out)
		require.Equal(t, value, got)
	})
}

// A name that YAML reads as "merge" was written without quotes.
func TestYAMLQuotesAMergeName(t *testing.T) {
	t.Parallel()
	out, err := toYAML([]byte(`{"<<": {"<": "<<"}}`))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, yaml.Unmarshal(out, &got), "%s", out)
	require.Equal(t, map[string]any{"<<": map[string]any{"<": "<<"}}, got)
}

// Where a definition in YAML ends too early or too late is said, too.
func TestCheckOfYAML(t *testing.T) {
	t.Parallel()
	args := []string{"dynamodb", "ExportCompleted", "--max-wait", "1h"}
	text := string(compiled(t, append(args, "-o", "yaml")...))
	lines := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct {
		text, want string
		code       int
	}{
		"the same":  {text: text, want: " is up to date\n"},
		"layout":    {text: "# Ours.\n" + strings.ReplaceAll(text, "\n", "\n\n"), want: " is up to date\n"},
		"short":     {text: lines[0], code: kit.ExitFailed, want: ": it ends before line 2 of what compile prints now: QueryLanguage: JSONata\n"},
		"long":      {text: text + "Version: \"1.0\"\n", code: kit.ExitFailed, want: " lines that compile prints now: Version: \"1.0\"\n"},
		"different": {text: strings.Replace(text, "Seconds: 60", "Seconds: 61", 1), code: kit.ExitFailed, want: "\n  has   TimeoutSeconds: 61\n  wants TimeoutSeconds: 60\n"},
		"empty":     {code: kit.ExitFailed, want: ": it differs from what compile prints now, first at line 1 of that:\n"},
		"no YAML":   {text: "a: [", code: kit.ExitFailed, want: ": yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "flow.yml")
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			var stdout, stderr bytes.Buffer
			require.Equal(t, c.code, runCommand(t.Context(), append([]string{"compile", "--check", file}, args...), &stdout, &stderr))
			require.Empty(t, stdout.String())
			require.Contains(t, stderr.String(), file)
			require.Contains(t, stderr.String(), c.want)
		})
	}
}
