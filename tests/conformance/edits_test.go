package conformance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// editSuites are pairs of definitions before and after a repair by hand. A case passes if
// the edits between both, made in the text of the first, give the text of the second, or
// differ from the first by no larger diff.
var editSuites = []suite{{name: "edits", folder: "field/repairs", cases: 63, run: runEdits, differences: map[string]string{
	"wrong-bound-pass-data": "a state in front of one that takes many lines takes many, too",
}}}

func runEdits(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	befores, err := filepath.Glob(filepath.Join(folder, "*", "before.*"))
	require.NoError(t, err)
	for _, name := range befores {
		out.total++
		pair := filepath.Base(filepath.Dir(name))
		afterName := filepath.Join(filepath.Dir(name), strings.Replace(filepath.Base(name), "before", "after", 1))
		before, err := os.ReadFile(name)
		require.NoError(t, err)
		after, err := os.ReadFile(afterName)
		require.NoError(t, err)
		read := func(text []byte) (*source.Definition, error) {
			return source.LoadOne(t.Context(), source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
		}
		var edits []edit.Edit
		findEdits(definitionTree(t, read, before), definitionTree(t, read, after), &edits)
		got, err := edit.Apply(before, read, edits...)
		if err != nil {
			out.failures[pair] = err.Error()
			continue
		}
		if diff, most := fix.Diff("a", "b", before, got), fix.Diff("a", "b", before, after); !bytes.Equal(got, after) && len(diff) > len(most) {
			out.failures[pair] = diff
		}
	}
	return out
}

func definitionTree(t *testing.T, read edit.Read, text []byte) *jsontree.Node {
	t.Helper()
	d, err := read(text)
	require.NoError(t, err)
	document, err := jsontree.Parse(d.Text)
	require.NoError(t, err)
	return document.Root
}

// findEdits finds what makes one value of another.
func findEdits(a, b *jsontree.Node, edits *[]edit.Edit) {
	switch {
	case isSame(a, b):
	case a.Kind == jsontree.Object && b.Kind == jsontree.Object:
		before, after := parts(a), parts(b)
		findListEdits(before, after, edits, func(x, y part) bool { return x.name == y.name })
	case a.Kind == jsontree.Array && b.Kind == jsontree.Array:
		findListEdits(parts(a), parts(b), edits, func(x, y part) bool { return isSame(x.value, y.value) })
	default:
		*edits = append(*edits, edit.Edit{Op: edit.Replace, At: a.Pointer(), Value: b.Raw()})
	}
}

type part struct {
	name  string
	value *jsontree.Node
}

func parts(n *jsontree.Node) []part {
	var all []part
	for _, m := range n.Members {
		all = append(all, part{m.Name, m.Value})
	}
	for _, item := range n.Items {
		all = append(all, part{"", item})
	}
	return all
}

func isSame(a, b *jsontree.Node) bool {
	return bytes.Equal(jsontree.Compact(a.Value()), jsontree.Compact(b.Value()))
}

// findListEdits finds them in objects and arrays, whose parts keep their order.
func findListEdits(a, b []part, edits *[]edit.Edit, pairs func(x, y part) bool) {
	i, j := 0, 0
	last := "" // the pointer of the part before
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && pairs(a[i], b[j]):
			findEdits(a[i].value, b[j].value, edits)
			last = a[i].value.Pointer()
			i, j = i+1, j+1
		case i < len(a) && j < len(b) && len(a)-i == len(b)-j && a[i].name != b[j].name: // renamed
			*edits = append(*edits, edit.Edit{Op: edit.Rename, At: a[i].value.Pointer(), Name: b[j].name})
			findEdits(a[i].value, b[j].value, edits)
			last = a[i].value.Pointer()
			i, j = i+1, j+1
		case i < len(a) && j < len(b) && len(a)-i == len(b)-j && !isMember(a[i+1:], b[j], pairs): // changed
			findEdits(a[i].value, b[j].value, edits)
			last = a[i].value.Pointer()
			i, j = i+1, j+1
		case j < len(b) && !isMember(a[min(i, len(a)):], b[j], pairs):
			e := edit.Edit{Op: edit.Behind, At: last, Name: b[j].name, Value: b[j].value.Raw()}
			if i < len(a) {
				e.Op, e.At = edit.Before, a[i].value.Pointer()
			}
			*edits = append(*edits, e)
			j++
		case j < len(b) && isMember(a[min(i+1, len(a)):], b[j], pairs) && isMember(b[j:], a[i], pairs): // goes in front
			*edits = append(*edits, edit.Edit{Op: edit.Before, At: a[i].value.Pointer(), Name: b[j].name, Value: b[j].value.Raw()})
			k := i
			for !pairs(a[k], b[j]) {
				k++
			}
			*edits = append(*edits, edit.Edit{Op: edit.Remove, At: a[k].value.Pointer()})
			a = append(append([]part{}, a[:k]...), a[k+1:]...)
			j++
		default:
			*edits = append(*edits, edit.Edit{Op: edit.Remove, At: a[i].value.Pointer()})
			i++
		}
	}
}

func isMember(all []part, one part, pairs func(x, y part) bool) bool {
	for _, p := range all {
		if pairs(p, one) {
			return true
		}
	}
	return false
}
