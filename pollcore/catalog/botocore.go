package catalog

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// BotocoreOption says how [ReadBotocore] reads what has no Smithy form.
type BotocoreOption func(*botocoreReader)

// ErrorsForStatus reads an acceptor of an HTTP status as acceptors of error
// types: the names that the service gives the errors of the operation that have
// the status, such as NotFound for the 404 of S3's HeadBucket. Without a name
// for it the status is refused.
func ErrorsForStatus(names func(operation string, status int) []string) BotocoreOption {
	return func(r *botocoreReader) { r.errorsForStatus = names }
}

// ReadBotocore reads botocore's waiters-2.json, format version 2, into the
// Smithy form. The waiters come in the order of the text.
//
//   - path, pathAll and pathAny with a string become the output matchers
//     stringEquals, allStringEquals and anyStringEquals, and path with a
//     boolean booleanEquals. Comparisons that Smithy has no comparator for (a
//     number, or a boolean in a list) become a JMESPath expression that makes
//     them, with booleanEquals.
//   - error with a string becomes errorType; with true it is any error, with
//     false any response.
//   - status from 200 to 299 is any response, since those are the statuses for
//     which an SDK returns no error. Smithy knows errors by name alone: any
//     other status is refused unless [ErrorsForStatus] names its errors, of
//     which each becomes an acceptor.
//   - delay becomes minDelay. botocore always waits that long and ends after
//     maxAttempts calls, where Smithy lets the delay grow to maxDelay and
//     leaves the end to the caller: maxDelay keeps its default of 120 seconds,
//     or is delay if that is more, and the whole time that botocore waits is
//     [Definition].TotalWait.
//   - description becomes documentation.
//
// What botocore's own schema does not allow is refused, and so are names that
// differ in case alone and waiters that break a rule of the Smithy form. Its
// error is a [diag.Problems].
func ReadBotocore(text []byte, options ...BotocoreOption) ([]Definition, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	r := &botocoreReader{errorsForStatus: func(string, int) []string { return nil }}
	for _, option := range options {
		option(r)
	}
	r.Object(doc.Root, "a waiters-2 document", map[string]func(*jsontree.Node){
		"version": func(n *jsontree.Node) {
			if n.Kind != jsontree.Number || n.Text != "2" {
				r.Report(n.Problem("expected version 2 of the format, found %s", n.Describe()))
			}
		},
		"waiters": r.waiters,
	}, "version", "waiters")
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	return r.definitions, nil
}

// botocoreReader reads one waiters-2.json.
type botocoreReader struct {
	jsontree.Reader

	errorsForStatus func(operation string, status int) []string
	definitions     []Definition
}

func (r *botocoreReader) waiters(n *jsontree.Node) {
	if n.Kind != jsontree.Object {
		r.Report(n.Problem("expected an object of waiters by name, found %s", n.Describe()))
		return
	}
	seen := map[string]string{}
	for _, m := range n.Members {
		if other, ok := seen[strings.ToLower(m.Name)]; ok {
			r.Report(n.MemberProblem(m, "waiter names must differ in more than case: %s and %s", other, m.Name))
		}
		seen[strings.ToLower(m.Name)] = m.Name
		r.definitions = append(r.definitions, r.waiter(m.Name, m.Value))
	}
}

func (r *botocoreReader) waiter(name string, n *jsontree.Node) Definition {
	w := &pollcore.Waiter{Name: name}
	// The operation says which errors a status means, wherever it stands.
	d := Definition{Waiter: w, Operation: textAt(n, "operation")}
	var typ string
	var attempts int
	var origin []int // of each acceptor, its place in the text
	items := 0
	r.Object(n, "a waiter", map[string]func(*jsontree.Node){
		"type":        r.OneOf(&typ, "api"),
		"operation":   r.Text(&d.Operation),
		"description": r.Text(&w.Documentation),
		"delay":       r.Int(&w.MinDelay, 1, math.MaxInt32),
		"maxAttempts": r.Int(&attempts, 1, math.MaxInt32),
		"acceptors": r.List(func(item *jsontree.Node) {
			for _, a := range r.acceptors(d.Operation, item) {
				w.Acceptors = append(w.Acceptors, a)
				origin = append(origin, items)
			}
			items++
		}),
	}, "operation", "delay", "maxAttempts", "acceptors")
	if w.MinDelay > pollcore.DefaultMaxDelay {
		w.MaxDelay = w.MinDelay
	}
	if seconds := int64(w.MinDelay) * int64(attempts); seconds <= math.MaxInt32 {
		d.TotalWait = time.Duration(seconds) * time.Second
	} else {
		r.Report(n.Get("maxAttempts").Problem("delay times maxAttempts must be at most %d seconds, got %d", math.MaxInt32, seconds))
	}
	if op := n.Get("operation"); op != nil && op.Kind == jsontree.String && d.Operation == "" {
		r.Report(op.Problem("expected the name of an operation, found an empty string"))
	}
	if n.Kind == jsontree.Object {
		r.validate(w, n, origin)
	}
	return d
}

// validate checks the waiter by the rules of the Smithy form. What could not
// be read in the first place has its problem already.
func (r *botocoreReader) validate(w *pollcore.Waiter, n *jsontree.Node, origin []int) {
	problems, _ := errors.AsType[diag.Problems](w.Validate())
	for _, p := range problems {
		part, member := inBotocore(p.Pointer, origin)
		if p.Pointer == "" || !r.Knows(n.Pointer()+part) {
			r.Report(n.Nearest(n.Pointer()+part+member).Problem("%s", p.Message))
		}
	}
}

