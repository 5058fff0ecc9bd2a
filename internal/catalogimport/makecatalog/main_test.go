package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
)

const botocore = "../testdata/botocore"

// project is a folder with the tables and no data.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "pollcore/catalog/sources"), os.DirFS("../testdata/tables")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pollcore/catalog/sources/endings.json"), []byte("[]\n"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "pollcore/catalog/models"), 0o750))
	return dir
}

// The data is written once, compared, and found to be different.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var out bytes.Buffer
	require.ErrorIs(t, run(&out, botocore, dir, true), errDifferent)
	require.Contains(t, out.String(), "add index.json\n")
	require.NoFileExists(t, filepath.Join(dir, "pollcore/catalog/data/index.json.gz"))

	require.NoError(t, run(&out, botocore, dir, false))
	require.FileExists(t, filepath.Join(dir, "pollcore/catalog/data/endings.json.gz"))
	out.Reset()
	require.NoError(t, run(&out, botocore, dir, true))
	require.Regexp(t, `(?m)^\d+ services with \d+ waiters and \d+ jobs compared with pollcore/catalog/data: 0 files differed$`, out.String())
	require.Regexp(t, `(?m)^\d+ services with \d+ operations compared with pollcore/catalog/models/data: 0 files differed$`, out.String())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "pollcore/catalog/data/shop.json.gz"), packed(t, `{"key": "shop", "operations": {}}`), 0o600))
	out.Reset()
	require.ErrorIs(t, run(&out, botocore, dir, true), errDifferent)
	require.Regexp(t, `(?m)^change shop.json \(line \d+\)$`, out.String())
	require.NoError(t, run(&out, botocore, dir, false))
	require.NoError(t, run(&out, botocore, dir, true))
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// Wrong models, tables and folders are told apart, and nothing is written.
func TestRunOnWrongInput(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var out bytes.Buffer
	require.ErrorIs(t, run(&out, t.TempDir(), dir, false), catalogimport.ErrModel)
	require.NoDirExists(t, filepath.Join(dir, "pollcore/catalog/data"))
	require.ErrorIs(t, run(&out, botocore, t.TempDir(), false), catalogimport.ErrTable)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "pollcore/catalog/data"), os.DirFS("../testdata/tables")))
	require.ErrorIs(t, run(&out, botocore, dir, false), catalogimport.ErrNotCatalogue)
}
