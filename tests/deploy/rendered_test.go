package deploy_test

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what OpenTofu renders into tests/sources/rendered")

// renderedFile has the definitions that OpenTofu renders of the modules of a folder, by the
// addresses of their state machines. A test of package tests compares them with those that
// are read from the same files without OpenTofu.
const renderedFile = "rendered.json"

// OpenTofu renders what is recorded beside the modules.
func TestTofuRenders(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../sources/rendered/*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(folders), 10)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			module := map[string][]byte{}
			require.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || name == renderedFile {
					return err
				}
				module[name], err = os.ReadFile(filepath.Join(folder, name))
				return err
			}))
			f := tofuOf(t, module)
			out, err := f.run(t, "get", "-no-color")
			require.NoError(t, err, out)
			out, err = f.run(t, "apply", "-auto-approve", "-input=false", "-no-color")
			require.NoError(t, err, out)
			got, err := json.MarshalIndent(f.definitions(t), "", "  ")
			require.NoError(t, err)
			recorded := filepath.Join(folder, renderedFile)
			if *update {
				require.NoError(t, os.WriteFile(recorded, append(got, '\n'), 0o600))
			}
			want, err := os.ReadFile(recorded)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
		})
	}
}

// renderedModule is a module of a state that was applied.
type renderedModule struct {
	Resources []struct {
		Type    string `json:"type"`
		Address string `json:"address"`
		Values  struct {
			Definition string `json:"definition"`
		} `json:"values"`
	} `json:"resources"`
	Called []renderedModule `json:"child_modules"`
}

// definitions are those of the state machines that were applied, by their addresses.
func (f *tofu) definitions(t *testing.T) map[string]string {
	t.Helper()
	out, err := f.run(t, "show", "-json")
	require.NoError(t, err, out)
	var state struct {
		Values struct {
			Root renderedModule `json:"root_module"`
		} `json:"values"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &state))
	found := map[string]string{}
	for open := []renderedModule{state.Values.Root}; len(open) > 0; open = open[1:] {
		for _, r := range open[0].Resources {
			if r.Type == "aws_sfn_state_machine" {
				found[r.Address] = r.Values.Definition
			}
		}
		open = append(open, open[0].Called...)
	}
	require.NotEmpty(t, found)
	return found
}
