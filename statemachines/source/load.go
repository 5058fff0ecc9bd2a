package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Stdin is the name of the standard input.
const Stdin = "-"

// Load reads the definitions that the names give: a file, "template.yaml#Poller",
// a folder with all below it, a glob, or "-" for the standard input. What could be
// read is returned beside an error. Where the context ends, so does Load, even while it
// waits for a pipe.
func Load(ctx context.Context, names []string, o Options) ([]*Definition, error) {
	l := newLoader(o)
	var all []*Definition
	var problems []error
	for _, name := range names {
		found, err := l.load(ctx, name)
		all = append(all, found...)
		problems = append(problems, err)
	}
	err := errors.Join(problems...)
	if err == nil {
		err = l.checkValues(names)
	}
	return all, err
}

// LoadOne reads the one definition that the name gives. Of a template with
// several the name has to give one, as in "template.yaml#Poller".
func LoadOne(ctx context.Context, name string, o Options) (*Definition, error) {
	l := newLoader(o)
	all, err := l.load(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case len(all) != 1:
		return nil, errorf("%s has %d state machines: name one of them: %s", name, len(all), strings.Join(namesOf(all), ", "))
	}
	if err := l.checkValues([]string{name}); err != nil {
		return nil, err
	}
	return all[0], nil
}

// ValueError tells that no definition has a placeholder for a value.
type ValueError struct {
	Name  string // of the value
	Files []string
}

// Error names the files and the value.
func (e *ValueError) Error() string {
	if len(e.Files) == 1 {
		return fmt.Sprintf("%s has no placeholder ${%s}", terminal.Quote(e.Files[0]), terminal.Quote(e.Name))
	}
	return fmt.Sprintf("no definition has a placeholder ${%s}", terminal.Quote(e.Name))
}

