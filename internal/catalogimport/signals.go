package catalogimport

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// tableSignals are the signals of a job, which its row of the other table does not
// have.
type tableSignals struct {
	tableJob

	noEvent bool // the table says why the job has no event
}

// signalsOf returns what is known of the signals of a job.
func (t *tables) signalsOf(name string, file *table, n *jsontree.Node) *tableSignals {
	if t.signals[name] == nil {
		service, start, _ := strings.Cut(name, ":")
		t.signals[name] = &tableSignals{tableJob: tableJob{table: file, node: n, service: service, start: start}}
	}
	return t.signals[name]
}

func (t *tables) readSignals(file *table, root *jsontree.Node) {
	file.Object(root, "a table of signals", map[string]func(*jsontree.Node){
		"jobs": func(n *jsontree.Node) {
			previous := ""
			file.object(n, "signals by jobs", func(name string, n *jsontree.Node) {
				file.inOrder(n, &previous, name)
				file.readSignal(t.signalsOf(name, file, n))
			})
		},
		"withoutEvent": file.List(func(n *jsontree.Node) {
			var jobs []string
			file.Object(n, "jobs without an event", map[string]func(*jsontree.Node){
				"jobs": file.words(&jobs), "source": file.source(),
			}, "jobs", "source")
			for _, name := range jobs {
				s := t.signalsOf(name, file, n.Get("jobs"))
				if s.noEvent || s.job.Event != nil {
					file.Report(n.Problem("%s stands twice, or has an event; keep one", name))
				}
				s.noEvent = true
			}
		}),
	}, "jobs", "withoutEvent")
}

func (t *table) readSignal(s *tableSignals) {
	t.Object(s.node, "the signals of a job", map[string]func(*jsontree.Node){
		"event": t.event(&s.job), "eventSource": t.source(),
		"batch": t.batch(&s.job), "batchSource": t.source(),
		"topic": t.word(&s.job.Topic), "topicSource": t.source(),
		"syncDelay": t.Int(&s.job.SyncDelay, 1, maxSeconds), "syncDelaySource": t.source(),
		"syncRule": t.word(&s.job.SyncRule), "syncRuleSource": t.source(),
		"syncArguments": t.arguments(&s.job.SyncArguments), "syncArgumentsSource": t.source(),
		"syncUnknown": t.word(&s.job.SyncUnknown), "syncNote": t.word(&s.job.SyncNote),
	})
	for _, fact := range []string{"event", "batch", "topic", "syncDelay", "syncRule", "syncArguments"} {
		if (s.node.Get(fact) == nil) != (s.node.Get(fact+"Source") == nil) {
			s.report(fact, "%s and %sSource go together", fact, fact)
		}
	}
}

func (t *table) event(to *catalog.Job) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		e := &catalog.Event{}
		t.Object(n, "an event", map[string]func(*jsontree.Node){
			"source": t.form(&e.Source, eventSource, "a source such as aws.athena"), "detailTypes": t.words(&e.DetailTypes),
			"where": t.valuesByPath(&e.Where, eventPath, examplePath),
			"id":    t.word(&e.ID), "after": t.word(&e.After), "argument": t.word(&e.Argument),
			"status": t.form(&e.Status, eventPath, "a path such as "+examplePath), "success": t.words(&e.Success), "failure": t.words(&e.Failure),
			"names": func(n *jsontree.Node) {
				e.Names = map[string]string{}
				t.object(n, "members of the start call by paths", func(path string, n *jsontree.Node) {
					var member string
					if t.word(&member)(n); !eventPath.MatchString(path) {
						t.Report(n.Problem("expected a path such as %s, found %q", examplePath, path))
					}
					e.Names[path] = member
				})
			},
			"ended": t.words(&e.Ended), "switch": t.word(&e.Switch),
			"delivery": t.oneOf((*string)(&e.Delivery), string(catalog.Durable), string(catalog.BestEffort)), "note": t.word(&e.Note),
		}, "source", "detailTypes", "id", "argument", "status", "delivery")
		to.Event = e
	}
}

