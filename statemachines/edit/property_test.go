package edit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

var editsTried = flag.Int("edits", 300, "how many edits are tried in each form of file")

func read(file []byte) (*source.Definition, error) {
	return source.LoadOne(context.Background(), source.Stdin, source.Options{Stdin: bytes.NewReader(file)})
}

// compactText is the definition of a file as JSON without white space.
func compactText(t *testing.T, file []byte) string {
	t.Helper()
	d, err := read(file)
	require.NoError(t, err, "%s", file)
	require.NotNil(t, d.Text, "%s\n%v", file, d.Problems)
	var out bytes.Buffer
	require.NoError(t, json.Compact(&out, d.Text))
	return out.String()
}

// Whatever is changed in whatever file, the definition is the old one with the change, and
// all bytes outside of the changed object stay.
func TestEditsChangeWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			refused := map[string]int{}
			for i := range *editsTried {
				r := rand.New(rand.NewPCG(11, uint64(i)))
				v := newDefinition(r)
				before := forms[form](r, v)
				if i%5 == 0 {
					before = strings.ReplaceAll(before, "\n", "\r\n")
				}
				if i%7 == 0 && strings.HasPrefix(form, "YAML") {
					before = "\ufeff" + before
				}
				if _, err := read([]byte(before)); err != nil {
					continue // a folded text that YAML reads in another way
				}
				require.Equal(t, normal(t, v.compact()), normal(t, compactText(t, []byte(before))), "%s", before)
				e, parent := newEdit(r, v)
				name := fmt.Sprintf("%d: %s %s %s %s\n%s", i, e.Op, e.At, e.Name, e.Value, before)
				after, err := edit.Apply([]byte(before), read, e)
				if refusal, ok := errors.AsType[*edit.Error](err); ok {
					require.Nil(t, after, name)
					refused[refusal.Reason]++
					continue
				}
				require.NoError(t, err, name)
				require.Equal(t, normal(t, v.compact()), normal(t, compactText(t, after)), "%s\n%s", name, after)
				requireOutside(t, []byte(before), after, parent, name)
				requireLines(t, before, string(after), e, name)
			}
			total := 0
			for _, n := range refused {
				total += n
			}
			require.LessOrEqual(t, total, *editsTried/20, "%v", refused)
		})
	}
}

// normal writes JSON with one spelling of each string.
func normal(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return out.String()
		}
		fmt.Fprintf(&out, "%#v\n", token)
	}
}

// newEdit draws an edit, and makes it in the values.
func newEdit(r *rand.Rand, root *value) (e edit.Edit, parent string) {
	type place struct {
		in      *value
		i       int
		pointer string
		within  string
	}
	var places []place
	var visit func(v *value, pointer string)
	visit = func(v *value, pointer string) {
		for i, c := range v.children {
			step := fmt.Sprint(i)
			if v.kind == '{' {
				step = strings.NewReplacer("~", "~0", "/", "~1").Replace(c.name)
			}
			if pointer != "" {
				places = append(places, place{v, i, pointer + "/" + step, pointer})
			}
			visit(c, pointer+"/"+step)
		}
	}
	visit(root, "")
	at := pick(r, places...)
	in, i := at.in, at.i
	e = edit.Edit{Op: pick(r, edit.Replace, edit.Remove, edit.Before, edit.Before, edit.Behind, edit.Append), At: at.pointer}
	added := newValue(r, 2)
	if e.Op != edit.Remove {
		e.Value = json.RawMessage(added.compact())
	}
	if in.kind == '{' {
		added.name = "New " + pick(r, names...)
	}
	if in.kind == '{' && r.IntN(6) == 0 {
		e.Op, e.Value = edit.Rename, nil
	}
	if in.kind == '[' && i > 0 && r.IntN(3) == 0 {
		to := r.IntN(i)
		e = edit.Edit{Op: edit.Move, At: at.pointer, To: fmt.Sprintf("%s/%d", at.within, to)}
		moved := in.children[i]
		in.children = slices.Insert(slices.Delete(in.children, i, i+1), to, moved)
		return e, at.within
	}
	switch e.Op {
	case edit.Replace:
		added.name = in.children[i].name
		in.children[i] = added
		return e, at.within
	case edit.Remove:
		in.children = slices.Delete(in.children, i, i+1)
		return e, at.within
	case edit.Rename:
		e.Name = added.name
		in.children[i].name = added.name
		return e, at.within
	case edit.Append:
		e.At, i = at.within, len(in.children)
	case edit.Behind:
		i++
	case edit.Before, edit.Move:
	}
	e.Name = added.name
	in.children = slices.Insert(in.children, i, added)
	return e, at.within
}

// requireOutside makes sure that the bytes in front of the parent and behind it are the
// same.
func requireOutside(t *testing.T, before, after []byte, parent, name string) {
	t.Helper()
	d, err := read(before)
	require.NoError(t, err)
	p, ok := d.Place(parent)
	if !ok {
		return
	}
	// In block YAML an empty value stands on the line of its name, a comment above the first
	// member stays with it, and so does one behind the last.
	from := p.From
	if d.YAML && p.Name >= 0 {
		from = p.Name
	}
	require.True(t, bytes.HasPrefix(after, before[:from]), "%s\n%s", name, after)
	rest := string(before[p.To:])
	if d.YAML {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	require.True(t, strings.HasSuffix(string(after), rest), "%s\n%s", name, after)
}

// requireLines makes sure that an edit changes few lines, and no comment.
func requireLines(t *testing.T, before, after string, e edit.Edit, name string) {
	t.Helper()
	if e.Op == edit.Before || e.Op == edit.Behind || e.Op == edit.Append || e.Op == edit.Rename || e.Op == edit.Move {
		require.LessOrEqual(t, missing(before, after), 2, "%s\n%s", name, after)
	}
	if e.Op == edit.Before || e.Op == edit.Behind || e.Op == edit.Append || e.Op == edit.Move {
		for _, comment := range []string{"# it's here", "# {x: [y]}", "# what follows", "# kept", "# ours"} {
			require.Equal(t, strings.Count(before, comment), strings.Count(after, comment), "%s\n%s", name, after)
		}
	}
	if strings.Contains(before, "\r\n") {
		require.Equal(t, strings.Count(after, "\n"), strings.Count(after, "\r\n"), "%s\n%q", name, after)
	}
}

// missing counts the lines of a text that another has not.
func missing(before, after string) int {
	have := map[string]int{}
	for line := range strings.Lines(after) {
		have[strings.TrimRight(line, "\r\n")]++
	}
	gone := 0
	for line := range strings.Lines(before) {
		line = strings.TrimRight(line, "\r\n")
		if have[line]--; have[line] < 0 {
			gone++
		}
	}
	return gone
}
