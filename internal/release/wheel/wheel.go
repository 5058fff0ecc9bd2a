// Package wheel packs the command for PyPI: a wheel for each machine that puts the
// program beside Python's own.
package wheel

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

const name = "jobpoller"

// platforms are the tags of a machine. The programs need no library, so that each Linux
// will do, but pip wants to hear of one that is old enough: by its name of today, by that
// of old versions of pip, and for musl. Go 1.26 needs macOS 12.
var platforms = map[lambdabuild.Machine][]string{
	{System: "darwin", Architecture: "amd64"}:  {"macosx_12_0_x86_64"},
	{System: "darwin", Architecture: "arm64"}:  {"macosx_12_0_arm64"},
	{System: "linux", Architecture: "amd64"}:   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{System: "linux", Architecture: "arm64"}:   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{System: "windows", Architecture: "amd64"}: {"win_amd64"},
	{System: "windows", Architecture: "arm64"}: {"win_arm64"},
}

// Release is what all wheels of a release have: a version as Python has it, the time of
// the files, the text that PyPI shows, in Markdown, and licences and notices.
type Release struct {
	Version string
	Time    time.Time
	Readme  string
	Texts   []archive.File
}

// Pack packs the program of a machine, and returns the name of the file.
func (r *Release) Pack(on lambdabuild.Machine, program []byte) (file string, packed []byte, err error) {
	tags := platforms[on]
	if tags == nil {
		return "", nil, fmt.Errorf("there is no tag of Python for %s/%s", on.System, on.Architecture)
	}
	base := name + "-" + r.Version
	info := base + ".dist-info/"
	var about strings.Builder
	fmt.Fprintf(&about, "Metadata-Version: 2.4\nName: %s\nVersion: %s\n", name, r.Version)
	about.WriteString("Summary: Check, test and build Step Functions poll loops\nLicense-Expression: Apache-2.0\n")
	for _, t := range r.Texts {
		fmt.Fprintf(&about, "License-File: %s\n", t.Name)
	}
	about.WriteString("Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n" + r.Readme)
	var build strings.Builder
	build.WriteString("Wheel-Version: 1.0\nGenerator: jobpoller\nRoot-Is-Purelib: false\n")
	for _, tag := range tags {
		fmt.Fprintf(&build, "Tag: py3-none-%s\n", tag)
	}
	files := []archive.File{
		{Name: base + ".data/scripts/" + lambdabuild.Program(name, on), Content: program, Executable: true},
		{Name: info + "METADATA", Content: []byte(about.String())},
		{Name: info + "WHEEL", Content: []byte(build.String())},
	}
	for _, t := range r.Texts {
		t.Name = info + "licenses/" + t.Name
		files = append(files, t)
	}
	files = append(files, archive.File{Name: info + "RECORD", Content: record(files, info+"RECORD")})
	packed, err = archive.Zip(r.Time, files...)
	return base + "-py3-none-" + strings.Join(tags, ".") + ".whl", packed, err
}

// record lists the files with their sums, and itself without.
func record(files []archive.File, itself string) []byte {
	var lines []string
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		lines = append(lines, fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Content)))
	}
	slices.Sort(lines)
	return []byte(strings.Join(append(lines, itself+",,\n"), ""))
}