func (t *table) batch(to *catalog.Job) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		b := &catalog.Batch{}
		t.Object(n, "a call that describes many jobs", map[string]func(*jsontree.Node){
			"operation": t.word(&b.Operation), "ids": t.word(&b.IDs), "max": t.Int(&b.Max, 2, maxBatch),
			"argument": t.word(&b.Argument), "shared": t.words(&b.Shared), "elements": t.word(&b.Elements), "id": t.word(&b.ID),
			"answer":  t.word(&b.Answer),
			"missing": t.oneOf((*string)(&b.Missing), string(catalog.IDOmitted), string(catalog.IDListed), string(catalog.IDRefused)),
		}, "operation", "ids", "max", "argument", "elements", "id", "missing")
		to.Batch = b
	}
}

// valuesByPath reads lists of values by paths of a form.
func (t *table) valuesByPath(to *map[string][]string, form *regexp.Regexp, example string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		*to = map[string][]string{}
		t.object(n, "lists of values by paths", func(path string, n *jsontree.Node) {
			var values []string
			if t.words(&values)(n); !form.MatchString(path) {
				t.Report(n.Problem("expected a path such as %s, found %q", example, path))
			}
			(*to)[path] = values
		})
	}
}

// maxBatch is more than any service takes ids.
const maxBatch = 10_000

// How the table writes the source of an event, and a path into it.
var (
	eventSource = regexp.MustCompile(`^aws\.[a-z0-9-]+$`)
	eventPath   = regexp.MustCompile(`^(\w+|"[^"]+")(\.(\w+|"[^"]+"))*$`)
)

const examplePath = `detail.state or "detail-type"`

// form reads a string that a pattern describes.
func (t *table) form(to *string, pattern *regexp.Regexp, expected string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		if t.word(to)(n); *to != "" && !pattern.MatchString(*to) {
			t.Report(n.Problem("expected %s, found %q", expected, *to))
		}
	}
}

// oneOf reads one of several words.
func (t *table) oneOf(to *string, words ...string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		if t.word(to)(n); *to != "" && !slices.Contains(words, *to) {
			t.Report(n.Problem("expected one of %s, found %q", strings.Join(words, ", "), *to).Suggest(*to, words...))
		}
	}
}

// checkSignals reports jobs of one table that the other does not know.
func (t *tables) checkSignals() {
	if !slices.ContainsFunc(t.files, func(f *table) bool { return f.name == signalsTable }) {
		return
	}
	var known []string
	for _, j := range t.jobs {
		name := j.service + ":" + j.start
		known = append(known, name)
		if s := t.signals[name]; s == nil || s.job.Event == nil && !s.noEvent {
			j.report("start", "%s does not say what event tells of %s; add the event, or the job to withoutEvent", signalsTable, name)
		}
	}
	for _, name := range namesOf(t.signals) {
		if s := t.signals[name]; !slices.Contains(known, name) {
			s.suggest("", name, known, "%s has no job %q", jobsTable, name)
		}
	}
}

// check reports signals but for the batch that do not fit the job's calls.
func (s *tableSignals) check(j *tableJob, start, describe *catalog.Operation) {
	if s.job.Topic != "" {
		if t, ok := s.checkExpression("topic", s.job.Topic, start.Input.Describe()); ok && t.Kind != jsontype.String {
			s.report("topic", "a topic is a string, and the path gives %s", t)
		}
	}
	s.checkSync(j, start, describe)
	e := s.job.Event
	if e == nil {
		return
	}
	s.checkExpression("event/id", e.ID, nil)
	if t := s.checkArgument("event/argument", e.Argument, j, describe); t != nil && !isText(t) {
		s.report("event/argument", "an id is a string, and the expression gives %s", t)
	}
	if e.Switch != "" && (start.Input.Member(e.Switch) == nil || start.Input.Member(e.Switch).Shape.Type != catalog.Boolean) {
		s.report("event/switch", "the input of %s has no boolean %q", start.Name, e.Switch)
	}
	for _, path := range slices.Sorted(maps.Keys(e.Names)) {
		if member := start.Input.Member(e.Names[path]); member == nil || member.Shape.Type != catalog.String {
			s.report("event/names", "the input of %s has no string %q", start.Name, e.Names[path])
		}
	}
	ends := slices.Concat(e.Success, e.Failure, e.Ended)
	if len(ends) == 0 {
		s.report("event", "no value says that the job has ended")
	}
	for i, value := range ends {
		if slices.Contains(ends[:i], value) {
			s.report("event", "the value %q stands twice; keep one", value)
		}
	}
	for _, value := range e.Success {
		if alike(value, slices.Concat(j.job.Failure, j.job.Running)) {
			s.report("event/success", "the value %q means something else as a status of %s", value, describe.Name)
		}
	}
	for _, value := range e.Failure {
		if alike(value, slices.Concat(j.job.Success, j.job.Running)) {
			s.report("event/failure", "the value %q means something else as a status of %s", value, describe.Name)
		}
	}
	if e.Status == `"detail-type"` && !slices.Equal(slices.Sorted(slices.Values(ends)), slices.Sorted(slices.Values(e.DetailTypes))) {
		s.report("event/detailTypes", "the detail-type is the status, so its values must be all detailTypes")
	}
}

