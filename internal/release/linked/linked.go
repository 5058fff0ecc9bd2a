// Package linked finds the modules that are linked into programs, with their licences
// and notices.
package linked

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// Module is a module of which a program has packages. The standard library is one, too.
type Module struct {
	Path, Version string
	// Licences are the identifiers of SPDX of its licences, all of which hold.
	Licences []string
	// Texts are its licences and notices, by their names in the module.
	Texts []Text
}

// Text is a file that has to come along with a program.
type Text struct{ Name, Content string }

// Expression is the licence of the module as SPDX writes it.
func (m *Module) Expression() string { return strings.Join(m.Licences, " AND ") }

// standard is the path of the standard library, as package URLs have it.
const standard = "std"

// Modules reads which modules a program has that was built from a package of the
// module in a folder, apart from that module. Of each module it takes the licences
// and notices beside the packages that are linked, and above them.
func Modules(ctx context.Context, folder, pkg, program string) ([]Module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	versions := map[string]Module{}
	for _, d := range info.Deps {
		m := Module{Path: d.Path, Version: d.Version}
		if r := d.Replace; r != nil {
			m.Path, m.Version = r.Path, r.Version
		}
		if m.Version == "" || m.Version == "(devel)" {
			return nil, fmt.Errorf("the module %s is replaced by the folder %s: nobody could get its sources; require a version", d.Path, m.Path)
		}
		versions[d.Path] = m
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	on := lambdabuild.Machine{System: settings["GOOS"], Architecture: settings["GOARCH"]}
	packages, err := lambdabuild.Packages(ctx, folder, pkg, on, settings["-tags"])
	if err != nil {
		return nil, err
	}
	root, err := goRoot(ctx, folder)
	if err != nil {
		return nil, err
	}
	versions[standard] = Module{Path: standard, Version: strings.TrimPrefix(info.GoVersion, "go")}
	texts := map[string]map[string]string{standard: {}}
	if err := addTexts(texts[standard], root, root); err != nil {
		return nil, err
	}
	for _, p := range packages {
		if p.Module == nil || p.Module.Path == info.Main.Path {
			continue
		}
		if texts[p.Module.Path] == nil {
			texts[p.Module.Path] = map[string]string{}
		}
		if err := addTexts(texts[p.Module.Path], p.Module.Dir, p.Dir); err != nil {
			return nil, err
		}
	}
	if built, listed := slices.Sorted(maps.Keys(versions)), slices.Sorted(maps.Keys(texts)); !slices.Equal(built, listed) {
		return nil, fmt.Errorf("%s has the modules %v, and go list %v: build it again", program, built, listed)
	}
	var all []Module
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		m := versions[name]
		for _, file := range slices.Sorted(maps.Keys(texts[name])) {
			m.Texts = append(m.Texts, Text{Name: file, Content: texts[name][file]})
		}
		if m.Licences, err = m.identify(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// goRoot is the folder of the Go that builds.
func goRoot(ctx context.Context, folder string) (string, error) {
	env := exec.CommandContext(ctx, "go", "env", "GOROOT")
	env.Dir = folder
	text, err := env.Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

var (
	licence = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)
	// legal are licences, and what goes with them.
	legal = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|copyright|patents)([-.].*)?$`)
)

// addTexts adds the texts of a folder and of those above it, up to a root.
func addTexts(to map[string]string, root, folder string) error {
	inside, err := filepath.Rel(root, folder)
	if err != nil {
		return err
	}
	for inside = filepath.ToSlash(inside); ; inside = path.Dir(inside) {
		entries, err := os.ReadDir(filepath.Join(root, inside))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || filepath.Ext(e.Name()) == ".go" || !legal.MatchString(e.Name()) {
				continue
			}
			name := path.Join(inside, e.Name())
			text, err := fs.ReadFile(os.DirFS(root), name)
			if err != nil {
				return err
			}
			to[name] = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		if inside == "." {
			return nil
		}
	}
}

// leastCoverage is the part of a licence file in percent that must be the text of
// known licences.
const leastCoverage = 75

// identify says under which licences the module is. Of the licences of a folder one must
// be a known one: others may be summaries of it.
func (m *Module) identify() ([]string, error) {
	found, unknown := map[string]bool{}, map[string]string{}
	known := map[string]bool{}
	for _, t := range m.Texts {
		if !licence.MatchString(path.Base(t.Name)) {
			continue
		}
		scanned := licensecheck.Scan([]byte(t.Content))
		if scanned.Percent < leastCoverage {
			unknown[path.Dir(t.Name)] = t.Name
			continue
		}
		known[path.Dir(t.Name)] = true
		for _, match := range scanned.Match {
			found[match.ID] = true
		}
	}
	if len(found)+len(unknown) == 0 {
		return nil, fmt.Errorf("%s %s has no licence, so it must not be given on: leave the module out", m.Path, m.Version)
	}
	for _, folder := range slices.Sorted(maps.Keys(unknown)) {
		if !known[folder] {
			const format = "%s %s: %s is no licence that is known: read it, and leave the module out if it must not be given on"
			return nil, fmt.Errorf(format, m.Path, m.Version, unknown[folder])
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Union is the modules of several programs, each once. One program may have a package
// with a licence of its own, and another not.
func Union(programs ...[]Module) []Module {
	byName := map[string]Module{}
	for _, m := range slices.Concat(programs...) {
		other := byName[m.Path+"@"+m.Version]
		m.Licences = merge(strings.Compare, m.Licences, other.Licences)
		m.Texts = merge(func(a, b Text) int { return strings.Compare(a.Name, b.Name) }, m.Texts, other.Texts)
		byName[m.Path+"@"+m.Version] = m
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b Module) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Version, b.Version))
	})
}

// merge sorts two lists into one without what is in both.
func merge[T comparable](compare func(a, b T) int, lists ...[]T) []T {
	return slices.Compact(slices.SortedFunc(slices.Values(slices.Concat(lists...)), compare))
}
