package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Meaning is what a value of a status means, as the catalogue says.
type Meaning string

// The meanings. A value means nothing that is known if nothing in the catalogue
// says it, or if waiters of one operation say different things: "stopped" is what
// one waits for and a failure to another.
const (
	MeansSuccess Meaning = "success"
	MeansFailure Meaning = "failure"
	MeansRunning Meaning = "running"
	// MeansEnding is on the way to an end: "STOPPING".
	MeansEnding Meaning = "ending"
	// MeansUnclear is an end that this status alone does not tell: another member of the
	// answer says whether it is a success.
	MeansUnclear Meaning = "unclear"
	MeansUnknown Meaning = "unknown"
)

// polled is an operation that can be polled, and what its answers can say.
type polled struct {
	name     string // "athena:GetQueryExecution"
	target   string // what is asked, such as a function; empty if the name says it all
	statuses []*status
	byName   bool // no entry of the catalogue polls it
}

// status is a member of an answer, and who judges it.
type status struct {
	path   string   // as the model spells it
	steps  []string // as Step Functions spells them, with "0" for an item of a list
	values []string // that the model or the catalogue knows
	listed bool     // by the model, which a check of types reads, too
	judges []*judge
	// derived is the entry that follows from the model alone by which the status is judged; nil if none is.
	derived *catalog.Entry
	// literals are the values that are no texts, by what people call them; complete tells that there are no other values.
	literals map[string]any
	complete bool
}

// operations finds what Tasks poll. It reads each resource once.
type operations struct {
	known map[string]*polled
	calls map[string]string
}

// call returns the operation of the catalogue's service that a resource calls,
// such as "athena:GetQueryExecution"; empty if it is of no service there, or ends
// with its job.
func (o *operations) call(resource string) string {
	name, known := o.calls[resource]
	if !known {
		name = callOf(asl.ParseResource(resource))
		o.calls[resource] = name
	}
	return name
}

func callOf(r asl.Resource) string {
	if r.Direct || r.Action == "" || r.Pattern != "" {
		return ""
	}
	service, sdk := r.SDK()
	if !sdk {
		service = r.Service
	}
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return ""
	}
	return listing.Key + ":" + strings.ToUpper(r.Action[:1]) + r.Action[1:]
}

// of returns what a Task polls, or nil.
func (o *operations) of(s *asl.State) *polled {
	if s.Task == nil {
		return nil
	}
	if isCheckStatus(s) {
		return checkStatus
	}
	name := o.call(s.Task.Resource)
	if name == "" {
		return nil
	}
	p, known := o.known[name]
	if !known {
		p = readPolled(name)
		o.known[name] = p
	}
	return p
}

// checkStatus is the function of jobpoller that the strategy lambda-loop polls.
var checkStatus = &polled{name: "jobpoller-checkstatus", statuses: []*status{{
	path: "status", steps: []string{"Payload", "status"},
	values: []string{string(pollcore.Succeeded), string(pollcore.Failed), string(pollcore.TimedOut), string(pollcore.Running)},
	judges: []*judge{{meanings: map[string]Meaning{
		string(pollcore.Succeeded): MeansSuccess, string(pollcore.Failed): MeansFailure,
		string(pollcore.TimedOut): MeansFailure, string(pollcore.Running): MeansRunning,
	}, stated: map[string]bool{
		string(pollcore.Succeeded): true, string(pollcore.Failed): true, string(pollcore.TimedOut): true, string(pollcore.Running): true,
	}}},
}}}

// isCheckStatus tells whether a Task invokes check-status: by its event, which has
// no request for a job as that of run-job has, or by the function's name where the
// event is the context object.
func isCheckStatus(s *asl.State) bool {
	if r := asl.ParseResource(s.Task.Resource); r.Service != "lambda" || r.Action != "invoke" || r.Pattern != "" {
		return false
	}
	payload := findMember(argumentsOf(s), "Payload")
	if payload != nil && payload.Path != nil {
		name, _ := literalOf(findMember(argumentsOf(s), "FunctionName")).(string)
		return payload.Path.String() == "$$" && NamesCheckStatus(name)
	}
	input := findMember(payload, "Input")
	if findMember(payload, "Context") == nil || findMember(payload, "Poller") == nil || input == nil {
		return false
	}
	return findMember(input, "job") == nil && !hasLiteral(input, "job")
}

