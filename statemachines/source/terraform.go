package source

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

// modules are the modules of Terraform that a loader reads, each file once.
type modules struct {
	*loader

	project *terraform.Project
	// root is the folder of the module that is read, and texts are the files by name.
	root  string
	texts map[string]*file
	// given are the user's values for the files of root; nil until one is asked for.
	given func(name string) (string, bool)
	// stdin is the text of a module on the standard input.
	stdin []byte
}

// terraformModules are those of the loader.
func (l *loader) terraformModules() *modules {
	if l.terraform == nil {
		m := &modules{loader: l, texts: map[string]*file{}}
		m.project = terraform.New(m)
		l.terraform = m
	}
	return l.terraform
}

// isTerraform tells whether a file of such a name is one of a module.
func isTerraform(name string) bool {
	return slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

var hclBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:resource|module|data|variable)[ \t]+"[\w-]+"(?:[ \t]+"[\w-]+")?[ \t]*\{|^(?:locals|terraform)[ \t]*\{`)
})

// isHCL tells whether a text has a block of Terraform's: JSON, which is read most, has none.
func isHCL(text []byte) bool {
	return !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) && hclBlock().Match(text)
}

// Modules implements terraform.Files.
func (m *modules) Modules(folder string) ([]string, error) {
	if m.stdin != nil {
		return []string{Stdin}, nil
	}
	if !m.inProject(folder) {
		return nil, errorf("%s lies outside of the root module's folder and of the working directory", folder)
	}
	entries, err := fs.ReadDir(m.FS, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); isTerraform(name) && !strings.HasPrefix(name, ".") && !entry.IsDir() {
			names = append(names, path.Join(folder, name))
		}
	}
	return names, nil
}

// Values implements terraform.Files.
func (m *modules) Values(folder string) ([]string, error) {
	if m.stdin != nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(m.FS, folder)
	if err != nil {
		return nil, err
	}
	var names, automatic []string
	for _, entry := range entries { // terraform.tfvars.json is behind terraform.tfvars
		switch name := entry.Name(); {
		case entry.IsDir():
		case name == "terraform.tfvars", name == "terraform.tfvars.json":
			names = append(names, path.Join(folder, name))
		case strings.HasSuffix(name, ".auto.tfvars"), strings.HasSuffix(name, ".auto.tfvars.json"):
			automatic = append(automatic, path.Join(folder, name))
		}
	}
	return append(names, automatic...), nil
}

// Read implements terraform.Files.
func (m *modules) Read(name string) ([]byte, error) {
	if f := m.texts[name]; f != nil && f.bytes != nil {
		return f.bytes, nil
	}
	text := m.stdin
	if name != Stdin || text == nil {
		if !m.inProject(name) {
			return nil, errorf("%s lies outside of the root module's folder and of the working directory, so it is not read: "+
				"run jobpoller in a folder that has both", name)
		}
		var err error
		if text, err = m.readRegular(path.Join(m.root, "module"), name); err != nil {
			return nil, err
		}
	}
	m.texts[name] = &file{name: name, bytes: text}
	if !isTerraform(name) {
		m.named[m.nameNow(name)] = true
	}
	return text, nil
}

// Variable implements terraform.Files.
func (m *modules) Variable(name string) (string, bool) {
	if m.given == nil {
		files, _ := m.Modules(m.root) // what cannot be read is told where it is
		m.given = m.valuesIn(files...)
	}
	return m.given(name)
}

// Decode implements terraform.Files.
func (m *modules) Decode(text []byte, yaml bool) (*terraform.Data, error) {
	root, problems := readTree((&file{bytes: text}).whole(), yaml)
	if problems != nil {
		return nil, problems
	}
	return (&dataMaker{made: map[*value]*terraform.Data{}}).data(root), nil
}

// inProject tells whether a file or folder is in the root module's folder or in the
// working directory.
func (m *modules) inProject(name string) bool {
	return name == m.root || inside(m.root, name) || isInWorkingDirectory(name)
}

// fileOf is a file that was read.
func (m *modules) fileOf(name string) *file {
	if m.texts[name] == nil {
		m.texts[name] = &file{name: name}
	}
	return m.texts[name]
}

// dataMaker makes values of Terraform's of those of JSON and YAML. They share what those
// share.
type dataMaker struct{ made map[*value]*terraform.Data }

var dataKinds = map[jsontree.Kind]terraform.Kind{
	jsontree.Null: terraform.Null, jsontree.Bool: terraform.Bool, jsontree.Number: terraform.Number,
	jsontree.String: terraform.String, jsontree.Array: terraform.List, jsontree.Object: terraform.Object,
}

func (d *dataMaker) data(v *value) *terraform.Data {
	if made := d.made[v]; made != nil {
		return made
	}
	out := &terraform.Data{Kind: dataKinds[v.kind], Text: v.text, From: v.origin(), To: v.in.endOrigin(v.end())}
	d.made[v] = out
	if v.kind == jsontree.String {
		chars := v.chars()
		for i := range chars.bytes {
			out.Origins = append(out.Origins, chars.origin(i))
		}
		out.Text = string(chars.bytes)
	}
	for _, item := range v.items {
		out.Items = append(out.Items, d.data(item))
	}
	for _, m := range v.members {
		out.Members = append(out.Members, terraform.DataMember{Name: d.data(m.name), Value: d.data(m.value)})
	}
	return out
}

// readModule returns the definitions of a module: all, those of the blocks of a file, or
// those of an address.
func (m *modules) readModule(folder, file, address string) ([]*Definition, error) {
	m.root, m.given = folder, nil
	machines, err := m.project.Machines(folder)
	if err != nil {
		return nil, err
	}
	var all, matching []*Definition
	for _, p := range m.broken(folder) {
		if file == "" || p.File == file {
			all = append(all, p)
		}
	}
	for _, machine := range machines {
		if file != "" && machine.Block.File != file {
			continue
		}
		d := m.definition(machine)
		all = append(all, d)
		if address != "" && (d.ID == address || machine.Address == address || strings.HasPrefix(machine.Address, address+"[")) {
			matching = append(matching, d)
		}
	}
	if address == "" {
		return all, nil
	}
	if len(matching) == 0 {
		var ids []string
		for _, d := range all {
			if d.ID != "" {
				ids = append(ids, d.ID)
			}
		}
		return nil, errorf("%s has no state machine %q%s; it has %s", cmp.Or(file, folder), address, nearest.DidYouMean(address, ids), strings.Join(ids, ", "))
	}
	return matching, nil
}

// broken are definitions with the problems of files that Terraform cannot read.
func (m *modules) broken(folder string) []*Definition {
	byFile := map[string]*Definition{}
	for _, p := range m.project.Problems(folder) {
		d := byFile[p.File]
		if d == nil {
			d = &Definition{Name: p.File, File: p.File, Form: FormFile}
			byFile[p.File] = d
		}
		d.Problems = append(d.Problems, m.problem(p, d))
	}
	all := make([]*Definition, 0, len(byFile))
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		all = append(all, byFile[name])
	}
	return all
}

// problem is one of a file, as one of the definition.
func (m *modules) problem(p terraform.Problem, d *Definition) diag.Problem {
	out := m.fileOf(p.File).problem(p.From, "", p.Message)
	if out.Severity = diag.Warning; p.Broken {
		out.Severity = diag.Error
	}
	if p.File != d.File {
		out.File = p.File
	}
	return out
}

// findRoots are the folders of modules that no other of them calls.
func (m *modules) findRoots(folders []string) []string {
	calls := map[string][]string{}
	called := map[string]bool{}
	for _, folder := range folders {
		m.root, m.given = folder, nil
		calls[folder], _ = m.project.Calls(folder)
		for _, other := range calls[folder] {
			called[other] = called[other] || other != folder
		}
	}
	var roots []string
	read := map[string]bool{}
	visit := func(folder string) {
		roots = append(roots, folder)
		open := []string{folder}
		for len(open) > 0 {
			next := open[0]
			if open = open[1:]; !read[next] {
				read[next] = true
				open = append(open, calls[next]...)
			}
		}
	}
	for _, wanted := range []bool{false, true} { // then those that call each other
		for _, folder := range folders {
			if called[folder] == wanted && !read[folder] {
				visit(folder)
			}
		}
	}
	return roots
}

// walkModules reads the modules in folders.
func (m *modules) walkModules(folders []string) ([]*Definition, error) {
	var all []*Definition
	var unread []error
	for _, root := range m.findRoots(folders) {
		found, err := m.readModule(root, "", "")
		found = slices.DeleteFunc(found, func(d *Definition) bool {
			text := m.fileOf(d.File).bytes
			return d.ID == "" && !bytes.Contains(text, []byte("StartAt")) && !bytes.Contains(text, []byte("aws_sfn_state_machine"))
		})
		all, unread = append(all, found...), append(unread, err)
	}
	return all, errors.Join(unread...)
}
