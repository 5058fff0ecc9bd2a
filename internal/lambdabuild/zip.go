package lambdabuild

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jobpoller/jobpoller/internal/archive"
)

// Zip writes a deployment package: a zip file with one executable. Equal
// executables give equal packages, so that the CodeSha256 that Lambda shows of a
// function tells which sources it was built from.
func Zip(file, executable string) error {
	text, err := os.ReadFile(executable) //nolint:gosec // the caller's file
	if err != nil {
		return err
	}
	packed, err := archive.Zip(time.Time{}, archive.File{Name: filepath.Base(executable), Content: text, Executable: true})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, packed, 0o600)
}
