package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// synthesized builds the app and runs it as the CDK's command does, without Docker.
// It returns the cloud assembly.
func synthesized(t *testing.T) string {
	t.Helper()
	app := filepath.Join(t.TempDir(), "reports")
	run(t, exec.CommandContext(t.Context(), "go", "build", "-o", app, "."))
	folder := t.TempDir()
	synth := exec.CommandContext(t.Context(), app)
	synth.Env = append(os.Environ(), "CDK_OUTDIR="+folder, "CDK_DOCKER=there-is-no-docker")
	run(t, synth)
	return folder
}

// requirePackages looks at what goes to Lambda, which is built with the go.sum of
// jobpoller's own module.
func requirePackages(t *testing.T, folder string) {
	t.Helper()
	var assets struct {
		Files map[string]struct {
			Source struct {
				Path string `json:"path"`
			} `json:"source"`
		} `json:"files"`
	}
	readJSON(t, filepath.Join(folder, "Reports.assets.json"), &assets)
	packages := 0
	for _, file := range assets.Files {
		if filepath.Ext(file.Source.Path) != ".zip" {
			continue
		}
		packages++
		archive, err := zip.OpenReader(filepath.Join(folder, file.Source.Path))
		require.NoError(t, err)
		require.Len(t, archive.File, 1)
		require.Equal(t, "bootstrap", archive.File[0].Name)
		require.Equal(t, os.FileMode(0o755), archive.File[0].Mode())
		require.NoError(t, archive.Close())
	}
	require.Equal(t, 2, packages)
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// Neither the program nor the module of the user has anything of the Lambda
// functions.
func TestDependencies(t *testing.T) {
	t.Parallel()
	packages := run(t, exec.CommandContext(t.Context(), "go", "list", "-deps", "."))
	require.Contains(t, packages, "github.com/jobpoller/jobpoller/cdkapp\n")
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, text := range []string{packages, string(mod)} {
		for _, stranger := range []string{
			"github.com/jobpoller/jobpoller/lambdas", "github.com/jobpoller/jobpoller/statemachines/sim",
			"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go", "github.com/aws/aws-lambda-go", "bbolt",
		} {
			require.NotContains(t, text, stranger)
		}
	}
}

func run(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	output, err := command.Output()
	said := ""
	if failed, ok := err.(*exec.ExitError); ok { //nolint:errorlint // of os/exec itself
		said = string(failed.Stderr)
	}
	require.NoError(t, err, "%s: %s", strings.Join(command.Args, " "), said)
	return string(output)
}