func namesOf(all []*Definition) []string {
	names := make([]string, 0, len(all))
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

type loader struct {
	Options

	used  map[string]bool // values
	named map[string]bool // files that templates name as definitions
	taken map[spot]bool   // definitions in files of several, which templates name
	// bytes is the size of the files, each once, and rendered that of the definitions in
	// them.
	bytes, rendered int
	sized           map[string]bool // files that are part of bytes
	// names are those of the definitions in files that others name.
	names map[string]map[int]string
	// terraform are the modules of Terraform that are read; nil until one is.
	terraform *modules
}

// spot is where a definition begins in a file.
type spot struct {
	file string
	at   int
}

// isTaken tells whether a definition of a folder is read with the template that names it.
func (l *loader) isTaken(d *Definition) bool {
	file := l.nameNow(d.File)
	return d.Template == "" && (d.pointer == "" && l.named[file] || l.taken[spot{file, d.at}])
}

// nameNow is one name of a file for all that lead to it.
func (l *loader) nameNow(name string) string {
	if renaming, ok := l.FS.(interface{ NameNow(name string) string }); ok {
		return path.Clean(renaming.NameNow(name))
	}
	return name
}

func newLoader(o Options) *loader {
	if o.FS == nil {
		o.FS = disk{}
	}
	return &loader{
		Options: o, used: map[string]bool{}, named: map[string]bool{}, taken: map[spot]bool{}, sized: map[string]bool{}, names: map[string]map[int]string{},
	}
}

// disk is the file system as the command line names it: with folders above, and
// from the root.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) } //nolint:gosec // the user names it

// Stat opens no pipe, which would wait for a writer.
func (disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// resolve returns where a file is, behind symbolic links.
func (disk) resolve(name string) (string, error) {
	target, err := filepath.EvalSymlinks(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	return filepath.Abs(target)
}

// valuesIn returns the values of the user's that count in some files, the last first.
func (l *loader) valuesIn(files ...string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := l.Values[name]
		l.used[name] = l.used[name] || ok
		for i := len(files) - 1; i >= 0 && !ok && l.ValuesOf != nil; i-- {
			text, ok = l.ValuesOf(files[i])[name]
		}
		return text, ok
	}
}

// passesOver tells whether the user wants that a file or folder is not looked for.
func (l *loader) passesOver(name string, folder bool) bool {
	return l.PassOver != nil && l.PassOver(name, folder)
}

func (l *loader) checkValues(names []string) error {
	for _, name := range slices.Sorted(maps.Keys(l.Values)) {
		if !l.used[name] {
			return &ValueError{name, names}
		}
	}
	return nil
}

// load reads what a name of the command line gives.
func (l *loader) load(ctx context.Context, name string) ([]*Definition, error) {
	switch {
	case name == Stdin:
		return l.readNamed(ctx, name, "")
	case l.Fetch != nil && IsARN(name):
		return l.fetch(ctx, name)
	}
	slashed := filepath.ToSlash(name)
	_, err := fs.Stat(l.FS, slashed)
	if err == nil {
		return l.loadPath(ctx, slashed)
	}
	if before, id, ok := l.cutID(slashed); ok {
		return l.readNamed(ctx, before, id)
	}
	if !strings.ContainsAny(slashed, "*?[") {
		return nil, err
	}
	matches, _ := fs.Glob(l.FS, slashed) // of a pattern that is none, nothing
	if len(matches) == 0 {
		return nil, errorf("no file matches %s", name)
	}
	var all []*Definition
	var problems []error
	read := false
	for _, name := range matches {
		found, passed, err := l.loadMatch(ctx, name)
		all, problems = append(all, found...), append(problems, err)
		read = read || !passed
	}
	if err := errors.Join(problems...); err != nil || read {
		return all, err
	}
	return nil, errorf("of the files that match %s, none has a state machine definition or a template with one", name)
}

// loadMatch reads what a glob gives. It passes over a file of something else, and a
// pipe, which nobody may write to.
func (l *loader) loadMatch(ctx context.Context, name string) (found []*Definition, passed bool, err error) {
	switch info, err := fs.Stat(l.FS, name); {
	case err == nil && l.passesOver(name, info.IsDir()):
		return nil, true, nil
	case err != nil || info.IsDir():
		found, err = l.loadPath(ctx, name)
		return found, false, err
	case !info.Mode().IsRegular():
		l.pass(name)
		return nil, true, nil
	case isTerraform(name):
		found, err = l.terraformModules().readModule(path.Dir(name), path.Clean(name), "")
		if len(found) == 0 && err == nil {
			l.pass(name)
		}
		return found, len(found) == 0, err
	}
	text, err := l.read(ctx, name)
	if err != nil || l.Skip != nil && l.Skip(name, text) {
		return nil, false, err
	}
	if len(text) <= maxFileBytes {
		found = l.find(readContent(&file{name: name, bytes: text}))
	}
	if found == nil {
		l.pass(name)
	}
	return found, found == nil, nil
}

// pass tells of a file that is not read.
func (l *loader) pass(name string) {
	if l.Passed != nil {
		l.Passed(name)
	}
}

// loadPath reads a file or a folder.
func (l *loader) loadPath(ctx context.Context, name string) ([]*Definition, error) {
	if info, err := fs.Stat(l.FS, name); err != nil {
		return nil, err
	} else if info.IsDir() {
		return l.walk(ctx, name)
	}
	return l.readNamed(ctx, name, "")
}

// errorf is fmt.Errorf whose names of files have one line, whatever is in them.
func errorf(format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = terminal.Quote(text)
		}
	}
	return fmt.Errorf(format, args...)
}

// cutID cuts the name of a state machine off that of its file. Both may have the sign
// between them: the shortest name of a file counts.
func (l *loader) cutID(name string) (file, id string, found bool) {
	for at := range len(name) {
		if name[at] != '#' {
			continue
		}
		file, id, found = name[:at], name[at+1:], true
		if _, err := fs.Stat(l.FS, file); err == nil || file == Stdin {
			break
		}
	}
	return file, id, found
}

// readNamed reads a file that the user names, and of it the state machine of that
// ID, if there is one.
func (l *loader) readNamed(ctx context.Context, name, id string) ([]*Definition, error) {
	if info, err := fs.Stat(l.FS, name); name != Stdin && (isTerraform(name) || err == nil && info.IsDir()) {
		return l.loadModule(name, id, info)
	}
	text, err := l.read(ctx, name)
	if err != nil {
		return nil, err
	}
	if id == "" && l.Skip != nil && l.Skip(name, text) {
		return nil, nil
	}
	return l.readText(name, id, text)
}

// loadModule reads the module of a file or a folder, and of it the state machine of that
// address, if there is one.
func (l *loader) loadModule(name, address string, info fs.FileInfo) ([]*Definition, error) {
	folder, file := path.Dir(name), path.Clean(name)
	if info != nil && info.IsDir() {
		folder, file = path.Clean(name), ""
	}
	all, err := l.terraformModules().readModule(folder, file, address)
	if err == nil && len(all) == 0 {
		return nil, errorf("%s has no state machine: expected a resource of type aws_sfn_state_machine, or a module with a definition", name)
	}
	return all, err
}

