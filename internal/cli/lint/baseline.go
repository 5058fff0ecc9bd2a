package lint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// knownFinding is a finding of a baseline file. Its JSON members are a contract:
// see docs/reference/json.md. The message is for people who read the file.
type knownFinding struct {
	File    string `json:"file"` // relative to the folder of the baseline
	Rule    string `json:"rule"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// findingKey is what makes two findings the same, wherever in the file the place
// has moved and however the message counts.
type findingKey struct{ file, rule, pointer string }

func (k knownFinding) key() findingKey {
	return findingKey{k.File, k.Rule, withoutIndexes(k.Pointer)}
}

// withoutIndexes is a pointer in which a rule or a branch that is put before others
// does not count. A state may have a number for its name.
func withoutIndexes(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, part := range parts {
		if i > 0 && parts[i-1] != "States" && part != "" && strings.Trim(part, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// baseline is the file of --baseline.
type baseline struct {
	file   string
	update bool
}

// entry is what the file says of a finding.
func (b baseline) entry(f Finding) knownFinding {
	return knownFinding{b.name(f.file), f.Rule, f.pointer(), f.Problem.Message}
}

// name is the name of a file relative to the folder of the baseline, so that it is
// the same wherever lint runs.
func (b baseline) name(file string) string {
	if file == source.Stdin {
		return file
	}
	return kit.RelativeName(filepath.Dir(b.file), file)
}

// path is where the file of an entry is.
func (b baseline) path(name string) string {
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
// never known: AWS rejects the definition. Checks tells whether lint checks a rule.
func (b baseline) apply(files []string, found []Finding, checks func(rule string) bool) ([]Finding, baselineUse, error) {
	if b.file == "" {
		return found, baselineUse{}, nil
	}
	known, err := b.read()
	switch {
	case b.update && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return b.write(files, known, found)
	case errors.Is(err, fs.ErrNotExist):
		return nil, baselineUse{}, kit.Usage("--baseline: there is no file %s; write it: add --update-baseline", b.file)
	case err != nil:
		return nil, baselineUse{}, kit.Usage("--baseline %s: %w", b.file, err)
	}
	left := map[findingKey]int{}
	for _, k := range known {
		left[k.key()]++
	}
	use := baselineUse{file: b.file}
	found = slices.DeleteFunc(found, func(f Finding) bool {
		key := b.entry(f).key()
		if f.Problem.Severity == diag.Error || left[key] == 0 {
			return false
		}
		left[key]--
		use.hidden++
		return true
	})
	read := b.names(files)
	for key, n := range left {
		if read[key.file] && checks(key.rule) {
			use.gone += n
		}
	}
	return found, use, nil
}

// names are the names of files, to look for one.
func (b baseline) names(files []string) map[string]bool {
	names := make(map[string]bool, len(files))
	for _, file := range files {
		names[b.name(file)] = true
	}
	return names
}

// write makes the findings known, and keeps what is known of files that are there
// and were not read.
func (b baseline) write(files []string, before []knownFinding, found []Finding) ([]Finding, baselineUse, error) {
	read := b.names(files)
	known := slices.DeleteFunc(before, func(k knownFinding) bool {
		if read[k.File] {
			return true
		}
		_, err := os.Stat(b.path(k.File))
		return errors.Is(err, fs.ErrNotExist)
	})
	var errs []Finding
	for _, f := range found {
		if f.Problem.Severity == diag.Error {
			errs = append(errs, f)
		} else {
			known = append(known, b.entry(f))
		}
	}
	slices.SortStableFunc(known, func(x, y knownFinding) int { return cmp.Compare(x.File, y.File) })
	text, err := json.MarshalIndent(append([]knownFinding{}, known...), "", "  ")
	if err != nil {
		return nil, baselineUse{}, err
	}
	if err := kit.ReplaceFile(b.file, append(text, '\n')); err != nil {
		return nil, baselineUse{}, kit.WithCode(kit.ExitFailed, terminal.Errorf("--baseline %s is not written: %w", b.file, err))
	}
	return errs, baselineUse{file: b.file, hidden: len(known), written: true}, nil
}

// read returns what the file says.
func (b baseline) read() ([]knownFinding, error) {
	text, err := os.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	if doc.Root.Kind != jsontree.Array {
		return nil, errors.New("expected the file that --update-baseline writes: an array")
	}
	var known []knownFinding
	var r jsontree.Reader
	r.List(func(n *jsontree.Node) {
		var k knownFinding
		r.Object(n, "a known finding", map[string]func(*jsontree.Node){
			"file": r.Text(&k.File), "rule": r.Text(&k.Rule), "pointer": r.Text(&k.Pointer), "message": r.Text(&k.Message),
		}, "file", "rule", "pointer")
		known = append(known, k)
	})(doc.Root)
	return known, r.Problems.Err()
}
