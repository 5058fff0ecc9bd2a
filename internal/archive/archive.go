// Package archive writes zip and tar files that are equal for equal files: sorted,
// with one time, without owners, and with modes that do not come from a disk.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// File is a file of an archive.
type File struct {
	Name       string
	Content    []byte
	Executable bool
}

// mode is for everybody. Who can build an archive need not be able to run what is
// in it, so it is not that of a file on a disk.
func (f File) mode() fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

func sortByName(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// Zip returns a zip file. The format knows no time before 1980, which is written
// in place of an earlier one.
func Zip(modified time.Time, files ...File) ([]byte, error) {
	modified = modified.UTC()
	if oldest := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); modified.Before(oldest) {
		modified = oldest
	}
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, f := range sortByName(files) {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: modified}
		header.SetMode(f.mode())
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.Content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// Tar returns a tar file.
func Tar(modified time.Time, files ...File) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, f := range sortByName(files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.Name, Size: int64(len(f.Content)), Mode: int64(f.mode()),
			ModTime: modified.UTC().Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// TarGz returns a compressed tar file.
func TarGz(modified time.Time, files ...File) ([]byte, error) {
	text, err := Tar(modified, files...)
	if err != nil {
		return nil, err
	}
	return Gzip(text)
}

// Gzip compresses, without a name and a time.
func Gzip(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
