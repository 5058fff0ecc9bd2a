package catalog

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// Event is the event of Amazon EventBridge that tells that a job has ended. It says
// when to ask: what came of the job, the waiter says of the answer of the describe
// call.
type Event struct {
	// Source and DetailTypes are the event's source and its possible detail-types.
	Source      string   `json:"source"`
	DetailTypes []string `json:"detailTypes"`
	// Where are values that the event has besides, by their paths: a source and a
	// detail-type may be those of other events, too.
	Where map[string][]string `json:"where,omitempty"`
	// ID is the path of the job's id in the event. Where After is not empty, the id
	// is only what follows the last After, here as in Argument: of an ARN, what
	// follows the slash.
	ID    string `json:"id"`
	After string `json:"after,omitempty"`
	// Argument is a JMESPath expression over the input of the describe call. It
	// gives the same id, or an array with those of all parts of the job, each of
	// which has events of its own.
	Argument string `json:"argument"`
	// Status is the path of the status in the event. Success, Failure and Ended are
	// the values of a job that has ended, as events spell them; Ended are those that
	// do not say how.
	Status  string   `json:"status"`
	Success []string `json:"success,omitempty"`
	Failure []string `json:"failure,omitempty"`
	Ended   []string `json:"ended,omitempty"`
	// Names are members of the start call's input whose values the event has, too, by
	// their paths in the event.
	Names map[string]string `json:"names,omitempty"`
	// Switch is the boolean member of the start call's input that must be true: else
	// the service sends no event of the job. It is empty if events are always sent.
	Switch string `json:"switch,omitempty"`
	// Delivery is what AWS promises of it.
	Delivery Delivery `json:"delivery"`
	// Note is what a user must know.
	Note string `json:"note,omitempty"`
}

// Delivery is how surely a service delivers an event to EventBridge, in AWS's words.
type Delivery string

// The deliveries.
const (
	Durable    Delivery = "durable"     // at least once, but for rare cases
	BestEffort Delivery = "best effort" // an event may be lost
)

// EventPattern is the pattern of an EventBridge rule that takes the events of jobs that
// have ended. Of what the arguments of the start call name literally it takes no others;
// nil are not known. The job has an Event.
func (j *Job) EventPattern(arguments map[string]any) map[string]any {
	e := j.Event
	pattern := map[string]any{"source": []string{e.Source}, "detail-type": e.DetailTypes}
	for path, values := range e.Where {
		putAt(pattern, path, values)
	}
	putAt(pattern, e.Status, slices.Concat(e.Success, e.Failure, e.Ended))
	named := maps.Clone(e.Names)
	// The id may be a name that the start call gives the job.
	if member, ok := strings.CutPrefix(j.Arguments[e.Argument], "input."); ok && e.After == "" && isPath.MatchString(e.ID) && isName.MatchString(member) {
		if named == nil {
			named = map[string]string{}
		}
		named[e.ID] = member
	}
	for path, member := range named {
		// An event has the name where a caller may give the ARN.
		if texts, areLiteral := literals(arguments, strings.Split(member, ".")); areLiteral && len(texts) == 1 && !strings.HasPrefix(texts[0], "arn:") {
			putAt(pattern, path, texts)
		}
	}
	return pattern
}

var (
	isPath = regexp.MustCompile(`^(\w+|"[^"]+")(\.(\w+|"[^"]+"))*$`)
	isName = regexp.MustCompile(`^\w+$`)
)

// Sample returns an event of a job that has ended, with the parts that are known of such
// events and one of its possible statuses.
func (e *Event) Sample(id string) map[string]any {
	event := map[string]any{"source": e.Source, "detail-type": e.DetailTypes[0]}
	for path, values := range e.Where {
		putAt(event, path, values[0])
	}
	putAt(event, e.Status, slices.Concat(e.Success, e.Failure, e.Ended)[0])
	if list, ok := strings.CutSuffix(e.ID, "[0]"); ok {
		putAt(event, list, []any{id})
	} else {
		putAt(event, e.ID, id)
	}
	return event
}

