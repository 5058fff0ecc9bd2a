// Package baseline keeps the findings that a project knows, so that lint reports the
// others.
package baseline

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Finding is a finding of a baseline file. Its JSON members are a contract: see
// docs/reference/json.md. The message is for people who read the file.
type Finding struct {
	File    string `json:"file"` // relative to the folder of the baseline
	Rule    string `json:"rule"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Key is what makes two findings the same, wherever in the file the place has moved and
// however the message counts.
type Key struct{ File, Rule, Pointer string }

// Key returns the key of the finding.
func (f Finding) Key() Key { return Key{f.File, f.Rule, withoutIndexes(f.Pointer)} }

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

// Parse reads a baseline file.
func Parse(text []byte) ([]Finding, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	if doc.Root.Kind != jsontree.Array {
		return nil, errors.New("expected the file that --update-baseline writes: an array")
	}
	var all []Finding
	var r jsontree.Reader
	r.List(func(n *jsontree.Node) {
		var f Finding
		r.Object(n, "a known finding", map[string]func(*jsontree.Node){
			"file": r.Text(&f.File), "rule": r.Text(&f.Rule), "pointer": r.Text(&f.Pointer), "message": r.Text(&f.Message),
		}, "file", "rule", "pointer")
		all = append(all, f)
	})(doc.Root)
	return all, r.Problems.Err()
}

// Print writes a baseline file, in the order of the files' names.
func Print(all []Finding) ([]byte, error) {
	sorted := append([]Finding{}, all...)
	slices.SortStableFunc(sorted, func(x, y Finding) int { return cmp.Compare(x.File, y.File) })
	text, err := json.MarshalIndent(sorted, "", "  ")
	return append(text, '\n'), err
}

// Known is how often each finding is known.
type Known map[Key]int

// NewKnown counts the findings of a baseline.
func NewKnown(all []Finding) Known {
	k := Known{}
	for _, f := range all {
		k[f.Key()]++
	}
	return k
}

// Take tells whether a finding is known, and does not know it another time.
func (k Known) Take(f Finding) bool {
	if key := f.Key(); k[key] > 0 {
		k[key]--
		return true
	}
	return false
}
