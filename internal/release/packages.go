package release

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release/image"
	"github.com/jobpoller/jobpoller/internal/release/npmpackage"
	"github.com/jobpoller/jobpoller/internal/release/wheel"
)

// archives are the command with its texts, for each machine.
func (r *Release) archives(commands []program, texts []archive.File) (files []archive.File, err error) {
	for _, p := range commands {
		format, write := ".tar.gz", archive.TarGz
		if p.on.System == "windows" {
			format, write = ".zip", archive.Zip
		}
		inside := append([]archive.File{{Name: lambdabuild.Program(name, p.on), Content: p.content, Executable: true}}, texts...)
		packed, err := write(r.Time, inside...)
		if err != nil {
			return nil, err
		}
		files = append(files, archive.File{Name: r.file(p.on.System, p.on.Architecture+format), Content: packed})
	}
	return files, nil
}

// npmPackages are a package for each machine, and the one that people name.
func (r *Release) npmPackages(commands []program, texts []archive.File) (files []archive.File, err error) {
	packages := npmpackage.Release{Version: r.npmVersion(), Time: r.Time, Texts: texts}
	var machines []lambdabuild.Machine
	for _, p := range commands {
		machines = append(machines, p.on)
		file, packed, err := packages.Platform(p.on, p.content)
		if err != nil {
			return nil, err
		}
		files = append(files, archive.File{Name: file, Content: packed})
	}
	file, packed, err := packages.Main(machines...)
	return append(files, archive.File{Name: file, Content: packed}), err
}

// wheels are those of PyPI, for each machine.
func (r *Release) wheels(commands []program, texts []archive.File) (files []archive.File, err error) {
	isReadme := func(f archive.File) bool { return f.Name == readme }
	wheels := wheel.Release{Version: r.pythonVersion(), Time: r.Time, Texts: slices.DeleteFunc(slices.Clone(texts), isReadme)}
	wheels.Readme = string(texts[slices.IndexFunc(texts, isReadme)].Content)
	for _, p := range commands {
		file, packed, err := wheels.Pack(p.on, p.content)
		if err != nil {
			return nil, err
		}
		files = append(files, archive.File{Name: file, Content: packed})
	}
	return files, nil
}

// image is that of the commands for Linux; there is none without them.
func (r *Release) image(commands []program, texts []archive.File) (files []archive.File, err error) {
	programs := map[string][]byte{}
	for _, p := range commands {
		if p.on.System == "linux" {
			programs[p.on.Architecture] = p.content
		}
	}
	if len(programs) == 0 {
		return nil, nil
	}
	i := image.Image{Version: r.tag(), Time: r.Time, Texts: texts}
	packed, err := i.Pack(programs)
	return []archive.File{{Name: r.file("image.tar"), Content: packed}}, err
}
