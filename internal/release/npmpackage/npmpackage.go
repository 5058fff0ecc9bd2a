// Package npmpackage packs the command for npm: a package for each machine that carries
// the program, and one with a launcher that depends on them all. npm installs the one
// that fits its machine, and nothing is downloaded besides.
package npmpackage

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

const (
	name        = "jobpoller"
	description = "Check, test and build Step Functions poll loops"
	licence     = "Apache-2.0"
)

//go:embed launcher.js
var launcher []byte

// platforms and processors are what Node.js calls those of Go.
var (
	platforms  = map[string]string{"darwin": "darwin", "linux": "linux", "windows": "win32"}
	processors = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// manifest is package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// Release is what all packages of a release have: a version as npm has it, the time of
// the files, and texts such as LICENSE.
type Release struct {
	Version string
	Time    time.Time
	Texts   []archive.File
}

// Platform packs the program of a machine, and returns the name of the file.
func (r *Release) Platform(on lambdabuild.Machine, program []byte) (file string, packed []byte, err error) {
	platform, processor := platforms[on.System], processors[on.Architecture]
	if platform == "" || processor == "" {
		return "", nil, fmt.Errorf("there is no name of npm for %s/%s", on.System, on.Architecture)
	}
	packed, err = r.pack(manifest{
		Name: packageFor(on), Version: r.Version, Description: description + ": the program for " + platform + " on " + processor, License: licence,
		OS: []string{platform}, CPU: []string{processor},
		PreferUnplugged: true, // Yarn runs no program in a zip file
	}, archive.File{Name: "bin/" + lambdabuild.Program(name, on), Content: program, Executable: true})
	return fmt.Sprintf("%s-%s-%s-%s.tgz", name, platform, processor, r.Version), packed, err
}

// Main packs the launcher, which depends on the packages of machines.
func (r *Release) Main(machines ...lambdabuild.Machine) (file string, packed []byte, err error) {
	m := manifest{
		Name: name, Version: r.Version, Description: description, License: licence,
		Bin: map[string]string{name: "bin/" + name}, Engines: map[string]string{"node": ">=20"},
		OptionalDependencies: map[string]string{},
	}
	for _, on := range machines {
		m.OptionalDependencies[packageFor(on)] = r.Version
	}
	packed, err = r.pack(m, archive.File{Name: "bin/" + name, Content: launcher, Executable: true})
	return fmt.Sprintf("%s-%s.tgz", name, r.Version), packed, err
}

func packageFor(on lambdabuild.Machine) string {
	return "@" + name + "/" + platforms[on.System] + "-" + processors[on.Architecture]
}

func (r *Release) pack(m manifest, program archive.File) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return nil, err
	}
	files := append([]archive.File{{Name: "package.json", Content: text.Bytes()}, program}, r.Texts...)
	for i, f := range files {
		files[i].Name = "package/" + f.Name
	}
	return archive.TarGz(r.Time, files...)
}
