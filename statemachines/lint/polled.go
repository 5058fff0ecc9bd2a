package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
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
	statuses []*status
}

// status is a member of an answer, and who judges it.
type status struct {
	path   string   // as the model spells it
	steps  []string // as Step Functions spells them, with "0" for an item of a list
	values []string // that the model or the catalogue knows
	listed bool     // by the model, which a check of types reads, too
	judges []*judge
}

// judge is an entry of the catalogue, or a function of jobpoller, that says what a
// value means.
type judge struct {
	entry    *catalog.Entry     // nil for the function check-status
	meanings map[string]Meaning // of the values
	stated   map[string]bool    // those that the entry names, not leaves to a retry
	taken    map[string]bool    // those that the entry's waiter takes for a success
	second   map[string]string  // the member that tells more of an unclear value
	verdict  func(answer any) pollcore.Verdict
	// gone tells that the entry waits until what it describes is no longer found:
	// it succeeds by errors alone.
	gone bool
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

// simplePath is a path of members and items of lists.
var simplePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+(\[\d*\])?(\.\w+(\[\d*\])?)*$`) })

// items are the items of a list, one or all.
var items = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d*\]`) })

// statusPaths are the paths of the texts that an entry judges by, with "[]" for the
// items of lists.
func statusPaths(e *catalog.Entry) []string {
	if e.Job != nil && e.Job.Status != "" {
		return []string{items().ReplaceAllString(e.Job.Status, "[]")}
	}
	var paths []string
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher.Output; m != nil && m.Comparator != pollcore.BooleanEquals && simplePath().MatchString(m.Path) {
			if path := items().ReplaceAllString(m.Path, "[]"); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
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
	return s
}

// spellSteps are the steps of a path of the model as Step Functions spells them, and the
// shape that it leads to from another; nil if the model does not have it.
func spellSteps(shape *catalog.Shape, path string) ([]string, *catalog.Shape) {
	var steps []string
	for step := range strings.SplitSeq(items().ReplaceAllString(path, "[]"), ".") {
		name, list := strings.CutSuffix(step, "[]")
		steps = append(steps, javasdk.MemberName(name))
		if m := shape.Member(name); m != nil {
			shape = m.Shape
		} else {
			shape = nil
		}
		if list {
			steps = append(steps, "0")
			if shape != nil && shape.Element != nil {
				shape = shape.Element.Shape
			}
		}
	}
	return steps, shape
}

// listValues returns the values at a path that an entry names.
func listValues(e *catalog.Entry, path string) []string {
	if e.Job != nil && e.Job.Status != "" {
		if items().ReplaceAllString(e.Job.Status, "[]") != path {
			return nil
		}
		return slices.Concat(e.Job.Success, e.Job.Failure, e.Job.Running)
	}
	var values []string
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher.Output; m != nil && m.Comparator != pollcore.BooleanEquals && items().ReplaceAllString(m.Path, "[]") == path {
			values = append(values, m.Expected)
		}
	}
	return values
}

// newJudge asks an entry what each value of a status means when nothing else of the
// answer is known. What an entry judges by more than the status has no meaning.
func newJudge(e *catalog.Entry, s *status) *judge {
	j := &judge{entry: e, meanings: map[string]Meaning{}, stated: map[string]bool{}, taken: map[string]bool{}, second: map[string]string{}, gone: true}
	for _, value := range listValues(e, s.path) {
		j.stated[value] = true
	}
	check, err := pollcore.Compile[any, any](e.Waiter)
	if err != nil {
		return j
	}
	j.verdict = func(answer any) pollcore.Verdict { return check.Check(nil, answer, nil).Verdict }
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher; a.State == pollcore.Success && m.ErrorType == nil && (m.Success == nil || *m.Success) {
			j.gone = false
		}
	}
	for _, value := range s.values {
		result := check.Check(nil, answer(s.path, value), nil)
		j.meanings[value], j.taken[value] = j.meaningOf(s, value, result), result.Verdict == pollcore.Success
	}
	return j
}

// isPartial tells whether a value is a failure after which a part of the work can be used.
func (j *judge) isPartial(value string) bool {
	return j.entry != nil && j.entry.Job != nil && slices.Contains(j.entry.Job.Partial, value)
}

// secondPaths are the members that tell more of some values, sorted.
func (j *judge) secondPaths() []string { return slices.Compact(slices.Sorted(maps.Values(j.second))) }

// meaningOf is what a value means by the verdict on an answer that has nothing else.
func (j *judge) meaningOf(s *status, value string, result pollcore.Result) Meaning {
	if second := secondMember(j.entry.Waiter, s.path, value); second != "" {
		j.second[value] = second
		return MeansUnclear
	}
	passing, _ := j.entry.Passing(value)
	switch {
	case passing == catalog.PassingEnding, passing == catalog.PassingChange:
		return MeansEnding
	case passing == catalog.PassingLater:
		return MeansUnknown // what the job ended with came before
	case result.Acceptor == pollcore.NoAcceptor && j.aim() == aimsAtGone && isOnItsWay(value):
		return MeansRunning
	case result.Acceptor == pollcore.NoAcceptor && endName().MatchString(value):
		return MeansUnknown // the waiter polls on, and nobody says that the job runs
	case result.Acceptor == pollcore.NoAcceptor, result.Verdict == pollcore.Retry:
		return MeansRunning
	case result.Verdict == pollcore.Success:
		return MeansSuccess
	default:
		return MeansFailure
	}
}

// secondMember is what acceptors read beside a value of the status to judge it; empty if
// the status alone tells.
func secondMember(w *pollcore.Waiter, status, value string) string {
	plain := items().ReplaceAllString(status, "")
	for _, a := range w.Acceptors {
		path := ""
		if m := a.Matcher.Output; m != nil && !simplePath().MatchString(m.Path) {
			path = m.Path
		} else if m := a.Matcher.InputOutput; m != nil {
			path = m.Path
		}
		if !strings.Contains(path, "'"+value+"'") {
			continue
		}
		second := ""
		for _, found := range memberPath().FindAllStringSubmatch(quotedText().ReplaceAllString(path, "''"), -1) {
			name := found[1]
			bare := items().ReplaceAllString(name, "")
			if found[2] == "" && bare != plain && !strings.HasSuffix(plain, "."+bare) && !strings.HasPrefix(plain, bare+".") {
				if strings.Count(name, ".") >= strings.Count(second, ".") {
					second = name
				}
			}
		}
		if second != "" {
			return second
		}
	}
	return ""
}

var (
	// quotedText is a text or a literal in JMESPath.
	quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("'[^']*'|`[^`]*`") })
	// memberPath is a path of members; its second group is set for a function.
	memberPath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([A-Za-z_]\w*(?:\[\d*\])?(?:\.\w+(?:\[\d*\])?)*)(\()?`)
	})
)

// endName is what an end is called. A waiter polls on for values that it does not
// name, of which some are ends.
var endName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)fail|error|delet|stopped|cancel|abort|incompat|terminat|reject|expire|inaccess|insufficient|full|interrupted|invalid|unknown`)
})

// answer is the smallest answer with a value at a path.
func answer(path, value string) any { return put(nil, path, value) }

// put adds a value at a path to an answer.
func put(in any, path, value string) any {
	if path == "" {
		return value
	}
	step, rest, _ := strings.Cut(path, ".")
	name, list := strings.CutSuffix(step, "[]")
	out, _ := in.(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	if list {
		var item any
		if old, _ := out[name].([]any); len(old) > 0 {
			item = old[0]
		}
		out[name] = []any{put(item, rest, value)}
	} else {
		out[name] = put(out[name], rest, value)
	}
	return out
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
