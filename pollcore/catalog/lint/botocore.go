package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// botocoreForm tells whether a waiter has botocore's form: its matchers are
// words and its operation stands in it.
func botocoreForm(n *jsontree.Node) bool {
	if n.Get("operation") != nil || n.Get("delay") != nil || n.Get("maxAttempts") != nil {
		return true
	}
	acceptors := n.Get("acceptors")
	if acceptors == nil || len(acceptors.Items) == 0 {
		return false
	}
	matcher := acceptors.Items[0].Get("matcher")
	return matcher != nil && matcher.Kind == jsontree.String
}

// statusError stands for an error of an HTTP status that has no name.
const statusError = "HTTP-"

// errorsForStatus names the errors of an HTTP status: what the catalogue knows
// the status by, else those of the operation that have it.
func errorsForStatus(op *catalog.Operation) func(string, int) []string {
	return func(_ string, status int) []string {
		var names []string
		if op != nil {
			for _, e := range op.Errors {
				switch {
				case e.Status != status:
				case e.Shape == "":
					return []string{e.Code}
				default:
					names = append(names, e.Shape)
				}
			}
		}
		if len(names) == 0 {
			names = []string{statusError + strconv.Itoa(status)}
		}
		return names
	}
}

// botocore checks a waiter of botocore.
func (f *file) botocore(name string, n *jsontree.Node) error {
	op, err := f.operation(textOf(n, "operation"))
	if err != nil {
		return err
	}
	valid := f.upperCamel(name, n)
	named := errorsForStatus(op)
	// The reader takes whole documents: head is what stands before the waiter.
	head := fmt.Sprintf(`{"version":2,"waiters":{%q:`, valid)
	read := func(waiter []byte) (*pollcore.Waiter, diag.Problems) {
		definitions, err := catalog.ReadBotocore([]byte(head+string(waiter)+"}}"), catalog.ErrorsForStatus(named))
		if problems, ok := errors.AsType[diag.Problems](err); ok {
			return nil, problems
		}
		return definitions[0].Waiter, nil
	}
	w, problems := read(n.Raw())
	for _, p := range problems {
		p.Pointer = strings.TrimPrefix(p.Pointer, "/waiters/"+valid)
		offset := offsetOf([]byte(head+string(n.Raw())), p.Line, p.Column) - len(head)
		f.reportRefusal(name, n, p, n.Offset+max(0, offset))
	}
	if w == nil {
		if w, _ = read(repairText(n, numberStatus)); w == nil {
			return nil
		}
	}
	o := f.options.Options
	if valid != name {
		o.Off = append(slices.Clip(o.Off), Name) // it has been told
	}
	first := len(f.findings)
	f.check(w, n, op, o, f.inBotocore(n, named))
	for i := range f.findings[first:] {
		f.findings[first+i].Waiter = name
	}
	return nil
}

// upperCamel is the name as the Smithy form has it.
func (f *file) upperCamel(name string, n *jsontree.Node) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && (b.Len() == 0 || !unicode.IsDigit(r)) {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	valid := b.String()
	if valid == "" {
		valid = nameless
	}
	if valid != name {
		p := diag.Problem{
			Severity: diag.Note, Suggestion: valid,
			Message: fmt.Sprintf("a waiter name is UpperCamelCase, the resource and then its state; found %q", name),
		}
		f.report(Name, name, p.Move(f.text, n.Offset, n.Pointer()), pollcore.NoAcceptor)
	}
	return valid
}

// numberStatus makes a number of an HTTP status that is a string.
func numberStatus(acceptor map[string]any) {
	if status, ok := statusText(acceptor["matcher"], acceptor["expected"]); ok {
		acceptor["expected"] = json.Number(status)
	}
}

// statusText is the HTTP status that an acceptor has as a string.
func statusText(matcher, expected any) (string, bool) {
	text, ok := expected.(string)
	if _, err := strconv.Atoi(text); err != nil || !ok || matcher != "status" {
		return "", false
	}
	return text, true
}

// reportRefusal reports why the reader refuses a waiter: a problem with a pointer
// from the waiter, and its place in the text.
func (f *file) reportRefusal(waiter string, n *jsontree.Node, p diag.Problem, offset int) {
	at := n.Nearest(n.Pointer() + p.Pointer)
	acceptor := acceptorOf(p.Pointer)
	if strings.HasSuffix(p.Pointer, "/expected") {
		item := n.Nearest(strings.TrimSuffix(at.Pointer(), "/expected"))
		if status, ok := statusText(textOf(item, "matcher"), at.Value()); ok {
			f.report(StatusString, waiter, diag.Problem{
				Severity: diag.Danger,
				Message: fmt.Sprintf("expected an HTTP status, found the string %q: a status is a number, so this never matches; "+
					"write %s without quotes", status, status),
			}.Move(f.text, at.Offset, at.Pointer()), acceptor)
			return
		}
	}
	if strings.HasSuffix(p.Pointer, "/state") && p.Suggestion == "" && at.Kind == jsontree.String {
		p.Suggestion = stateMeant(at.Text)
	}
	f.report(Format, waiter, p.Move(f.text, offset, n.Pointer()+p.Pointer), acceptor)
}

// inBotocore translates pointers from the Smithy form into botocore's.
func (*file) inBotocore(n *jsontree.Node, named func(string, int) []string) func(string) string {
	var origin []int // of each acceptor of the Smithy form
	if acceptors := n.Get("acceptors"); acceptors != nil {
		for i, item := range acceptors.Items {
			count := 1
			if expected := item.Get("expected"); textOf(item, "matcher") == "status" && expected != nil {
				if status, err := strconv.Atoi(expected.Text); err == nil && (status < 200 || status > 299) {
					count = len(named("", status))
				}
			}
			for range count {
				origin = append(origin, i)
			}
		}
	}
	members := map[string]string{
		"/matcher/output/path": "/argument", "/matcher/output/expected": "/expected", "/matcher/output/comparator": "/matcher",
		"/matcher/errorType": "/expected", "/matcher/success": "/expected", "/state": "/state",
	}
	return func(pointer string) string {
		i := acceptorOf(pointer)
		if i == pollcore.NoAcceptor || i >= len(origin) {
			if pointer == "/minDelay" || pointer == "/maxDelay" {
				return "/delay"
			}
			return pointer
		}
		return at(origin[i], members[strings.TrimPrefix(pointer, at(i, ""))])
	}
}
