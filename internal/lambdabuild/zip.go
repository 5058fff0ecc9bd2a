package lambdabuild

import (
	"fmt"
	"os"
	"time"

	"github.com/jobpoller/jobpoller/internal/archive"
)

// Pack returns the deployment package of a function: a zip file with one executable,
// bootstrap. Equal executables give equal packages, so that the CodeSha256 that Lambda
// shows of a function tells which sources it was built from.
func Pack(executable []byte) ([]byte, error) {
	return archive.Zip(time.Time{}, archive.File{Name: "bootstrap", Content: executable, Executable: true})
}

// Zip packs an executable in a file into another one.
func Zip(file, executable string) error {
	content, err := os.ReadFile(executable) //nolint:gosec // the caller's file
	if err != nil {
		return err
	}
	packed, err := Pack(content)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, packed, 0o600)
}
