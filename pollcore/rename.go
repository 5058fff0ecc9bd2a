package pollcore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// RenameMembers returns a copy of the waiter for a describe call whose input
// and output spell the members of structures another way, such as an SDK
// integration of Step Functions, which spells them in PascalCase, with one
// capital for an acronym at the beginning (DbInstances for DBInstances). On data
// renamed so the copy gives the verdicts that the waiter gives on the old.
//
// The shapes tell which names are members. Keys of maps and of documents stay,
// as do strings, literals, and the names that an expression gives itself
// ({a: Foo}.a). Below a nil Type all names are taken for members.
//
// The error is a [diag.Problems] if a path is not an expression, or if it depends on
// names in a way that renaming would change: one name read from a structure and
// from a map, two members that would get the same name, keys() and to_string()
// of a structure, merge() and comparisons of what is renamed with what is not.
// The order in which a wildcard gives the values of a structure is that of the
// names, and changes with them; nothing in JMESPath says what it is.
func RenameMembers(w *Waiter, in, out *jsontype.Type, rename func(name string) string) (*Waiter, error) {
	if w == nil {
		return nil, diag.Problems{{Message: "no waiter to rename the members of: it is nil"}}
	}
	root := bothTypes(in, out)
	r := renamer{rename: func(owner *jsontype.Type, name string) string {
		if owner == root {
			return name // input and output are the specification's words
		}
		return rename(name)
	}}
	renamed := *w
	renamed.Tags, renamed.Acceptors = slices.Clone(w.Tags), slices.Clone(w.Acceptors)
	for i := range renamed.Acceptors {
		a, at := &renamed.Acceptors[i], "/acceptors/"+strconv.Itoa(i)
		a.Matcher.Output = r.matcher(a.Matcher.Output, at+"/matcher/output/path", out)
		a.Matcher.InputOutput = r.matcher(a.Matcher.InputOutput, at+"/matcher/inputOutput/path", root)
		if a.Message != "" {
			a.Message = r.path(a.Message, at+"/message", out)
		}
	}
	if err := r.problems.Err(); err != nil {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, err)
	}
	return &renamed, nil
}

// renamer collects what stands against renaming.
type renamer struct {
	rename   func(owner *jsontype.Type, name string) string
	problems diag.Problems
}

func (r *renamer) matcher(m *PathMatcher, at string, root *jsontype.Type) *PathMatcher {
	if m == nil {
		return nil
	}
	renamed := *m
	renamed.Path = r.path(m.Path, at, root)
	return &renamed
}

func (r *renamer) path(text, at string, root *jsontype.Type) string {
	expr, err := jmespath.Parse(text)
	if err == nil {
		expr, err = expr.Rename(root, r.rename)
	}
	if err != nil {
		found, _ := errors.AsType[diag.Problems](err)
		for _, p := range found {
			p.Pointer = at
			r.problems = append(r.problems, p)
		}
		return ""
	}
	return expr.String()
}
