package pollcore

import (
	"math"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// ParseWaiter reads one waiter in its Smithy JSON form. Reading is strict:
// unknown members, wrong types, unions with none or several members and every
// rule of [Waiter.Validate] are reported at once as a [diag.Problems], each with
// its place in text. A text may name its JSON Schema as $schema.
func ParseWaiter(name string, text []byte) (*Waiter, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	doc.Root.SkipSchema()
	w, problems := readWaiter(name, doc.Root)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return w, nil
}

// ParseWaiters reads the value of a `waitable` trait: an object of waiters by
// name, returned in the order of the text. Names must differ in more than
// case. Its error is a [diag.Problems].
func ParseWaiters(text []byte) ([]*Waiter, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	var problems diag.Problems
	if doc.Root.Kind != jsontree.Object {
		return nil, diag.Problems{doc.Root.Problem("expected an object of waiters by name, found %s", doc.Root.Describe())}
	}
	waiters := make([]*Waiter, 0, len(doc.Root.Members))
	seen := map[string]string{}
	for _, m := range doc.Root.Members {
		if other, ok := seen[strings.ToLower(m.Name)]; ok {
			problems = append(problems, doc.Root.MemberProblem(m, "waiter names must differ in more than case: %s and %s", other, m.Name))
		}
		seen[strings.ToLower(m.Name)] = m.Name
		w, found := readWaiter(m.Name, m.Value)
		problems = append(problems, found...)
		waiters = append(waiters, w)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return waiters, nil
}

// UnmarshalJSON reads the Smithy form as strictly as [ParseWaiter]. JSON has
// no name inside a waiter: a nameless one is called Waiter.
func (w *Waiter) UnmarshalJSON(text []byte) error {
	name := w.Name
	if name == "" {
		name = "Waiter"
	}
	read, err := ParseWaiter(name, text)
	if err != nil {
		return err
	}
	*w = *read
	return nil
}

func readWaiter(name string, n *jsontree.Node) (*Waiter, diag.Problems) {
	r := &reader{}
	w := &Waiter{Name: name}
	r.Object(n, "a waiter", map[string]func(*jsontree.Node){
		"documentation": r.Text(&w.Documentation),
		"acceptors": r.List(func(item *jsontree.Node) {
			w.Acceptors = append(w.Acceptors, r.acceptor(item))
		}),
		"minDelay":   r.Int(&w.MinDelay, 1, math.MaxInt32),
		"maxDelay":   r.Int(&w.MaxDelay, 1, math.MaxInt32),
		"deprecated": r.Bool(&w.Deprecated),
		"tags": r.List(func(item *jsontree.Node) {
			var tag string
			r.Text(&tag)(item)
			w.Tags = append(w.Tags, tag)
		}),
	}, "acceptors")
	if n.Kind != jsontree.Object {
		return w, r.Problems
	}
	// The rules on values are in one place, Validate; here they get positions.
	// A value that could not even be read, or is not there, has its problem
	// already.
	for _, p := range w.problems() {
		at := n.Pointer() + p.Pointer
		if p.Pointer == "/acceptors" && n.Get("acceptors") == nil {
			continue
		}
		if p.Pointer == "" || !r.Knows(at) {
			placed := n.Nearest(at).Problem("%s", p.Message)
			placed.Suggestion, placed.OwnWords = p.Suggestion, p.OwnWords
			r.Report(placed)
		}
	}
	return w, r.Problems
}

// reader reads the parts of a waiter.
type reader struct{ jsontree.Reader }

func (r *reader) acceptor(n *jsontree.Node) Acceptor {
	var a Acceptor
	r.Object(n, "an acceptor", map[string]func(*jsontree.Node){
		"state":   r.Text((*string)(&a.State)),
		"message": r.Text(&a.Message),
		"matcher": func(n *jsontree.Node) { a.Matcher = r.matcher(n) },
	}, "state", "matcher")
	return a
}

func (r *reader) matcher(n *jsontree.Node) Matcher {
	var m Matcher
	path := func(to **PathMatcher) func(*jsontree.Node) {
		return func(n *jsontree.Node) {
			*to = &PathMatcher{}
			r.Object(n, "a path matcher", map[string]func(*jsontree.Node){
				"path":       r.Text(&(*to).Path),
				"expected":   r.Text(&(*to).Expected),
				"comparator": r.Text((*string)(&(*to).Comparator)),
			}, "path", "expected", "comparator")
		}
	}
	r.Object(n, "a matcher", map[string]func(*jsontree.Node){
		"output":      path(&m.Output),
		"inputOutput": path(&m.InputOutput),
		"success":     func(n *jsontree.Node) { m.Success = new(bool); r.Bool(m.Success)(n) },
		"errorType":   func(n *jsontree.Node) { m.ErrorType = new(string); r.Text(m.ErrorType)(n) },
	})
	return m
}
