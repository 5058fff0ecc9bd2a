//go:build e2e

package cdkapp_test

import (
	"archive/zip"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/stretchr/testify/require"
)

// Functions are built when the app is synthesized, and twice are the same.
func TestE2EFunctionsAreBuilt(t *testing.T) {
	t.Parallel()
	first := assets(t, synth(t, glueFunctions))
	require.Equal(t, first, assets(t, synth(t, glueFunctions)))

	inStack(t, func(stack awscdk.Stack) {
		glueFunctions(stack)
		_, all := templateOf(stack)
		require.Equal(t, first, assets(t, all))
		for _, key := range first {
			requireForARM(t, filepath.Join(*awscdk.App_Of(stack).Outdir(), "asset."+key))
		}
	})
}

// requireForARM asks for a package with an executable for arm64.
func requireForARM(t *testing.T, path string) {
	t.Helper()
	archive, err := zip.OpenReader(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, archive.Close()) })
	require.Len(t, archive.File, 1)
	require.Equal(t, "bootstrap", archive.File[0].Name)
	packed, err := archive.File[0].Open()
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "bootstrap")
	text, err := io.ReadAll(packed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(copied, text, 0o600))
	executable, err := elf.Open(copied)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, executable.Close()) })
	require.Equal(t, elf.EM_AARCH64, executable.Machine)
}
