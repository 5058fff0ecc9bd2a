//go:build e2e

package cdkapp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
)

// glueFunctions deploys functions as a user does who says nothing of their code.
func glueFunctions(stack awscdk.Stack) {
	cdkapp.NewFunctions(stack, jsii.String("Poller"), &cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun")})
}

// assets returns where the packages of the functions will be, sorted.
func assets(t *testing.T, all template) []string {
	t.Helper()
	var keys []string
	for _, f := range all.of("AWS::Lambda::Function") {
		keys = append(keys, f.properties["Code"].(map[string]any)["S3Key"].(string))
	}
	slices.Sort(keys)
	require.Len(t, keys, 2)
	require.NotEqual(t, keys[0], keys[1])
	return keys
}

// Packages that make lambdas has written are taken as they are.
func TestE2ECodeFolder(t *testing.T) {
	t.Parallel()
	folder := codeFolder(t)
	fromProp := func(stack awscdk.Stack) {
		cdkapp.NewFunctions(stack, jsii.String("Poller"), &cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun"), CodeFolder: folder})
	}
	want := assets(t, synth(t, fromProp))
	inStackWith(t, map[string]any{cdkapp.ContextCodeFolder: *folder}, func(stack awscdk.Stack) {
		glueFunctions(stack)
		_, all := templateOf(stack)
		require.Equal(t, want, assets(t, all))
	})
	// Another package is another asset.
	require.NoError(t, os.WriteFile(filepath.Join(*folder, "runjob-arm64.zip"), []byte("changed"), 0o600))
	require.NotEqual(t, want, assets(t, synth(t, fromProp)))

	require.NoError(t, os.Remove(filepath.Join(*folder, "runjob-arm64.zip")))
	err := problem(t, fromProp)
	require.Equal(t, "CodeFolder", err.Prop)
	require.Contains(t, err.Problem, "expected the files that make lambdas writes, but "+filepath.Join(*folder, "runjob-arm64.zip")+" cannot be read")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Without a Go toolchain there is another way. A stack that is not asked for
// needs none.
func TestE2EFunctionsWithoutGo(t *testing.T) {
	inStack(t, func(awscdk.Stack) {}) // starts Node.js, which is on the path too
	t.Setenv("PATH", "")
	err := problem(t, func(stack awscdk.Stack) {
		cdkapp.NewFunctions(stack, jsii.String("Poller"), &cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun")})
	})
	require.Equal(t, "Stack/Poller", err.Path)
	require.Equal(t, "CodeFolder", err.Prop)
	require.ErrorIs(t, err, exec.ErrNotFound)
	require.Contains(t, err.Problem, "install Go 1.26 or later, or name a folder that make lambdas has written, here or with cdk -c jobpoller:codeFolder=<folder>")

	inStackWith(t, map[string]any{"aws:cdk:bundling-stacks": []string{"Another"}}, func(stack awscdk.Stack) {
		require.NotPanics(t, func() { glueFunctions(stack) })
	})
}

// Packages that nobody has built for a month do not stay.
func TestE2EOldPackagesAreRemoved(t *testing.T) {
	inStack(t, func(awscdk.Stack) {}) // starts Node.js, which has a cache too
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", home)
	root, err := os.UserCacheDir()
	require.NoError(t, err)
	folder := filepath.Join(root, "jobpoller", "lambdas")
	require.NoError(t, os.MkdirAll(folder, 0o750))
	for name, age := range map[string]int{"old.zip": 31, "kept.zip": 29} {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().AddDate(0, 0, -age)))
	}
	inStackWith(t, map[string]any{"aws:cdk:bundling-stacks": []string{"Another"}}, glueFunctions)
	require.NoFileExists(t, filepath.Join(folder, "old.zip"))
	require.FileExists(t, filepath.Join(folder, "kept.zip"))
}
