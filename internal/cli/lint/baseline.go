package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// baselineFile is the file of --baseline.
type baselineFile struct {
	file   string
	update bool
	isGone func(arn string) bool // nil: nobody knows of ARNs
}

// entry is what the file says of a finding.
func (b baselineFile) entry(f Finding) baseline.Finding { return f.entry(b.name) }

// name is the name of a file relative to the folder of the baseline, so that it is
// the same wherever lint runs.
func (b baselineFile) name(file string) string {
	if file == source.Stdin || source.IsARN(file) {
		return file
	}
	return kit.RelativeName(filepath.Dir(b.file), file)
}

// path is where the file of an entry is.
func (b baselineFile) path(name string) string {
	if name == source.Stdin || source.IsARN(name) {
		return name
	}
	if path := filepath.FromSlash(name); !filepath.IsAbs(path) {
		return filepath.Join(filepath.Dir(b.file), path)
	}
	return name
}

// baselineUse is how many findings a baseline had, for the summary.
type baselineUse struct {
	file         string
	hidden, gone int
	written      bool
}

func (u baselineUse) String() string {
	switch {
	case u.written:
		return fmt.Sprintf("; %s has %s", u.file, kit.Plural(u.hidden, "known finding"))
	case u.gone > 0:
		return fmt.Sprintf("; %s in %s, and %s mended: run lint with --update-baseline", kit.Plural(u.hidden, "known finding"), u.file, are(u.gone))
	case u.file != "":
		return fmt.Sprintf("; %s in %s", kit.Plural(u.hidden, "known finding"), u.file)
	default:
		return ""
	}
}

// are writes "1 is" or "2 are".
func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// apply takes the known findings away, or makes all of them known. An ERROR is
// never known: AWS rejects the definition. Checks tells whether lint checks a rule in a file.
func (b baselineFile) apply(read readHomes, found []Finding, checks func(file, rule string) bool) ([]Finding, baselineUse, error) {
	if b.file == "" {
		return found, baselineUse{}, nil
	}
	known, err := b.read()
	switch {
	case b.update && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return b.write(read, known, found)
	case errors.Is(err, fs.ErrNotExist):
		return nil, baselineUse{}, kit.Usage("--baseline: there is no file %s; write it: add --update-baseline", b.file)
	case err != nil:
		return nil, baselineUse{}, kit.Usage("--baseline %s: %w", b.file, err)
	}
	left := baseline.NewKnown(known)
	use := baselineUse{file: b.file, hidden: len(known)}
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return f.Problem.Severity != diag.Error && left.Take(f.of.String(), b.entry(f).Key())
	})
	for key, n := range left.Left() {
		use.hidden -= n
		if read.has(b.path(key.File), key.Pointer) && checks(b.path(key.File), key.Rule) {
			use.gone += n
		}
	}
	return found, use, nil
}

// write makes the findings known, and keeps what is known of files and state machines that
// are there and were not read.
func (b baselineFile) write(read readHomes, before []baseline.Finding, found []Finding) ([]Finding, baselineUse, error) {
	known := slices.DeleteFunc(before, func(k baseline.Finding) bool {
		switch {
		case read.has(b.path(k.File), k.Pointer):
			return true
		case source.IsARN(k.File):
			return b.isGone != nil && b.isGone(k.File)
		}
		_, err := os.Stat(b.path(k.File))
		return errors.Is(err, fs.ErrNotExist)
	})
	var errs []Finding
	var fresh baseline.Known[baseline.Key]
	for _, f := range found {
		if f.Problem.Severity == diag.Error {
			errs = append(errs, f)
		} else if e := b.entry(f); fresh.Add(f.of.String(), e.Key()) {
			known = append(known, e)
		}
	}
	text, err := baseline.Print(known)
	if err != nil {
		return nil, baselineUse{}, err
	}
	if err := kit.ReplaceFile(b.file, text); err != nil {
		return nil, baselineUse{}, kit.WithCode(kit.ExitFailed, terminal.Errorf("--baseline %s is not written: %w", b.file, err))
	}
	return errs, baselineUse{file: b.file, hidden: len(known), written: true}, nil
}

// read returns what the file says.
func (b baselineFile) read() ([]baseline.Finding, error) {
	text, err := os.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	return baseline.Parse(text)
}