// checkSync reports what is said of the integration that waits for the job and does
// not fit it.
func (s *tableSignals) checkSync(j *tableJob, start, describe *catalog.Operation) {
	if j.job.Sync == "" {
		for _, fact := range []string{"syncDelay", "syncRule", "syncArguments", "syncUnknown", "syncNote"} {
			if s.node.Get(fact) != nil {
				s.report(fact, "the job has no sync in %s", jobsTable)
			}
		}
		return
	}
	reads := catalog.ReadsStartOutput(j.job.Arguments)
	switch said := s.job.SyncArguments != nil; {
	case said && (s.job.SyncUnknown != "" || !reads):
		s.report("syncArguments", "the arguments of %s need no output of the Task, or it is unknown; remove them", describe.Name)
	case said:
		s.checkCall("syncArguments", s.job.SyncArguments, describe, &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
			"input": start.Input.Describe(), "output": {Kind: jsontype.Unknown},
		}})
	case reads == (s.job.SyncUnknown == ""):
		s.report("syncUnknown", "expected syncArguments or syncUnknown exactly where the arguments of %s read the output of %s", describe.Name, start.Name)
	}
}

// alike tells whether one of the values is the word in another spelling.
func alike(word string, values []string) bool {
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
	}
	return slices.ContainsFunc(values, func(v string) bool { return plain(v) == plain(word) })
}

// isText tells whether a type is that of a string, or of an array of them.
func isText(t *jsontype.Type) bool {
	return t.Kind == jsontype.String || t.Kind == jsontype.Array && t.Elem != nil && t.Elem.Kind == jsontype.String
}

// checkArgument reports an expression over the describe call's input that reads what
// the job does not give it, and returns its type if it is right.
func (s *tableSignals) checkArgument(pointer, text string, j *tableJob, describe *catalog.Operation) *jsontype.Type {
	t, ok := s.checkExpression(pointer, text, describe.Input.Describe())
	if !ok {
		return nil
	}
	for _, name := range s.readMembers(text, describe) {
		if j.job.Arguments[name] == "" {
			s.suggest(pointer, name, namesOf(j.job.Arguments), "the job gives %s no argument %q", describe.Name, name)
		}
	}
	return t
}

// readMembers are the members of an operation's input that an expression reads.
func (s *tableSignals) readMembers(text string, op *catalog.Operation) []string {
	var names []string
	if expr, err := jmespath.Parse(text); err == nil {
		for _, m := range expr.Check(op.Input.Describe()).Members {
			names = append(names, m.Path[0])
		}
	}
	return names
}