// inBotocore translates a pointer into a waiter from the Smithy form: to the
// acceptor or other part of the waiter, and to the member of an acceptor.
func inBotocore(pointer string, origin []int) (part, member string) {
	steps := strings.SplitN(pointer, "/", 4) // "", acceptors, index, rest
	if len(steps) < 3 || steps[1] != "acceptors" {
		return pointer, ""
	}
	if i, err := strconv.Atoi(steps[2]); err == nil && i < len(origin) {
		steps[2] = strconv.Itoa(origin[i])
	}
	part = strings.Join(steps[:3], "/")
	if len(steps) == 3 {
		return part, ""
	}
	switch steps[3] {
	case "matcher/output/path":
		return part, "/argument"
	case "matcher/errorType":
		return part, "/expected"
	default:
		return part, ""
	}
}

// acceptors reads an acceptor. It is one, but for a status of several errors.
func (r *botocoreReader) acceptors(operation string, n *jsontree.Node) []pollcore.Acceptor {
	var a pollcore.Acceptor
	var matcher, argument string
	before := len(r.Problems)
	r.Object(n, "an acceptor", map[string]func(*jsontree.Node){
		"state":    r.OneOf((*string)(&a.State), string(pollcore.Success), string(pollcore.Failure), string(pollcore.Retry)),
		"matcher":  r.OneOf(&matcher, "path", "pathAll", "pathAny", "error", "status"),
		"argument": r.Text(&argument),
		"expected": r.scalar,
	}, "state", "matcher", "expected")
	takesPath := strings.HasPrefix(matcher, "path")
	switch given := n.Get("argument"); {
	case matcher == "":
	case takesPath && given == nil:
		r.Report(n.Problem("matcher %q needs the member \"argument\", a JMESPath expression", matcher))
	case !takesPath && given != nil:
		r.Report(given.Problem("matcher %q takes no argument", matcher))
	}
	if len(r.Problems) > before {
		return []pollcore.Acceptor{a}
	}
	switch expected := n.Get("expected"); matcher {
	case "error":
		a.Matcher = r.errorMatcher(expected)
	case "status":
		return r.statusAcceptors(a.State, operation, expected)
	default:
		a.Matcher.Output = pathMatcher(matcher, argument, expected)
	}
	return []pollcore.Acceptor{a}
}

func (r *botocoreReader) scalar(n *jsontree.Node) {
	if n.Kind != jsontree.String && n.Kind != jsontree.Number && n.Kind != jsontree.Bool {
		r.Report(n.Problem("expected a string, a number or a boolean, found %s", n.Describe()))
	}
}

func (r *botocoreReader) errorMatcher(expected *jsontree.Node) pollcore.Matcher {
	switch {
	case expected.Kind == jsontree.String:
		return pollcore.ErrorType(expected.Text)
	case expected.Kind == jsontree.Number:
		r.Report(expected.Problem("expected an error code, true or false, found %s", expected.Describe()))
		return pollcore.Matcher{}
	case expected.Text == "true":
		return pollcore.AnyError()
	default:
		return pollcore.AnyResponse()
	}
}

func (r *botocoreReader) statusAcceptors(state pollcore.Verdict, operation string, expected *jsontree.Node) []pollcore.Acceptor {
	var status int
	before := len(r.Problems)
	r.Int(&status, 100, 599)(expected)
	if len(r.Problems) > before {
		return []pollcore.Acceptor{{State: state}}
	}
	if status >= 200 && status <= 299 {
		return []pollcore.Acceptor{{State: state, Matcher: pollcore.AnyResponse()}}
	}
	var all []pollcore.Acceptor
	for _, name := range r.errorsForStatus(operation, status) {
		all = append(all, pollcore.Acceptor{State: state, Matcher: pollcore.ErrorType(name)})
	}
	if len(all) == 0 {
		r.Report(expected.Problem("status %d of %s has no Smithy form, which knows errors by name; name its errors with ErrorsForStatus", status, operation))
		return []pollcore.Acceptor{{State: state}}
	}
	return all
}

// pathMatcher returns the Smithy form of a comparison of the expression's
// value.
func pathMatcher(matcher, path string, expected *jsontree.Node) *pollcore.PathMatcher {
	if expected.Kind == jsontree.String {
		comparators := map[string]pollcore.Comparator{
			"path": pollcore.StringEquals, "pathAll": pollcore.AllStringEquals, "pathAny": pollcore.AnyStringEquals,
		}
		return &pollcore.PathMatcher{Path: path, Expected: expected.Text, Comparator: comparators[matcher]}
	}
	if matcher == "path" && expected.Kind == jsontree.Bool {
		return &pollcore.PathMatcher{Path: path, Expected: expected.Text, Comparator: pollcore.BooleanEquals}
	}
	literal := "`" + expected.Text + "`"
	switch matcher {
	case "path":
		path = operand(path) + " == " + literal
	case "pathAll":
		path = fmt.Sprintf("%s | type(@) == 'array' && length(@) > `0` && length(@[?@ == %s]) == length(@)", path, literal)
	case "pathAny":
		path = fmt.Sprintf("%s | type(@) == 'array' && contains(@, %s)", path, literal)
	}
	return &pollcore.PathMatcher{Path: path, Expected: strconv.FormatBool(true), Comparator: pollcore.BooleanEquals}
}

var dottedPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`) })

// operand is the expression as the left side of an operator.
func operand(path string) string {
	if dottedPath().MatchString(path) {
		return path
	}
	return "(" + path + ")"
}
