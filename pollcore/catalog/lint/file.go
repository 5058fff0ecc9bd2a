package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// FileOptions are how a text is checked.
type FileOptions struct {
	Options

	// Catalog knows the services and their operations; nil is [catalog.AWS()].
	Catalog *catalog.Catalog
	// Operations finds an operation of a service, with the error of
	// [catalog.Catalog.Operation]. Nil is that of Catalog, which has what the catalogue's
	// waiters and jobs call. models.Operation of pollcore/catalog/models knows all.
	Operations func(service, name string) (*catalog.Operation, error)
	// Service and Operation say what the waiters poll, by the names that the
	// catalogue takes. What a text says itself need not be given.
	Service, Operation string
	// Name is that of a waiter to which the text gives none.
	Name string
}

// ErrNoWaiters means that a text has no waiters in any form that [File] reads.
var ErrNoWaiters = errors.New("no waiters")

// IsWaiters tells whether a text looks like one of the forms that [File] reads.
func IsWaiters(text []byte) bool {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return false
	}
	doc.Root.SkipSchema()
	return formOf(doc.Root) != noForm
}

// File checks the waiters of a text, which it places in it: what is most severe
// first, then in the order of the text. The text is JSON in one of these forms,
// which it tells apart by their members:
//
//   - a waiter in the Smithy form, or an object of such waiters by name, the
//     value of the waitable trait;
//   - a waiter of botocore, an object of those by name, or a waiters-2.json;
//   - a Smithy model, whose waiters are checked against the operations of the
//     service where Operations has it;
//   - an object with a member waiter: a request of the Lambda functions, whose
//     job says what is polled, or one with the members service and operation.
//
// Rule [Format] reports a text that has another form. An unknown state with an
// obvious meaning is read as that, so that the rest is checked too. Its error is
// [ErrNoWaiters], a *catalog.NotFoundError of the service or operation, or that
// of reading the catalogue.
func File(text []byte, o FileOptions) ([]Finding, error) {
	doc, err := jsontree.Parse(text)
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		return formatFindings(problems), nil
	}
	o.Catalog = cmp.Or(o.Catalog, catalog.AWS())
	if o.Operations == nil {
		o.Operations = o.Catalog.Operation
	}
	doc.Root.SkipSchema()
	f := &file{text: text, root: doc.Root, options: o}
	switch formOf(doc.Root) {
	case smithyModel:
		err = f.model()
	case botocoreFile:
		err = f.checkWaiters(doc.Root.Get("waiters"))
	case namedWaiters:
		err = f.checkWaiters(doc.Root)
	case oneWaiter:
		err = f.waiter(cmp.Or(o.Name, nameless), doc.Root)
	case wrapped:
		err = f.checkRequest()
	case noForm:
		err = fmt.Errorf("%w: expected a waiter, an object of waiters by name, a waiters-2.json, a Smithy model or an object with the member \"waiter\", found %s",
			ErrNoWaiters, doc.Root.Describe())
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(f.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.findings, nil
}

// nameless is what a waiter without a name is called.
const nameless = "Waiter"

// form is how a text holds waiters.
type form uint8

const (
	noForm form = iota
	oneWaiter
	namedWaiters
	botocoreFile
	smithyModel
	wrapped
)

func formOf(n *jsontree.Node) form {
	isObject := func(name string) bool { return n.Get(name) != nil && n.Get(name).Kind == jsontree.Object }
	switch {
	case n.Kind != jsontree.Object, n.Get("States") != nil, n.Get("StartAt") != nil:
		return noForm
	case n.Get("smithy") != nil && isObject("shapes"):
		return smithyModel
	case isObject("waiters"):
		return botocoreFile
	case isObject("waiter"):
		return wrapped
	case n.Get("acceptors") != nil:
		return oneWaiter
	case len(n.Members) > 0 && !slices.ContainsFunc(n.Members, func(m jsontree.Member) bool { return m.Value.Get("acceptors") == nil }):
		return namedWaiters
	default:
		return noForm
	}
}

func formatFindings(problems diag.Problems) []Finding {
	var findings []Finding
	for _, p := range problems {
		findings = append(findings, Finding{Problem: p, Rule: Format, Acceptor: pollcore.NoAcceptor})
	}
	return findings
}

// file is a text that is checked.
type file struct {
	text     []byte
	root     *jsontree.Node
	options  FileOptions
	why      string // an operation is not known, if something else than usual
	findings []Finding
}

// checkWaiters checks an object of waiters by name.
func (f *file) checkWaiters(n *jsontree.Node) error {
	for _, m := range n.Members {
		if err := f.waiter(m.Name, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// waiter checks a waiter of either form.
func (f *file) waiter(name string, n *jsontree.Node) error {
	if botocoreForm(n) {
		return f.botocore(name, n)
	}
	op, err := f.operation("")
	if err != nil {
		return err
	}
	f.smithy(name, n, op, f.options.Options)
	return nil
}

// operation finds what is polled. The flags go before what the text says.
func (f *file) operation(inText string) (*catalog.Operation, error) {
	service, name := f.options.Service, cmp.Or(f.options.Operation, inText)
	if service == "" || name == "" {
		return nil, nil //nolint:nilnil // a waiter is checked without its operation, too
	}
	return f.options.Operations(service, name)
}

// smithy checks a waiter in the Smithy form.
func (f *file) smithy(name string, n *jsontree.Node, op *catalog.Operation, o Options) {
	w, err := pollcore.ParseWaiter(name, n.Raw())
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		for _, p := range problems {
			offset := n.Offset + offsetOf(n.Raw(), p.Line, p.Column)
			f.report(Format, name, p.Move(f.text, offset, n.Pointer()+p.Pointer), acceptorOf(p.Pointer))
		}
		if w, err = pollcore.ParseWaiter(name, repairText(n, nil)); err != nil {
			return
		}
	}
	f.check(w, n, op, o, func(pointer string) string { return pointer })
}

// check checks a waiter that was read and places what is found. The pointer of
// a value in the text may be another than in the Smithy form.
func (f *file) check(w *pollcore.Waiter, n *jsontree.Node, op *catalog.Operation, o Options, inText func(string) string) {
	if op == nil {
		p := diag.Problem{Severity: diag.Note, Message: cmp.Or(f.why, "the file does not say which operation the waiter polls, so its paths, "+
			"values and errors are not checked; name the service and the operation")}
		f.report(Unchecked, w.Name, p.Move(f.text, n.Offset, n.Pointer()), pollcore.NoAcceptor)
	}
	if w.Name == nameless {
		o.Off = append(slices.Clone(o.Off), Name)
	}
	for _, found := range Waiter(w, op, o) {
		pointer := n.Pointer() + inText(found.Pointer)
		at := n.Nearest(pointer)
		offset := at.Offset
		if m := pathAt(w, found.Pointer); found.Line > 0 && m != "" && at.Kind == jsontree.String && strings.HasPrefix(at.Text, m) {
			offset += inString(at.Raw(), pathOffset(m, found.Problem))
		}
		found.Problem = found.Move(f.text, offset, at.Pointer())
		f.findings = append(f.findings, found)
	}
}

// pathAt is the expression that a pointer leads to, or empty.
func pathAt(w *pollcore.Waiter, pointer string) string {
	i := acceptorOf(pointer)
	if i == pollcore.NoAcceptor || i >= len(w.Acceptors) {
		return ""
	}
	if pointer == at(i, "/message") {
		return w.Acceptors[i].Message
	}
	if m, part := pathOf(w.Acceptors[i]); m != nil && pointer == at(i, part+"/path") {
		return m.Path
	}
	return ""
}

func (f *file) report(rule, waiter string, p diag.Problem, acceptor int) {
	if f.options.checks(rule) {
		f.findings = append(f.findings, Finding{Problem: p, Rule: rule, Waiter: waiter, Acceptor: acceptor})
	}
}

// checkRequest checks the waiter of a request, or of an object that says what it
// polls.
func (f *file) checkRequest() error {
	n := f.root.Get("waiter")
	name := cmp.Or(textOf(f.root, "waiterName"), textOf(f.root, "name"), f.options.Name, nameless)
	if job := textOf(f.root, "job"); job != "" && f.options.Service == "" {
		op, err := f.operationOf(job)
		if err != nil {
			return err
		}
		o := f.options.Options
		o.Spelling = javasdk.MemberName
		f.smithy(name, n, op, o)
		return nil
	}
	f.options.Service = cmp.Or(f.options.Service, textOf(f.root, "service"))
	f.options.Operation = cmp.Or(f.options.Operation, textOf(f.root, "operation"))
	return f.waiter(name, n)
}

// operationOf is the operation that a job of a request polls, nil for a job that
// the catalogue does not have.
func (f *file) operationOf(job string) (*catalog.Operation, error) {
	entry, err := f.options.Catalog.Resolve(job)
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		return nil, nil //nolint:nilnil // a job of the user's own
	case err != nil:
		return nil, err
	default:
		return entry.Operation, nil
	}
}

func textOf(n *jsontree.Node, name string) string {
	if m := n.Get(name); m != nil && m.Kind == jsontree.String {
		return m.Text
	}
	return ""
}

// repairText is the text of a waiter whose states are of the format's words where
// it is plain which are meant, and whose acceptors are changed further.
func repairText(n *jsontree.Node, change func(acceptor map[string]any)) []byte {
	value := n.Value()
	if waiter, ok := value.(map[string]any); ok {
		list, _ := waiter["acceptors"].([]any)
		for _, item := range list {
			a, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if state, ok := a["state"].(string); ok {
				a["state"] = cmp.Or(stateMeant(state), state)
			}
			if change != nil {
				change(a)
			}
		}
	}
	return jsontree.Compact(value)
}

// stateMeant is the state that a word means which is none, or empty.
func stateMeant(word string) string {
	w := &pollcore.Waiter{Name: nameless, Acceptors: []pollcore.Acceptor{{State: pollcore.Verdict(word), Matcher: pollcore.AnyResponse()}}}
	problems, _ := errors.AsType[diag.Problems](w.Validate())
	for _, p := range problems {
		if p.Pointer == at(0, "/state") {
			return p.Suggestion
		}
	}
	return ""
}

// offsetOf is the byte at a line and column of a text, both counted from 1.
func offsetOf(text []byte, line, column int) int {
	return pathOffset(string(text), diag.Problem{Line: line, Column: column})
}

// inString is where in the text of a JSON string the byte of what it says is.
func inString(raw []byte, offset int) int {
	const longest = 10_000 // that is worth looking through
	if !bytes.ContainsRune(raw, '\\') || len(raw) > longest {
		return min(1+offset, len(raw)-1)
	}
	for i := 1; i < len(raw); i++ {
		var text string
		if json.Unmarshal(append(raw[:i:i], '"'), &text) == nil && len(text) >= offset {
			return i
		}
	}
	return 0
}

func sortNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