// NamesCheckStatus tells whether a name or an ARN is what people call the function.
func NamesCheckStatus(function string) bool { return checkStatusName().MatchString(function) }

var checkStatusName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)check[-_]?status`) })

func literalOf(t *asl.Template) any {
	if t == nil {
		return nil
	}
	return t.Literal
}

// argumentsOf returns what a Task is called with, or nil.
func argumentsOf(s *asl.State) *asl.Template {
	if s.Arguments != nil {
		return s.Arguments
	}
	return s.Parameters
}

// findMember returns a member of a template that is an object with something computed
// in it, or nil.
func findMember(t *asl.Template, name string) *asl.Template {
	if t == nil {
		return nil
	}
	for _, m := range t.Object {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// hasLiteral tells whether a template is an object of literals with a member.
func hasLiteral(t *asl.Template, name string) bool {
	object, _ := t.Literal.(map[string]any)
	_, has := object[name]
	return has
}

// readPolled reads the entries of the catalogue that poll an operation; nil if
// there are none.
func readPolled(name string) *polled {
	service, action, _ := strings.Cut(name, ":")
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return nil
	}
	var entries []*catalog.Entry
	for _, e := range listing.Entries {
		if strings.EqualFold(e.Operation, action) {
			if entry, err := catalog.AWS().Lookup(listing.Key, e.Name); err == nil {
				entries = append(entries, entry)
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	p := &polled{name: listing.Key + ":" + entries[0].Operation.Name}
	for _, e := range entries {
		for _, path := range statusPaths(e) {
			if !slices.ContainsFunc(p.statuses, func(s *status) bool { return s.path == path }) {
				p.statuses = append(p.statuses, readStatus(path, entries))
			}
		}
	}
	return p
}

// readStatus reads what the entries of an operation say of a member of its answer.
func readStatus(path string, entries []*catalog.Entry) *status {
	s := &status{path: path}
	var shape *catalog.Shape
	if s.steps, shape = spellSteps(entries[0].Operation.Output, path); shape != nil {
		s.values, s.listed = slices.Clone(shape.Enum), len(shape.Enum) > 0
	}
	for _, e := range entries {
		for _, value := range listValues(e, path) {
			if !slices.Contains(s.values, value) {
				s.values = append(s.values, value)
			}
		}
	}
	s.values = slices.DeleteFunc(s.values, func(value string) bool {
		return slices.ContainsFunc(entries, func(e *catalog.Entry) bool {
			passing, _ := e.Passing(value)
			return passing == catalog.PassingFilter
		})
	})
	for _, e := range entries {
		s.judges = append(s.judges, newJudge(e, s))
	}
	if len(entries) == 1 {
		s.judges[0].addTold(s)
	}
	return s
}

// meaningsOf are the meanings that judges give a value, if they do not agree.
func (s *status) meaningsOf(judges []*judge, value string) []Meaning {
	var all []Meaning
	for _, m := range []Meaning{MeansSuccess, MeansFailure, MeansRunning, MeansEnding, MeansUnclear} {
		if slices.ContainsFunc(judges, func(j *judge) bool { return j.meanings[value] == m }) {
			all = append(all, m)
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// meaning is what judges say of a value; unknown if they do not agree, or if the
// value is none of theirs.
func (s *status) meaning(judges []*judge, value string) Meaning {
	if !slices.Contains(s.values, value) || len(judges) == 0 {
		return MeansUnknown
	}
	for _, j := range judges {
		if j.meanings[value] != judges[0].meanings[value] {
			return MeansUnknown
		}
	}
	return judges[0].meanings[value]
}

// addValues adds values that the status does not have.
func (s *status) addValues(values ...string) {
	for _, value := range values {
		if !slices.Contains(s.values, value) {
			s.values = append(s.values, value)
		}
	}
}

// addLiteral adds a value that is no text, by what people call it: true, false, a number, or nil for a member that is not
// there.
func (s *status) addLiteral(name string, literal any) {
	s.addValues(name)
	s.literals[name] = literal
}
