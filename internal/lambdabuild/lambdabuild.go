// Package lambdabuild is the one recipe by which this module's Lambda functions
// are built: by make lambdas, when an app of the CDK is synthesized, for `jobpoller
// run --processes`, and for tests. Equal sources and an equal Go give equal
// deployment packages, on any machine.
package lambdabuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Module is the module with the functions.
const Module = "github.com/jobpoller/jobpoller"

// RunJob and CheckStatus are the packages of the functions in [Module].
const (
	RunJob      = "./lambdas/runjob"
	CheckStatus = "./lambdas/checkstatus"
)

// flags are those of the functions. Without inlining they are an eighth smaller,
// and a poll waits for the network anyway.
var flags = []string{"-tags", "lambda.norpc", "-ldflags", "-s -w", "-gcflags=all=-l"}

// Machine is what a function runs on, as Go names it.
type Machine struct{ System, Architecture string }

// Lambda is a machine of AWS Lambda: arm64 or amd64.
func Lambda(architecture string) Machine { return Machine{"linux", architecture} }

// Program is the file of a program that a machine can run.
func Program(name string, on Machine) string {
	if on.System == "windows" {
		return name + ".exe"
	}
	return name
}

// Host is the machine of this process.
func Host() Machine { return Machine{runtime.GOOS, runtime.GOARCH} }

// environment is that of go build: Go's defaults in place of what the machine, or
// go env -w, has for what changes the result.
func (m Machine) environment() []string {
	return append(os.Environ(),
		"CGO_ENABLED=0", "GOOS="+m.System, "GOARCH="+m.Architecture, "GOARM64=v8.0", "GOAMD64=v1", "GOFIPS140=off", "GOEXPERIMENT=",
		"GOFLAGS=-mod=readonly", "GOWORK=off")
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

// Executable builds a function of the module in a folder, such as [RunJob].
func Executable(ctx context.Context, folder, pkg string, on Machine, file string) error {
	if err := Build(ctx, folder, pkg, on, file, flags...); err != nil {
		return err
	}
	return checkMain(ctx, folder, pkg, on)
}

// Build builds a package of the module in a folder, with that module's own go.mod
// and go.sum, and with more flags of go build. Two builds of equal sources are
// equal, for no path and no version control is in them. It writes the file and
// Go's cache alone.
func Build(ctx context.Context, folder, pkg string, on Machine, file string, flags ...string) error {
	file, err := filepath.Abs(file) // go build runs in the folder
	if err != nil {
		return err
	}
	arguments := slices.Concat([]string{"build", "-o", file, "-trimpath", "-buildvcs=false"}, flags, []string{pkg})
	build := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // the caller's package
	build.Dir, build.Env = folder, on.environment()
	if _, err := build.Output(); err != nil {
		return failure("go build "+pkg+" in "+folder, err)
	}
	return nil
}

// Package builds the deployment package of a function for an architecture of AWS
// Lambda. The archive is there whole or not at all.
func Package(ctx context.Context, folder, pkg, architecture, archive string) error {
	scratch, err := os.MkdirTemp(filepath.Dir(archive), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays of it does no harm
	bootstrap, packed := filepath.Join(scratch, "bootstrap"), filepath.Join(scratch, "package.zip")
	if err := Executable(ctx, folder, pkg, Lambda(architecture), bootstrap); err != nil {
		return err
	}
	if err := Zip(packed, bootstrap); err != nil {
		return err
	}
	return os.Rename(packed, archive)
}

// checkMain refuses a package that is not main: go build makes an archive of it, which does
// not run.
func checkMain(ctx context.Context, folder, pkg string, on Machine) error {
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.Name}}", pkg) //nolint:gosec // the caller's package
	list.Dir, list.Env = folder, on.environment()
	text, err := list.Output()
	if err != nil {
		return failure("go list "+pkg+" in "+folder, err)
	}
	if name := strings.TrimSpace(string(text)); name != "main" {
		return fmt.Errorf("%s is package %s, which cannot run: name a package main, such as one that calls handler.Main", pkg, name)
	}
	return nil
}

// failure is the error of a command with what it printed.
func failure(command string, err error) error {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%s: %w\n%s", command, err, bytes.TrimSpace(failed.Stderr))
	}
	return fmt.Errorf("%s: %w", command, err)
}
