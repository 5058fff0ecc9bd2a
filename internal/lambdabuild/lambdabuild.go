// Package lambdabuild makes deployment packages of this module's Lambda
// functions, as `make lambdas` does: equal sources and an equal Go give equal
// packages, on any machine.
package lambdabuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the module with the functions.
const Module = "github.com/jobpoller/jobpoller"

// Flags are those of go build: two builds of equal sources are equal, for no
// path and no version control is in them, and an eighth smaller without
// inlining. A test compares them with the Makefile.
var Flags = []string{"-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-gcflags=all=-l"}

// settings are the environment of go build: Go's defaults in place of what the
// machine, or go env -w, has for what changes the result.
func settings(arch string) []string {
	return append(os.Environ(),
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOARM64=v8.0", "GOAMD64=v1", "GOFIPS140=off", "GOEXPERIMENT=", "GOFLAGS=-mod=readonly", "GOWORK=off")
}

// Folder returns the folder of this module as the module of the working folder
// has it: a read-only one of the module cache, that of a replace directive, or
// the working folder's own. The error is an [exec.ErrNotFound] without a Go
// toolchain.
func Folder(ctx context.Context) (string, error) {
	// A folder of vendored packages has the functions in no case.
	list := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", Module)
	text, err := list.Output()
	if err != nil {
		return "", failure("go list -m "+Module, err)
	}
	folder := strings.TrimSpace(string(text))
	if folder == "" {
		return "", fmt.Errorf("the module %s is not in the module cache; run: go mod download %s", Module, Module)
	}
	return folder, nil
}

// Build writes the deployment package of lambdas/<name>, with the module's own
// go.mod and go.sum. It writes nothing else but Go's cache.
func Build(ctx context.Context, folder, name, arch, archive string) error {
	scratch, err := os.MkdirTemp(filepath.Dir(archive), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays of it does no harm
	bootstrap := filepath.Join(scratch, "bootstrap")
	arguments := append([]string{"build"}, Flags...)
	build := exec.CommandContext(ctx, "go", append(arguments, "-o", bootstrap, "./lambdas/"+name)...) //nolint:gosec // the name is the caller's
	build.Dir, build.Env = folder, settings(arch)
	if _, err := build.Output(); err != nil {
		return failure("go build ./lambdas/"+name+" in "+folder, err)
	}
	packed := filepath.Join(scratch, "package.zip")
	if err := Zip(packed, bootstrap); err != nil {
		return err
	}
	return os.Rename(packed, archive) // whole, if several build it
}

// failure is the error of a command with what it said.
func failure(command string, err error) error {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%s: %w\n%s", command, err, failed.Stderr)
	}
	return fmt.Errorf("%s: %w", command, err)
}