// checkBatch reports a call for many jobs that does not fit the models, or does not
// give what the waiter reads.
func (b *builder) checkBatch(s *tableSignals, j *tableJob, op, describe *catalog.Operation) {
	batch := s.job.Batch
	ids := op.Input.Member(batch.IDs)
	if ids == nil || ids.Shape.Type != catalog.List {
		s.report("batch/ids", "the input of %s has no list %q", op.Name, batch.IDs)
		return
	}
	if most := b.mostOf(op, batch.IDs); most > 0 && batch.Max > most {
		s.report("batch/max", "%s of %s takes at most %d", batch.IDs, op.Name, most)
	}
	wants := ids.Shape.Element.Shape.Describe()
	fitsID := func(pointer string, t *jsontype.Type) {
		if t != nil && !fits(t, wants) && (t.Elem == nil || !fits(t.Elem, wants)) {
			s.report(pointer, "an id of %s is %s, and the expression gives %s", op.Name, wants.Kind.Noun(), t)
		}
	}
	fitsID("batch/argument", s.checkArgument("batch/argument", batch.Argument, j, describe))
	read := s.readMembers(batch.Argument, describe)
	for _, name := range namesOf(j.job.Arguments) {
		if !slices.Contains(read, name) && !slices.Contains(batch.Shared, name) {
			s.report("batch/shared", "the argument %s of %s is not in the ids; jobs of one call must share it", name, describe.Name)
		}
	}
	for _, name := range batch.Shared {
		theirs, ours := op.Input.Member(name), describe.Input.Member(name)
		if theirs == nil || ours == nil || !fits(ours.Shape.Describe(), theirs.Shape.Describe()) {
			s.report("batch/shared", "%s and %s have no such member %q", op.Name, describe.Name, name)
		}
	}
	list, ok := s.checkExpression("batch/elements", batch.Elements, op.Output.Describe())
	if !ok || list.Kind != jsontype.Array {
		s.report("batch/elements", "expected the path of a list in the answer of %s", op.Name)
		return
	}
	if t, ok := s.checkExpression("batch/id", batch.ID, list.Elem); ok {
		fitsID("batch/id", t)
	}
	s.checkAnswer(j, s.answerType(list, op, describe), describe)
}

// answerType is the type that the waiter reads for each job of a batch. The waiter is
// written for the answer of the describe call, so an element of the list, or an object
// with the element as the member that Batch.Answer names, takes its place.
func (s *tableSignals) answerType(list *jsontype.Type, op, describe *catalog.Operation) *jsontype.Type {
	name, many := strings.CutSuffix(s.job.Batch.Answer, "[]")
	if name == "" {
		return list.Elem
	}
	if describe.Output.Member(name) == nil {
		s.report("batch/answer", "%s has no member %q in its answer", describe.Name, name)
	}
	answer := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{}}
	if op == describe { // whose other members may be missing
		answer.Members = maps.Clone(describe.Output.Describe().Members)
	}
	if answer.Members[name] = list.Elem; many {
		answer.Members[name] = list
	}
	return answer
}

// checkAnswer reports the members that the waiter reads in the answer of the describe
// call, and that are missing or have another type in the given type.
func (s *tableSignals) checkAnswer(j *tableJob, answer *jsontype.Type, describe *catalog.Operation) {
	w, err := j.job.NewWaiter()
	if err != nil {
		return // it is reported where it stands
	}
	for _, p := range pollcore.AnalyzeTypes(w, describe.Input.Describe(), answer) {
		s.report("batch/answer", "%s", p.Message)
	}
	alone := pollcore.Readings(w, describe.Input.Describe(), describe.Output.Describe())
	for i, many := range pollcore.Readings(w, describe.Input.Describe(), answer) {
		if i >= len(alone) || !same(alone[i].Type, many.Type) {
			s.report("batch/answer", "acceptor %d of the waiter reads another type than of %s", many.Acceptor+1, describe.Name)
		}
	}
	if j.job.Message != "" {
		s.checkExpression("batch/answer", j.job.Message, answer)
	}
}

// same tells whether two types have the same kind, values and elements.
func same(a, b *jsontype.Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && slices.Equal(a.Enum(), b.Enum()) && same(a.Elem, b.Elem)
}

// mostOf is the largest number of elements that the model allows a member of an
// operation's input; 0 if it does not say.
func (b *builder) mostOf(op *catalog.Operation, member string) int {
	model := b.closure.model
	input, err := model.shape(op.InputShape)
	if err != nil {
		return 0
	}
	m := input.shape.Member(member)
	if m == nil {
		return 0
	}
	list, err := model.shape(m.Target)
	if err != nil {
		return 0
	}
	most, _ := strconv.Atoi(list.shape.Max.String())
	return most
}
