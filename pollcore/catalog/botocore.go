package catalog

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
)

// BotocoreOption says how [ReadBotocore] reads what has no Smithy form.
type BotocoreOption func(*botocoreReader)

// ErrorForStatus reads an acceptor of the HTTP status as one of the error
// type: the name that the service gives its errors of that status, such as
// NotFound for the 404 of S3's HeadBucket.
func ErrorForStatus(status int, errorType string) BotocoreOption {
	return func(r *botocoreReader) { r.statusErrors[status] = errorType }
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
//     other status is refused unless [ErrorForStatus] names its error.
//   - delay becomes minDelay. botocore always waits that long and ends after
//     maxAttempts calls, where Smithy lets the delay grow to maxDelay and
//     leaves the end to the caller: maxDelay keeps its default of 120 seconds,
//     or is delay if that is more, and the whole time that botocore waits is
//     [Definition].TotalWait.
//   - description becomes documentation.
//
// What botocore's own schema does not allow is refused, and so are names that
// differ in case alone and waiters that break a rule of the Smithy form. Its
// error is a [pollcore.Problems].
func ReadBotocore(text []byte, options ...BotocoreOption) ([]Definition, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	r := &botocoreReader{statusErrors: map[int]string{}}
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

	statusErrors map[int]string
	definitions  []Definition
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
	d := Definition{Waiter: w}
	var typ string
	var attempts int
	r.Object(n, "a waiter", map[string]func(*jsontree.Node){
		"type":        r.OneOf(&typ, "api"),
		"operation":   r.Text(&d.Operation),
		"description": r.Text(&w.Documentation),
		"delay":       r.Int(&w.MinDelay, 1, math.MaxInt32),
		"maxAttempts": r.Int(&attempts, 1, math.MaxInt32),
		"acceptors": r.List(func(item *jsontree.Node) {
			w.Acceptors = append(w.Acceptors, r.acceptor(item))
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
		r.validate(w, n)
	}
	return d
}

// validate checks the waiter by the rules of the Smithy form. What could not
// be read in the first place has its problem already.
func (r *botocoreReader) validate(w *pollcore.Waiter, n *jsontree.Node) {
	problems, _ := errors.AsType[pollcore.Problems](w.Validate())
	for _, p := range problems {
		part, member := inBotocore(p.Pointer)
		if p.Pointer == "" || !r.Reported(n.Pointer+part) {
			r.Report(n.Nearest(n.Pointer+part+member).Problem("%s", p.Message))
		}
	}
}

// inBotocore translates a pointer into a waiter from the Smithy form: to the
// acceptor or other part of the waiter, and to the member of an acceptor.
func inBotocore(pointer string) (part, member string) {
	steps := strings.SplitN(pointer, "/", 4) // "", acceptors, index, rest
	if len(steps) < 4 {
		return pointer, ""
	}
	part = strings.Join(steps[:3], "/")
	switch steps[3] {
	case "matcher/output/path":
		return part, "/argument"
	case "matcher/errorType":
		return part, "/expected"
	default:
		return part, ""
	}
}

func (r *botocoreReader) acceptor(n *jsontree.Node) pollcore.Acceptor {
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
		return a
	}
	switch expected := n.Get("expected"); matcher {
	case "error":
		a.Matcher = r.errorMatcher(expected)
	case "status":
		a.Matcher = r.statusMatcher(expected)
	default:
		a.Matcher.Output = pathMatcher(matcher, argument, expected)
	}
	return a
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

func (r *botocoreReader) statusMatcher(expected *jsontree.Node) pollcore.Matcher {
	var status int
	before := len(r.Problems)
	r.Int(&status, 100, 599)(expected)
	name, named := r.statusErrors[status]
	switch {
	case len(r.Problems) > before:
		return pollcore.Matcher{}
	case named:
		return pollcore.ErrorType(name)
	case status >= 200 && status <= 299:
		return pollcore.AnyResponse()
	default:
		r.Report(expected.Problem("status %d has no Smithy form, which knows errors by name; name this one with ErrorForStatus", status))
		return pollcore.Matcher{}
	}
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

var dottedPath = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

// operand is the expression as the left side of an operator.
func operand(path string) string {
	if dottedPath.MatchString(path) {
		return path
	}
	return "(" + path + ")"
}
