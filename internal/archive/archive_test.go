package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/archive"
)

// entry is what a reader says of a file.
type entry struct {
	name     string
	content  string
	mode     fs.FileMode
	modified time.Time
	owner    string
}

func readTarGz(t *testing.T, packed []byte) (entries []entry) {
	t.Helper()
	text, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	r := tar.NewReader(text)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Zero(t, header.Uid+header.Gid)
		entries = append(entries, entry{header.Name, string(content), header.FileInfo().Mode(), header.ModTime.UTC(), header.Uname + header.Gname})
	}
}

func readZip(t *testing.T, packed []byte) (entries []entry) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	require.NoError(t, err)
	for _, f := range r.File {
		opened, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(opened)
		require.NoError(t, err)
		entries = append(entries, entry{f.Name, string(content), f.Mode(), f.Modified.UTC(), ""})
	}
	return entries
}

// The order of the files and the zone of the time do not show.
func TestArchives(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	program, licence := archive.File{Name: "program", Content: []byte("binary"), Executable: true}, archive.File{Name: "LICENSE", Content: []byte("text")}
	for name, format := range map[string]struct {
		write func(time.Time, ...archive.File) ([]byte, error)
		read  func(*testing.T, []byte) []entry
	}{
		"zip":    {archive.Zip, readZip},
		"tar.gz": {archive.TarGz, readTarGz},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packed, err := format.write(at, program, licence)
			require.NoError(t, err)
			require.Equal(t, []entry{{"LICENSE", "text", 0o644, at, ""}, {"program", "binary", 0o755, at, ""}}, format.read(t, packed))
			again, err := format.write(at.In(time.FixedZone("", 3600)).Add(time.Nanosecond), licence, program)
			require.NoError(t, err)
			require.Equal(t, packed, again)
		})
	}
}

func TestZipBeforeItsOldestTime(t *testing.T) {
	t.Parallel()
	packed, err := archive.Zip(time.Unix(0, 0), archive.File{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), readZip(t, packed)[0].modified)
}
