package jsontree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

type job struct {
	name, mode string
	limit      int
	urgent     bool
	tags       []string
}

func readJob(t *testing.T, text string) (job, error) {
	t.Helper()
	doc, err := jsontree.Parse([]byte(text))
	require.NoError(t, err)
	var r jsontree.Reader
	var j job
	r.Object(doc.Root, "a job", map[string]func(*jsontree.Node){
		"name":   r.Text(&j.name),
		"mode":   r.OneOf(&j.mode, "stop", "leave"),
		"limit":  r.Int(&j.limit, 1, 10),
		"urgent": r.Bool(&j.urgent),
		"tags": r.List(func(n *jsontree.Node) {
			var tag string
			r.Text(&tag)(n)
			j.tags = append(j.tags, tag)
		}),
	}, "name")
	return j, r.Problems.Err()
}

func TestReader(t *testing.T) {
	t.Parallel()
	got, err := readJob(t, `{"name":"x","mode":"stop","limit":10,"urgent":true,"tags":["a","b"]}`)
	require.NoError(t, err)
	require.Equal(t, job{"x", "stop", 10, true, []string{"a", "b"}}, got)
}

func TestReaderReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := readJob(t, `{"nam":"x","mode":"stp","limit":11,"urgent":"yes","tags":["a",1]}`)
	for _, want := range []string{
		"6 problems",
		`1:1: a job needs the member "name"`,
		`/nam: a job has no member "nam" (did you mean "name"?)`,
		`/mode: expected one of stop, leave, found a string ("stp") (did you mean "stop"?)`,
		"/limit: expected a whole number from 1 to 10, found a number (11)",
		`/urgent: expected true or false, found a string ("yes")`,
		"/tags/1: expected a string, found a number (1)",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = readJob(t, `{"name":null,"limit":1.5,"tags":{}}`)
	require.ErrorContains(t, err, "/name: expected a string, found null")
	require.ErrorContains(t, err, "/limit: expected a whole number from 1 to 10, found a number (1.5)")
	require.ErrorContains(t, err, "/tags: expected an array, found an object")
	_, err = readJob(t, `3`)
	require.ErrorContains(t, err, "expected a job, found a number (3)")
}

// A text with very many problems costs no more than one with a few.
func TestReaderWithManyProblems(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"name":"x"`)
	for i := range 20_000 {
		fmt.Fprintf(&text, `,"nam%d":1`, i)
	}
	text.WriteString(`}`)
	_, err := readJob(t, text.String())
	require.ErrorContains(t, err, "20000 problems:")
	require.ErrorContains(t, err, "and 19950 more")
	require.ErrorContains(t, err, `did you mean "name"?`)
	require.Less(t, len(err.Error()), 30_000)
}

func TestReaderHidesStrings(t *testing.T) {
	t.Parallel()
	doc, err := jsontree.Parse([]byte(`["hunter2", 42, true]`))
	require.NoError(t, err)
	r := jsontree.Reader{HideStrings: true}
	var text string
	var number int
	var truth bool
	items := doc.Root.Items
	r.Int(&number, 1, 2)(items[0])
	r.OneOf(&text, "a", "b")(items[0])
	r.Bool(&truth)(items[0])
	r.Object(items[0], "a job", nil)
	r.Text(&text)(items[1])
	r.List(func(*jsontree.Node) {})(items[2])
	require.Len(t, r.Problems, 6)
	require.Contains(t, r.Problems[4].Message, "found a number (42)")
	for _, p := range r.Problems {
		require.NotContains(t, p.Message, "hunter2")
	}
}

func TestReported(t *testing.T) {
	t.Parallel()
	doc, err := jsontree.Parse([]byte(`{"a":{"b":1},"ab":2}`))
	require.NoError(t, err)
	var r jsontree.Reader
	r.Report(doc.Root.Get("a").Get("b").Problem("wrong"))
	require.True(t, r.Knows("/a"))
	require.True(t, r.Knows("/a/b"))
	require.False(t, r.Knows("/ab"))
	require.False(t, r.Knows("/a/b/c"))
}

func TestNearest(t *testing.T) {
	t.Parallel()
	doc, err := jsontree.Parse([]byte(`{"a":[{"b":1}],"ab":2}`))
	require.NoError(t, err)
	for pointer, want := range map[string]string{
		"/a/0/b": "/a/0/b", "/a/0/b/c": "/a/0/b", "/a/1": "/a", "/ab": "/ab", "/abc": "", "": "",
	} {
		require.Equal(t, want, doc.Root.Nearest(pointer).Pointer(), pointer)
	}
}
