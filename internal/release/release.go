// Package release builds the archives in which people get the command: one for
// each machine, and checksums.txt. Equal sources and an equal Go give equal
// archives, in any folder.
package release

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// Checksums is the file with the SHA-256 of each archive, which sha256sum -c reads.
const Checksums = "checksums.txt"

// released is the variable that tells the command its version.
const released = lambdabuild.Module + "/internal/cli/kit.released"

// Machines are those that a release is built for.
func Machines() []lambdabuild.Machine {
	var all []lambdabuild.Machine
	for _, system := range []string{"darwin", "linux", "windows"} {
		for _, architecture := range []string{"amd64", "arm64"} {
			all = append(all, lambdabuild.Machine{System: system, Architecture: architecture})
		}
	}
	return all
}

// Release says what is built.
type Release struct {
	// Module is the folder of the module.
	Module string
	// Version is what the archives are named after and what the command prints.
	Version string
	// Time is that of the files in the archives.
	Time time.Time
}

var version = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+~-]*$`)

// Build writes the archives for the machines, and their checksums, into a folder
// that it makes.
func (r *Release) Build(ctx context.Context, folder string, machines ...lambdabuild.Machine) error {
	if !version.MatchString(r.Version) {
		return fmt.Errorf("the version %q is not one for a file's name: expected letters, digits and . + ~ -, such as v1.2.3", r.Version)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // what it holds is for everybody
		return err
	}
	var lines []string
	for _, machine := range machines {
		name, packed, err := r.pack(ctx, machine)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", machine.System, machine.Architecture, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), packed, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(packed), name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[2*sha256.Size:], b[2*sha256.Size:]) })
	return os.WriteFile(filepath.Join(folder, Checksums), []byte(strings.Join(lines, "")), 0o644) //nolint:gosec // as above
}

// pack returns the archive for a machine and its name.
func (r *Release) pack(ctx context.Context, machine lambdabuild.Machine) (name string, packed []byte, err error) {
	program, format, write := "jobpoller", ".tar.gz", archive.TarGz
	if machine.System == "windows" {
		program, format, write = "jobpoller.exe", ".zip", archive.Zip
	}
	scratch, err := os.MkdirTemp("", "release-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays of it does no harm
	built := filepath.Join(scratch, program)
	if err := lambdabuild.Build(ctx, r.Module, "./cmd/jobpoller", machine, built, "-ldflags", "-s -w -X "+released+"="+r.Version); err != nil {
		return "", nil, err
	}
	content, err := os.ReadFile(built) //nolint:gosec // just built
	if err != nil {
		return "", nil, err
	}
	files := []archive.File{{Name: program, Content: content, Executable: true}}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(r.Module, name)) //nolint:gosec // the caller's module
		if err != nil {
			return "", nil, err
		}
		files = append(files, archive.File{Name: name, Content: content})
	}
	packed, err = write(r.Time, files...)
	return strings.Join([]string{"jobpoller", r.Version, machine.System, machine.Architecture}, "_") + format, packed, err
}
