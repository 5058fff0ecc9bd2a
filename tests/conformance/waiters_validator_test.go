package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var waiterSuites = []suite{
	{name: "smithy-waiters-validator", cases: 32, folder: "smithy-waiters-validator", run: runWaitersValidator},
}

// otherPlaces are the places of an expression at which an event is told here,
// by the model and the place at which Smithy tells it.
var otherPlaces = map[string]struct{ place, reason string }{
	"emits-danger-and-warning-typechecks 1:10": {"1:8", "a comparison stands at its operator here, and at its right side there"},
}

// event is something that a validator says of a model.
type event struct {
	severity string
	shape    string
	waiter   string // in lower case; empty if the event is of the whole trait
	acceptor int    // -1 if the event is of the whole waiter
	place    string // line:column in the expression, if that is said
	text     string // as it was said
}

// matches tells whether an expected event, which may have no place, is another.
func (e event) matches(other event) bool {
	return e.severity == other.severity && e.shape == other.shape && e.waiter == other.waiter && e.acceptor == other.acceptor &&
		(e.place == "" || e.place == other.place)
}

var (
	expectedEvent    = regexp.MustCompile(`^\[([A-Z]+)\] (\S+): (.*) \| \S+$`)
	expectedWaiter   = regexp.MustCompile("(?:^Waiter `|waiter named? `|waitable`\\.)(\\w+)")
	expectedAcceptor = regexp.MustCompile(`, acceptor (\d+): `)
	expectedPlace    = regexp.MustCompile(`\((\d+):(\d+)\)$|at line (\d+) column (\d+)`)
)

// parseEvent reads a line of Smithy's .errors files.
func parseEvent(line string) (event, error) {
	parts := expectedEvent.FindStringSubmatch(line)
	if parts == nil {
		return event{}, fmt.Errorf("%q is no validation event", line)
	}
	e := event{severity: parts[1], shape: parts[2], acceptor: -1, text: line}
	if found := expectedWaiter.FindStringSubmatch(parts[3]); found != nil {
		e.waiter = strings.ToLower(found[1])
	}
	if found := expectedAcceptor.FindStringSubmatch(parts[3]); found != nil {
		e.acceptor, _ = strconv.Atoi(found[1]) // digits
	}
	if found := expectedPlace.FindStringSubmatch(parts[3]); found != nil {
		e.place = found[1] + found[3] + ":" + found[2] + found[4]
	}
	return e, nil
}

// ownEvent is the event that a problem of a model is. Its place is kept if the
// problem was found in an expression.
func ownEvent(p diag.Problem) event {
	e := event{severity: p.Severity.String(), acceptor: -1, text: p.String()}
	steps := strings.Split(p.Pointer, "/") // "", shapes, ID, traits, waitable, waiter, acceptors, index, ...
	if len(steps) > 2 {
		e.shape = steps[2]
	}
	if len(steps) > 5 {
		e.waiter = strings.ToLower(steps[5])
	}
	if len(steps) > 7 {
		e.acceptor, _ = strconv.Atoi(steps[7]) // an index
	}
	if p.Line > 0 {
		e.place = fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return e
}

// runWaitersValidator compares what this repository says of each model with
// what Smithy's validator says. The cases are the events that Smithy tells; an
// event that it does not tell is a failure too.
func runWaitersValidator(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(folder, "*.smithy"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		own, err := validate(string(text))
		require.NoError(t, err, file)
		expected, err := os.ReadFile(strings.TrimSuffix(file, ".smithy") + ".errors")
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".smithy")
		for line := range strings.Lines(string(expected)) {
			want, err := parseEvent(strings.TrimSpace(line))
			require.NoError(t, err, name)
			r.total++
			if other, ok := otherPlaces[name+" "+want.place]; ok {
				r.notes = append(r.notes, fmt.Sprintf("%s: told at %s, not at %s: %s", name, other.place, want.place, other.reason))
				want.place = other.place
			}
			i := slices.IndexFunc(own, want.matches)
			if i < 0 {
				r.failures[name+": "+want.text] = "not told"
				continue
			}
			own = slices.Delete(own, i, i+1)
		}
		for _, e := range own {
			r.failures[name+": "+e.text] = "told of " + e.shape + " as " + e.severity + ", and not by Smithy"
		}
	}
	return r
}

