package lambdabuild

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Zip writes a deployment package: a zip file with one executable. Equal
// executables give equal packages, so that the CodeSha256 that Lambda shows of a
// function tells which sources it was built from.
func Zip(archive, executable string) error {
	text, err := os.ReadFile(executable) //nolint:gosec // the caller's file
	if err != nil {
		return err
	}
	// The oldest time that the format knows. Who can build a package need not
	// be able to run it, so the mode is not that of the file.
	header := &zip.FileHeader{Name: filepath.Base(executable), Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(0o755)
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	entry, err := w.CreateHeader(header)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	if _, err := entry.Write(text); err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	return os.WriteFile(archive, packed.Bytes(), 0o600)
}
