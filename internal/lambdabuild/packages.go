package lambdabuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// LinkedPackage is a package that go build links.
type LinkedPackage struct {
	// Dir is the folder of its sources.
	Dir string `json:"Dir"`
	// Module has it; nil for a package of the standard library.
	Module *PackageModule `json:"Module"`
}

// PackageModule is a module with the folder of its sources.
type PackageModule struct {
	Path string `json:"Path"`
	Dir  string `json:"Dir"`
}

// Packages lists what [Build] links into a package for a machine, with build tags
// that a comma parts.
func Packages(ctx context.Context, folder, pkg string, on Machine, tags string) ([]LinkedPackage, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module", "-tags", tags, pkg) //nolint:gosec // the caller's package
	list.Dir, list.Env = folder, on.environment()
	text, err := list.Output()
	if err != nil {
		return nil, failure("go list -deps "+pkg+" in "+folder, err)
	}
	var all []LinkedPackage
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p LinkedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -deps %s: %w", pkg, err)
		}
		all = append(all, p)
	}
}