// validate says everything that this repository must say of the waiters of a
// model: the catalogue of the model, and the engine of each waiter that it
// could read, on the types of the operation.
func validate(idl string) ([]event, error) {
	model, err := readIDL(idl)
	if err != nil {
		return nil, err
	}
	ast, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	var events []event
	for _, p := range catalog.AnalyzeSmithy(ast) {
		p.Line = 0 // of the AST, which nobody wrote
		events = append(events, ownEvent(p))
	}
	shapes := goShapes(model["shapes"].(map[string]any))
	for id, shape := range shapes {
		traits, _ := shape.(map[string]any)["traits"].(map[string]any)
		waiters, _ := traits["smithy.waiters#waitable"].(map[string]any)
		for name, definition := range waiters {
			text, err := json.Marshal(definition)
			if err != nil {
				return nil, err
			}
			w, err := pollcore.ParseWaiter(name, text)
			if err != nil {
				continue // the catalogue has told
			}
			in, inErr := shapes.side(id, "input")
			out, outErr := shapes.side(id, "output")
			if err := errors.Join(inErr, outErr); err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			for _, p := range pollcore.Analyze(w, in, out) {
				p.Pointer = "/shapes/" + id + "/traits/smithy.waiters#waitable/" + name + p.Pointer
				events = append(events, ownEvent(p))
			}
		}
	}
	return events, nil
}

// typesModel is a small model of which the validator has something to say on
// every level.
const typesModel = `$version: "2.0"
namespace a
use smithy.waiters#waitable
service S { version: "1", operations: [Get, List] }
@waitable(
    Done: {acceptors: [
        {state: "success", matcher: {output: {path: "job.states.first == 'x'", comparator: "booleanEquals", expected: "true"}}},
        {state: "failure", matcher: {output: {path: "job.tags[].id", comparator: "allStringEquals", expected: "true"}}, message: "job.on"},
        {state: "retry", matcher: {inputOutput: {path: "input.id == output.jobb", comparator: "booleanEquals", expected: "true"}}},
        {state: "retry", matcher: {errorType: "Gone"}}
    ]}
    Bad: {acceptors: []}
)
operation Get { input: GetInput, output: GetOutput }
@waitable(DONE: {acceptors: [{state: "success", matcher: {success: true}}]})
operation List {}
structure GetInput { id: String }
structure GetOutput { job: Job }
structure Job { on: Boolean, states: States, tags: Tags }
map States { key: String, value: String }
list Tags { member: Tag }
structure Tag { id: Integer }
`

func TestValidate(t *testing.T) {
	t.Parallel()
	// Bad is refused, and with it all waiters of Get as far as the model goes.
	bad, err := validate(typesModel)
	require.NoError(t, err)
	good, err := validate(strings.Replace(typesModel, "Bad: {acceptors: []}", "", 1))
	require.NoError(t, err)
	tests := []struct {
		name string
		got  []event
		want []string
	}{
		{"with a waiter that is refused", bad, []string{
			"DANGER a#Get done 1", "DANGER a#Get done 2 1:20", "ERROR a#Get bad -1", "ERROR a#Get done 1",
		}},
		{"without", good, []string{
			"DANGER a#Get done 1", "DANGER a#Get done 2 1:20", "ERROR a#Get done -1", "ERROR a#Get done 1",
			"ERROR a#List done -1", "WARNING a#Get done 3",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range tt.got {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", e.severity, e.shape, e.waiter, e.acceptor, e.place)))
			}
			slices.Sort(got)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want event
	}{
		{
			"[DANGER] a#A: Waiter `Ready`, acceptor 3: Problem found (x.y): no such field (2:14) | Some.Id",
			event{severity: "DANGER", shape: "a#A", waiter: "ready", acceptor: 3, place: "2:14"},
		},
		{"[ERROR] a#A: Waiter `A`, acceptor 0: at line 1 column 5: Expected x | Id", event{severity: "ERROR", shape: "a#A", waiter: "a", place: "1:5"}},
		{"[ERROR] a#B: `w#waitable` trait waiter named `Bad` has (1:1) a value | Id", event{severity: "ERROR", shape: "a#B", waiter: "bad", acceptor: -1}},
		{"[ERROR] a#B: `w#waitable` trait waiter name `b` conflicts | Id", event{severity: "ERROR", shape: "a#B", waiter: "b", acceptor: -1}},
		{"[ERROR] a#B: trait `w#waitable`.thing (map-key) | Id", event{severity: "ERROR", shape: "a#B", waiter: "thing", acceptor: -1}},
		{"[WARNING] a#B: Trait `w#waitable` cannot be applied | Id", event{severity: "WARNING", shape: "a#B", acceptor: -1}},
	}
	for _, tt := range tests {
		tt.want.text = tt.line
		got, err := parseEvent(tt.line)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	_, err := parseEvent("a#A: something")
	require.ErrorContains(t, err, "is no validation event")
}
