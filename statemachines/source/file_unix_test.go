//go:build unix

package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A pipe that a template names is not opened: nobody may ever write to it.
func TestPipe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	template := filepath.Join(folder, "t.yaml")
	require.NoError(t, os.WriteFile(template, []byte(machine("DefinitionUri: m.json")), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "m.json"), 0o600))
	d, err := source.LoadOne(t.Context(), template, source.Options{})
	require.NoError(t, err)
	require.Contains(t, d.Problems.Brief(), "m.json is no regular file")
	all, err := source.Load(t.Context(), []string{filepath.Join(folder, "*")}, source.Options{}) // nor is one that a glob gives
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// A pipe that the user names is read, as of a shell's <(...), until the context ends.
func TestNamedPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	_, err := source.LoadOne(ctx, name, source.Options{})
	require.EqualError(t, err, "interrupted")
	_, err = source.Load(ctx, []string{filepath.Dir(name)}, source.Options{})
	require.EqualError(t, err, "interrupted")
}

// A link may lead to another file of the template's folder, and not out of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	folder, elsewhere := t.TempDir(), t.TempDir()
	const definition = `{"StartAt": "D", "States": {"D": {"Type": "Succeed"}}}`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "inside.json"), []byte(definition), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "secret.json"), []byte(definition), 0o600))
	for target, problem := range map[string]string{
		"inside.json":                            "",
		filepath.Join(elsewhere, "secret.json"):  "m.json is a link to outside of the template's folder",
		filepath.Join(elsewhere, "nowhere.json"): "no such file",
	} {
		template, link := filepath.Join(folder, "t.yaml"), filepath.Join(folder, "m.json")
		require.NoError(t, os.WriteFile(template, []byte(machine("DefinitionUri: m.json")), 0o600))
		require.NoError(t, os.Symlink(target, link))
		d, err := source.LoadOne(t.Context(), template, source.Options{})
		require.NoError(t, err)
		if problem == "" {
			require.Empty(t, d.Problems)
		} else {
			require.Contains(t, d.Problems.Brief(), problem)
		}
		require.NoError(t, os.Remove(link))
	}
}