// putAt puts a value at a path of member names.
func putAt(object map[string]any, path string, value any) {
	steps := eventStep.FindAllString(path, -1)
	for i, step := range steps {
		name := strings.Trim(step, `"`)
		if i == len(steps)-1 {
			object[name] = value
			return
		}
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
}

// eventStep is a member name in the path of a status.
var eventStep = regexp.MustCompile(`\w+|"[^"]+"`)

// Takes reports whether an event is one of these, whatever its status.
func (e *Event) Takes(event map[string]any) bool {
	if event["source"] != e.Source {
		return false
	}
	if kind, ok := event["detail-type"].(string); !ok || !slices.Contains(e.DetailTypes, kind) {
		return false
	}
	for path, values := range e.Where {
		found, err := search(path, event)
		if text, ok := found.(string); err != nil || !ok || !slices.Contains(values, text) {
			return false
		}
	}
	return true
}

// JobID returns the id of the job that an event is about.
func (e *Event) JobID(event any) (string, error) {
	found, err := search(e.ID, event)
	if err != nil {
		return "", err
	}
	id, ok := found.(string)
	if id = e.cut(id); !ok || id == "" {
		return "", fmt.Errorf("the event has no id of a job at %s", e.ID)
	}
	return id, nil
}

// JobIDs returns the ids that events have of the job that a describe call with the
// input is about: one, or one for each of its parts.
func (e *Event) JobIDs(input map[string]any) ([]string, error) {
	found, err := search(e.Argument, input)
	if err != nil {
		return nil, err
	}
	many, ok := found.([]any)
	if !ok {
		many = []any{found}
	}
	var ids []string
	for _, one := range many {
		id, ok := one.(string)
		if id = e.cut(id); !ok || id == "" {
			return nil, fmt.Errorf("the arguments have no id of a job at %s", e.Argument)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// cut returns what follows the last After.
func (e *Event) cut(id string) string {
	if i := strings.LastIndex(id, e.After); e.After != "" && i >= 0 {
		return id[i+len(e.After):]
	}
	return id
}

// search evaluates a JMESPath expression on a JSON value.
func search(expression string, on any) (any, error) {
	if known, ok := searches.Load(expression); ok {
		return known.(*jmespath.Program).Eval(on) //nolint:forcetypeassert // there are no others
	}
	expr, err := jmespath.Parse(expression)
	if err != nil {
		return nil, err
	}
	program, _ := expr.Compile(nil) // of any JSON there is nothing to find
	searches.Store(expression, program)
	return program.Eval(on)
}

// searches are the expressions that were used so far, as programs: a few for each job.
var searches sync.Map

// Batch is a call that describes many jobs.
type Batch struct {
	// Operation describes the jobs, and IDs is the member of its input that lists
	// their ids: at most Max in one call, those of all jobs together.
	Operation string `json:"operation"`
	IDs       string `json:"ids"`
	Max       int    `json:"max"`
	// Argument is a JMESPath expression over the input of the describe call. It
	// gives the job's id as IDs takes it, or an array of those of its parts.
	Argument string `json:"argument"`
	// Shared are members of the inputs of both calls. Jobs whose values differ are
	// described by calls of their own.
	Shared []string `json:"shared,omitempty"`
	// Elements is the path of the list in the answer. ID is a JMESPath expression
	// over an element that gives its id, as Argument does.
	Elements string `json:"elements"`
	ID       string `json:"id"`
	// Answer is where the answer of the describe call has the element, such as
	// "QueryExecution", or all elements of the job, such as "builds[]"; empty where the
	// element is the answer.
	Answer string `json:"answer,omitempty"`
	// Missing is what becomes of an id that the service does not know.
	Missing Missing `json:"missing"`
}

// Missing is what an answer for many ids says of one that the service does not know.
type Missing string

// The ways in which ids are missing.
const (
	IDOmitted Missing = "omitted" // it has no element
	IDListed  Missing = "listed"  // it has no element, and another list names it
	IDRefused Missing = "refused" // the whole call fails
)

// JobIDs returns the ids of the job that a describe call with the input is about: one,
// or one for each of its parts.
func (b *Batch) JobIDs(input map[string]any) ([]any, error) {
	found, err := search(b.Argument, input)
	if err != nil {
		return nil, err
	}
	ids, many := found.([]any)
	if !many {
		ids = []any{found}
	}
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id any) bool { return !isID(id) }) {
		return nil, fmt.Errorf("the arguments have no id of a job at %s", b.Argument)
	}
	return ids, nil
}

// isID tells whether a value is an id: a text, or an object of them.
func isID(v any) bool {
	if members, ok := v.(map[string]any); ok {
		return !slices.ContainsFunc(slices.Collect(maps.Values(members)), func(v any) bool { return !isID(v) })
	}
	text, ok := v.(string)
	return ok && text != ""
}

// ReadElements returns the elements of an answer, and the id of each.
func (b *Batch) ReadElements(answer any) (elements, ids []any, err error) {
	found, err := search(b.Elements, answer)
	if err != nil {
		return nil, nil, err
	}
	elements, _ = found.([]any)
	for _, e := range elements {
		id, err := search(b.ID, e)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, id)
	}
	return elements, ids, nil
}

// Input returns the input of a call for the ids of several jobs that share the
// Shared members of the describe input.
func (b *Batch) Input(describe map[string]any, ids []any) map[string]any {
	input := map[string]any{b.IDs: ids}
	for _, name := range b.Shared {
		if value, ok := describe[name]; ok {
			input[name] = value
		}
	}
	return input
}

// AnswerOf returns what the waiter reads of the answer of the describe call, made of
// the elements of a job, of which there is at least one.
func (b *Batch) AnswerOf(elements []any) any {
	name, many := strings.CutSuffix(b.Answer, "[]")
	switch {
	case b.Answer == "":
		return elements[0]
	case many:
		return map[string]any{name: elements}
	default:
		return map[string]any{name: elements[0]}
	}
}