// readText returns the definitions of a file, or the one of that ID.
func (l *loader) readText(name, id string, text []byte) ([]*Definition, error) {
	if name == Stdin && isHCL(text) {
		m := l.terraformModules()
		m.stdin = text
		return m.readModule(".", "", id)
	}
	if len(text) > maxFileBytes {
		return nil, errorf("%s has more than %d bytes, which is more than is read", name, maxFileBytes)
	}
	all, err := l.definitions(&file{name: name, bytes: text})
	if err != nil {
		return nil, err
	}
	if id == "" {
		return all, nil
	}
	ids := make([]string, 0, len(all))
	for _, d := range all {
		if d.ID == id {
			return []*Definition{d}, nil
		}
		ids = append(ids, d.ID)
	}
	if len(ids) == 1 && ids[0] == "" {
		return nil, errorf("%s is no template, so it has no state machine %q: name the file alone", name, id)
	}
	return nil, errorf("%s has no state machine %q%s; it has %s", name, id, nearest.DidYouMean(id, ids), strings.Join(ids, ", "))
}

// read returns the text of a file or of the standard input. Where the context ends while
// nobody writes to a pipe, the reading stays behind.
func (l *loader) read(ctx context.Context, name string) ([]byte, error) {
	if name == Stdin && l.Stdin == nil {
		return nil, errors.New("there is no standard input")
	}
	type content struct {
		text []byte
		err  error
	}
	done := make(chan content, 1)
	go func() {
		var c content
		c.text, c.err = l.readAll(name)
		done <- c
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case c := <-done:
		l.countBytes(name, len(c.text))
		return c.text, c.err
	}
}

// readAll reads a file, or the standard input, up to a byte more than any has: a device
// may have no end.
func (l *loader) readAll(name string) (text []byte, err error) {
	in := l.Stdin
	if name != Stdin {
		f, err := l.FS.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, maxFileBytes+1))
}

// readRegular returns the text of a file that a template names: of no pipe or
// device, which might not end, and of no link that leads out of the template's
// folder and the working directory.
func (l *loader) readRegular(template, name string) ([]byte, error) {
	info, err := fs.Stat(l.FS, name)
	switch {
	case err != nil:
		return nil, err
	case !l.staysBehindLinks(path.Dir(template), name) && !l.staysBehindLinks(".", name):
		return nil, errorf("%s is a link to outside of the template's folder", name)
	case !info.Mode().IsRegular():
		return nil, errorf("%s is no regular file", name)
	case info.Size() > maxDefinitionFile:
		return nil, errorf("%s has more than %d bytes, which no definition has", name, maxDefinitionFile)
	}
	l.countBytes(name, int(info.Size()))
	return fs.ReadFile(l.FS, name)
}

// staysBehindLinks tells whether a file is in a folder where symbolic links lead to.
func (l *loader) staysBehindLinks(folder, name string) bool {
	linked, ok := l.FS.(interface {
		resolve(name string) (string, error)
	})
	if !ok {
		return true // the file system has no links
	}
	from, err := linked.resolve(folder)
	if err != nil {
		return false
	}
	to, err := linked.resolve(name)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(from, to)
	return err == nil && filepath.IsLocal(relative)
}

// inside tells whether a path stays in a folder.
func inside(folder, name string) bool {
	if folder == "." {
		return filepath.IsLocal(filepath.FromSlash(name))
	}
	return strings.HasPrefix(name, folder+"/")
}

// besides returns the path of a file that a template names, relative to it: where the template was as
// it named the file.
func (l *loader) besides(template, name string) (string, bool) {
	folder := "."
	if renaming, ok := l.FS.(interface{ NameThen(name string) string }); ok {
		template = renaming.NameThen(template)
	}
	if template != Stdin {
		folder = path.Dir(template)
	}
	joined := path.Join(folder, name)
	return joined, inside(folder, joined) || isInWorkingDirectory(joined)
}

// isInWorkingDirectory tells whether a path, which may be absolute, stays there.
func isInWorkingDirectory(name string) bool {
	if !path.IsAbs(name) {
		return filepath.IsLocal(filepath.FromSlash(name))
	}
	working, err := os.Getwd()
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(working, filepath.FromSlash(name))
	return err == nil && filepath.IsLocal(relative)
}
