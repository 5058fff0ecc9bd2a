//go:build e2e

package jsonpath_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/maven"
)

var (
	//go:embed testdata/jayway/pom.xml
	jaywayProject []byte
	//go:embed testdata/jayway/sha256sums.txt
	jaywaySums string
)

const asked = `{"a": {"b": [{"c": 1, "d": "x", "n": {"c": 9}}, {"c": 2, "d": "y"}, {"c": 3}], "c": 8, "e": []},
	"b": [1, 2, [3, 4]], "a-b": 5, "x y": 6, "s": "t", "z": null, "0": "zero", "it's": 7, "é:1": {"b": [{"c": 4}]}}`

// answer is the result of a path by Jayway's library.
type answer struct {
	Refused  string `json:"refused"`
	Failed   string `json:"failed"`
	Definite bool   `json:"definite"`
	Value    any    `json:"value"`
}

// TestE2EJayway asks the library that Step Functions uses about paths drawn by a grammar.
// What Step Functions is known to do otherwise is not drawn: see the package. Nor are some
// oddities of the library: it passes over one character behind a bracket at the end of a
// path, loses values at steps after "..*" and "..[0]", and its versions differ in filters
// that order values of two types.
func TestE2EJayway(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 1))
	var paths []string
	for range 20000 {
		paths = append(paths, drawPath(draw))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	require.Greater(t, len(paths), 10000)
	var doc any
	decoder := json.NewDecoder(strings.NewReader(asked))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&doc))
	read, failed, refused := 0, 0, 0
	for i, want := range askJayway(t, paths) {
		path, err := jsonpath.Parse(paths[i])
		if want.Refused != "" {
			refused++
			require.Error(t, err, "%s: %s", paths[i], want.Refused)
			continue
		}
		require.NoError(t, err, paths[i])
		require.Equal(t, want.Definite, path.Definite(), paths[i])
		value, err := path.Get(doc)
		if want.Failed != "" && !path.Definite() { // AWS's recordings have empty lists there
			require.NoError(t, err, paths[i])
			require.Empty(t, value, paths[i])
			continue
		}
		if want.Failed != "" {
			failed++
			require.ErrorAs(t, err, new(*jsonpath.NotFoundError), "%s: %s", paths[i], want.Failed)
			continue
		}
		read++
		require.NoError(t, err, paths[i])
		require.Equal(t, inAnyOrder(path, want.Value), inAnyOrder(path, value), paths[i])
	}
	require.Greater(t, min(read, failed, refused), 1000, "%d read, %d failed, %d refused", read, failed, refused)
}

// inAnyOrder sorts a list that a path gives: members of an object have no order.
func inAnyOrder(path *jsonpath.Path, value any) any {
	list, ok := value.([]any)
	if !ok || path.Definite() {
		return value
	}
	var texts []string
	for _, item := range list {
		text, _ := json.Marshal(item)
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return texts
}

func askJayway(t *testing.T, paths []string) []answer {
	t.Helper()
	folder, err := maven.Install(t.Context(), "jayway", jaywayProject, jaywaySums)
	require.NoError(t, err)
	var in, complaints bytes.Buffer
	require.NoError(t, json.Compact(&in, []byte(asked)))
	for _, path := range paths {
		text, err := json.Marshal(path)
		require.NoError(t, err)
		fmt.Fprintf(&in, "\n%s", text)
	}
	java := exec.CommandContext(t.Context(), "java", "-cp", filepath.Join(folder, "*"), filepath.Join("testdata", "jayway", "Ask.java"))
	java.Stdin, java.Stderr = &in, &complaints
	out, err := java.Output()
	require.NoError(t, err, complaints.String())
	var answers []answer
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.UseNumber()
	for {
		var a answer
		err := decoder.Decode(&a)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		answers = append(answers, a)
	}
	require.Len(t, answers, len(paths))
	return answers
}

func drawPath(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	name := func() string {
		return pick("a", "b", "c", "d", "n", "a-b", "0", "s", "z", "e", "it's", "é:1", "none", "a/b", "@", "a)b", "b*", "c,d", `a"b`, "_x", "1a", "-1", "b]")
	}
	blank := func() string { return pick("", "", "", " ", "  ") }
	quoted := func(quote string) string {
		return quote + strings.ReplaceAll(pick(name(), "x y", "a.b"), quote, `\`+quote) + quote
	}
	index := func() string { return pick("0", "1", "2", "01", "9") }
	bound := func() string { return pick("", "", "-1", "-2", index()) }
	var b strings.Builder
	b.WriteString("$")
	for range 1 + r.IntN(4) {
		quote := pick("'", `"`)
		switch r.IntN(12) {
		case 0, 1, 2:
			b.WriteString("." + name())
		case 3:
			b.WriteString(pick("", ".") + "[" + blank() + quoted(quote) + blank() + "]")
		case 4:
			b.WriteString("[" + blank() + quoted(quote) + blank() + "," + blank() + quoted(pick(quote, quote, `"`)) + blank() + "]")
		case 5:
			b.WriteString(pick("", ".") + "[" + blank() + index() + blank() + "]")
		case 6:
			b.WriteString("[" + index() + blank() + "," + blank() + index() + "]")
		case 7:
			b.WriteString("[" + pick(
				bound()+pick(":", ": ", " :"), pick(":", ": ", " :")+bound(), index()+":"+bound(), index()+":"+index()+":"+pick("", "2")) + "]")
		case 8:
			b.WriteString(pick("[*]", ".*", "[ * ]", ".[*]"))
		case 9:
			b.WriteString(".." + name())
		case 10: // a name without its "."
			b.WriteString("[" + index() + "]" + pick("Id", "none", "é:1", "a-b"))
		case 11:
			b.WriteString(pick("[?(@.c)]", "[?(@.c == 1)]", "[?(@.c==2)].d", "[?( @.c>1 )]", "[?(@['c']>1)]", "[?(@.d=='x' || @.c == 3)]",
				"['*']", "[]", "[a]", "[?]", " ", ". a", "[?(@.n.c == 9 && @.d)]"))
		}
	}
	return b.String() + pick("", "", "", "", "..*", "..[*]", ".", "..")
}
