// Package baseline keeps the findings that a project knows, so that lint reports the
// others.
package baseline

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
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

// Known is how often each finding is known, by a key. Each state machine that has the same
// definition has the same findings, which are known once for all.
type Known[K comparable] struct {
	times        map[K]int
	added, taken map[seat[K]]int
}

// seat is a finding of a state machine.
type seat[K comparable] struct {
	machine string
	key     K
}

// NewKnown counts the findings of a baseline.
func NewKnown(all []Finding) *Known[Key] {
	k := &Known[Key]{}
	for _, f := range all {
		k.Add("", f.Key())
	}
	return k
}

// Add makes a finding of a state machine known. It tells whether it was not: no other machine
// has it so often.
func (k *Known[K]) Add(machine string, key K) bool {
	if k.times == nil {
		k.times, k.added, k.taken = map[K]int{}, map[seat[K]]int{}, map[seat[K]]int{}
	}
	at := seat[K]{machine, key}
	if k.added[at]++; k.added[at] > k.times[key] {
		k.times[key]++
		return true
	}
	return false
}

// Take tells whether a finding of a state machine is known, and does not know it another time.
func (k *Known[K]) Take(machine string, key K) bool {
	at := seat[K]{machine, key}
	if k.taken[at] < k.times[key] {
		k.taken[at]++
		return true
	}
	return false
}

// Left are the findings that no state machine has taken, each as often as it is left.
func (k *Known[K]) Left() map[K]int {
	left := maps.Clone(k.times)
	for at, n := range k.taken {
		left[at.key] = min(left[at.key], k.times[at.key]-n)
	}
	return left
}
