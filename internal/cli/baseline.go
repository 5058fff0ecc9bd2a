package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// knownFinding is a finding of a baseline file. Its JSON members are a contract:
// see docs/reference/json.md. The message is for people who read the file.
type knownFinding struct {
	File    string `json:"file"`
	Rule    string `json:"rule"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// baselineKey is what makes two findings the same, wherever in the file the
// place has moved and however the message counts.
type baselineKey struct{ file, rule, pointer string }

func (k knownFinding) key() baselineKey { return baselineKey{k.File, k.Rule, k.Pointer} }

func baselineEntry(f finding) knownFinding {
	return knownFinding{cleanName(f.file), f.rule, f.pointer(), f.problem.Message}
}

// cleanName is the name of a file that is the same however it is given.
func cleanName(file string) string { return filepath.ToSlash(filepath.Clean(file)) }

// baselineUse is how many findings a baseline had, for the summary.
type baselineUse struct {
	file         string
	hidden, gone int
	written      bool
}

func (u baselineUse) String() string {
	switch {
	case u.written:
		return fmt.Sprintf("; %s has %s", u.file, plural(u.hidden, "known finding"))
	case u.gone > 0:
		return fmt.Sprintf("; %s in %s, and %s mended: run lint with --update-baseline", plural(u.hidden, "known finding"), u.file, are(u.gone))
	case u.file != "":
		return fmt.Sprintf("; %s in %s", plural(u.hidden, "known finding"), u.file)
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

// applyBaseline takes the known findings away, or makes all of them known. An
// ERROR is never known: AWS rejects the definition.
func applyBaseline(o lintOptions, files []string, found []finding) ([]finding, baselineUse, error) {
	switch {
	case o.baseline == "":
		return found, baselineUse{}, nil
	case o.update:
		return updateBaseline(o.baseline, found)
	}
	known, err := readBaseline(o.baseline)
	if err != nil {
		return nil, baselineUse{}, err
	}
	left := map[baselineKey]int{}
	for _, k := range known {
		left[k.key()]++
	}
	use := baselineUse{file: o.baseline}
	found = slices.DeleteFunc(found, func(f finding) bool {
		key := baselineEntry(f).key()
		if f.problem.Severity == diag.Error || left[key] == 0 {
			return false
		}
		left[key]--
		use.hidden++
		return true
	})
	for _, file := range files {
		for key, n := range left {
			if key.file == cleanName(file) {
				use.gone += n
			}
		}
	}
	return found, use, nil
}

func updateBaseline(file string, found []finding) ([]finding, baselineUse, error) {
	known := []knownFinding{}
	var errs []finding
	for _, f := range found {
		if f.problem.Severity == diag.Error {
			errs = append(errs, f)
		} else {
			known = append(known, baselineEntry(f))
		}
	}
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return nil, baselineUse{}, err
	}
	const mode = 0o644 // it is a file of the project
	if err := os.WriteFile(file, append(text, '\n'), mode); err != nil {
		return nil, baselineUse{}, &exitError{exitFailed, errorf("--baseline: %w", err)}
	}
	return errs, baselineUse{file: file, hidden: len(known), written: true}, nil
}

func readBaseline(file string) ([]knownFinding, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("--baseline: there is no file %s; write it: add --update-baseline", file)
	} else if err != nil {
		return nil, usage("--baseline: %w", err)
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, usage("--baseline %s: %w", file, err)
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
	if err := r.Problems.Err(); err != nil {
		return nil, usage("--baseline %s: %w", file, err)
	}
	return known, nil
}
