// Package release builds what people install: archives of the command, the Lambda
// functions, packages for npm and PyPI, an image, and what all of them are made of.
// Equal sources and an equal Go give equal files, in any folder.
package release

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release/linked"
	"github.com/jobpoller/jobpoller/internal/release/sbom"
)

const (
	name = "jobpoller"
	// Checksums is the file with the SHA-256 of each other one, which sha256sum -c reads.
	Checksums = "checksums.txt"
	// Notices is the file with the licences of all that is linked, also in every package.
	Notices = "THIRD_PARTY_NOTICES.txt"
	readme  = "README.md"
	// released is the variable that tells the command its version.
	released = lambdabuild.Module + "/internal/cli/kit.released"
)

// Machines are those that a release is built for.
func Machines() []lambdabuild.Machine {
	var all []lambdabuild.Machine
	for _, system := range []string{"darwin", "linux", "windows"} {
		for _, architecture := range architectures() {
			all = append(all, lambdabuild.Machine{System: system, Architecture: architecture})
		}
	}
	return all
}

// architectures are those of the machines, and of AWS Lambda.
func architectures() []string { return []string{"amd64", "arm64"} }

// Release says what is built.
type Release struct {
	// Module is the folder of the module.
	Module string
	// Version is what the archives are named after and what the command prints.
	Version string
	// Time is that of the files in the archives.
	Time time.Time
	// Functions are the packages of Lambda functions that go with it.
	Functions []string
}

// program is one that was built, from a package with its name.
type program struct {
	name    string
	on      lambdabuild.Machine
	content []byte
	modules []linked.Module
}

// Build writes a release for the machines into a folder that it makes.
func (r *Release) Build(ctx context.Context, folder string, machines ...lambdabuild.Machine) error {
	if err := r.checkVersion(); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // what it holds is for everybody
		return err
	}
	commands, functions, err := r.buildAll(ctx, machines)
	if err != nil {
		return err
	}
	files, err := r.pack(commands, functions)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b archive.File) int { return strings.Compare(a.Name, b.Name) })
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.Content), f.Name)
	}
	for _, f := range append(files, archive.File{Name: Checksums, Content: []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(folder, f.Name), f.Content, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

// buildAll builds the command for the machines, and the functions for AWS Lambda.
func (r *Release) buildAll(ctx context.Context, machines []lambdabuild.Machine) (commands, functions []program, err error) {
	for _, on := range machines {
		p, err := r.build(ctx, "./cmd/"+name, on)
		if err != nil {
			return nil, nil, err
		}
		commands = append(commands, p)
	}
	for _, pkg := range r.Functions {
		for _, architecture := range architectures() {
			p, err := r.build(ctx, pkg, lambdabuild.Lambda(architecture))
			if err != nil {
				return nil, nil, err
			}
			functions = append(functions, p)
		}
	}
	return commands, functions, nil
}

func (r *Release) build(ctx context.Context, pkg string, on lambdabuild.Machine) (p program, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s for %s/%s: %w", pkg, on.System, on.Architecture, err)
		}
	}()
	scratch, err := os.MkdirTemp("", "release-")
	if err != nil {
		return program{}, err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays of it does no harm
	built := filepath.Join(scratch, "program")
	p = program{name: path.Base(pkg), on: on}
	if slices.Contains(r.Functions, pkg) {
		err = lambdabuild.Executable(ctx, r.Module, pkg, on, built)
	} else {
		err = lambdabuild.Build(ctx, r.Module, pkg, on, built, "-ldflags", "-s -w -X "+released+"="+r.Version)
	}
	if err != nil {
		return program{}, err
	}
	if p.content, err = os.ReadFile(built); err != nil { //nolint:gosec // just built
		return program{}, err
	}
	p.modules, err = linked.Modules(ctx, r.Module, pkg, built)
	return p, err
}

// pack makes the files of the release, apart from their sums.
func (r *Release) pack(commands, functions []program) (files []archive.File, err error) {
	texts, err := r.texts("LICENSE", "NOTICE", readme)
	if err != nil {
		return nil, err
	}
	var (
		used     [][]linked.Module
		contents []sbom.Program
	)
	for _, p := range slices.Concat(commands, functions) {
		used = append(used, p.modules)
		contents = append(contents, sbom.Program{Name: strings.Join([]string{p.name, p.on.System, p.on.Architecture}, "_"), Content: p.content, Modules: p.modules})
	}
	bill, err := sbom.Encode(r.Version, r.Time, contents...)
	if err != nil {
		return nil, err
	}
	notices := archive.File{Name: Notices, Content: []byte(linked.Notices(linked.Union(used...)))}
	files = append(files, notices, archive.File{Name: r.file("sbom.cdx.json"), Content: bill})
	texts = append(texts, notices)
	for _, pack := range []func([]program, []archive.File) ([]archive.File, error){r.archives, r.npmPackages, r.wheels, r.image} {
		made, err := pack(commands, texts)
		if err != nil {
			return nil, err
		}
		files = append(files, made...)
	}
	for _, p := range functions {
		packed, err := lambdabuild.Pack(p.content)
		if err != nil {
			return nil, err
		}
		files = append(files, archive.File{Name: r.file(p.name, p.on.Architecture+".zip"), Content: packed})
	}
	return files, nil
}

// file is the name of a file of the release.
func (r *Release) file(parts ...string) string {
	return strings.Join(append([]string{name, r.Version}, parts...), "_")
}

// texts reads files of the module.
func (r *Release) texts(names ...string) (files []archive.File, err error) {
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(r.Module, name)) //nolint:gosec // the caller's module
		if err != nil {
			return nil, err
		}
		files = append(files, archive.File{Name: name, Content: content})
	}
	return files, nil
}
