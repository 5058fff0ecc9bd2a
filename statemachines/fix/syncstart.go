package fix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// syncStart is the Task that starts the job right before its loop. A ".sync" Task takes
// the place of both.
type syncStart struct {
	*asl.State

	operation *catalog.Operation // in the catalogue
	sdk       bool               // it is an AWS SDK integration
}

// startOf is the operation of a Task that starts a job which the loop may poll, and for
// which there is a ".sync" Task; nil if the Task does not.
func startOf(s *asl.State, table lint.Loop, models typecheck.Models) (*catalog.Operation, error) {
	if s.Task == nil || asl.ParseResource(s.Task.Resource).Pattern != "" {
		return nil, nil //nolint:nilnil // it starts none
	}
	op, err := typecheck.FindOperation(s.Task.Resource, models)
	if op == nil || err != nil {
		return nil, err
	}
	key, polled, _ := strings.Cut(table.Operation, ":")
	if op.Service.Key != key {
		return nil, nil //nolint:nilnil // it starts none
	}
	service, err := catalog.AWS().Service(key)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the catalogue has no jobs of it
	}
	if job := service.Jobs[op.Name]; job == nil || job.Sync == "" || job.Describe != polled {
		return nil, nil //nolint:nilnil // it starts none
	}
	return service.Operations[op.Name], nil
}

// addStart takes the Task that starts the job into the loop, with the Wait states
// between the two. It refuses what a ".sync" Task cannot do in their place.
func (l *loop) addStart(table lint.Loop, o Options) error {
	job := l.entry.Job
	if job == nil || job.Sync == "" {
		return refuse("Step Functions has no .sync Task for %s", l.about())
	}
	for _, s := range l.flow.States {
		op, err := startOf(s, table, o.Models)
		if err != nil {
			return err
		}
		l.canSync = l.canSync || op != nil && op.Name == l.entry.Name
	}
	switch {
	case job.SyncUnknown != "":
		return refuse("the job's id behind the Task %s is not known: %s", job.Sync, job.SyncUnknown)
	case !l.canSync:
		return refuse("no Task beside the loop starts the job")
	case l.express:
		return refuse("an Express workflow cannot run a .sync Task")
	}
	for l.starter == nil {
		before := l.before()
		if len(before) != 1 || l.inside[l.flow.StartAt] {
			return refuse("the loop is entered in %d ways: a .sync Task takes the place of one", len(before)+count(l.inside[l.flow.StartAt]))
		}
		s := before[0]
		op, err := startOf(s, table, o.Models)
		if err != nil {
			return err
		}
		switch {
		case op != nil && op.Name == l.entry.Name:
			_, sdk := asl.ParseResource(s.Task.Resource).SDK()
			l.starter = &syncStart{s, op, sdk}
			if err := l.checkStart(); err != nil {
				return err
			}
		case s.Type != asl.TypeWait || s.Assign != nil || s.Output != nil:
			return refuse("%q stands between the start of the job and its loop", s.Name)
		}
		l.inside[s.Name] = true
	}
	l.states = nil
	for _, s := range l.flow.States {
		if !l.inside[s.Name] {
			continue
		}
		if s.Type == asl.TypeWait && selectsPart(s) {
			return refuse("%q selects a part of its data", s.Name)
		}
		l.states = append(l.states, s)
	}
	l.entries, l.first, l.openWait = []*asl.State{l.starter.State}, 0, nil
	return nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// before are the states that lead into the loop from outside.
func (l *loop) before() []*asl.State {
	return slices.DeleteFunc(slices.Clone(l.flow.States), func(s *asl.State) bool {
		return l.inside[s.Name] || !slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return l.inside[way.To] })
	})
}

// checkStart refuses a start that means something else in a ".sync" Task.
func (l *loop) checkStart() error {
	s := l.starter
	leadsTo := func(from *asl.State, to func(name string) bool) bool {
		return slices.ContainsFunc(from.Transitions(), func(way asl.Transition) bool { return to(way.To) })
	}
	switch {
	case len(s.Retry) > 0:
		return refuse("%q has a Retry: in a .sync Task it could start the job a second time", s.Name)
	case slices.ContainsFunc(s.Catch, func(c asl.Catcher) bool { return l.inside[c.Next] }):
		return refuse("a Catch of %q leads into the loop", s.Name)
	case leadsTo(s.State, func(name string) bool { return name == s.Name }),
		slices.ContainsFunc(l.states, func(from *asl.State) bool { return leadsTo(from, func(name string) bool { return name == s.Name }) }):
		return refuse("the loop leads back to %q, which starts another job", s.Name)
	case s.Task.Credentials != nil || l.poll.Task.Credentials != nil:
		return refuse("%q or %q has Credentials: nobody has seen a .sync Task in another account", s.Name, l.poll.Name)
	}
	if err := l.checkErrorNames(); err != nil {
		return err
	}
	node := l.node(s.State)
	for _, m := range node.Members {
		if strings.HasPrefix(m.Name, "TimeoutSeconds") || strings.HasPrefix(m.Name, "HeartbeatSeconds") {
			return refuse("%q has %s, which would end the job's wait in a .sync Task", s.Name, m.Name)
		}
	}
	arguments := node.Get("Arguments")
	if arguments == nil {
		arguments = node.Get("Parameters")
	}
	if asl.ReadsContext(string(arguments.Raw()), "State.Name") {
		return refuse("%q reads the name of its state: a state before the .sync Task makes its arguments", s.Name)
	}
	if err := l.checkPoll(); err != nil {
		return err
	}
	if note := l.entry.Job.SyncNote; note != "" {
		if n := arguments.Get("Count"); arguments.Get("Count.$") != nil || n != nil && string(n.Raw()) != "1" {
			return refuse("%s", note)
		}
	}
	// The SDK's Input of StartExecution is a text of JSON, that of the Task an object.
	if s.sdk && (arguments.Get("Input") != nil || arguments.Get("Input.$") != nil) {
		return refuse("%q gives the Input as text: nobody has seen what a .sync Task makes of that", s.Name)
	}
	return nil
}

// checkErrorNames refuses a start by an AWS SDK integration whose errors the machine
// names: a ".sync" Task, an optimized integration, has other names for many of them.
func (l *loop) checkErrorNames() error {
	if !l.starter.sdk {
		return nil
	}
	named := regexp.MustCompile(`["']` + regexp.QuoteMeta(l.starter.operation.Service.ErrorPrefix) + `\.\w+`)
	for s := range l.machine.All {
		if l.inside[s.Name] && l.flow.State(s.Name) == s {
			continue // the poll is an AWS SDK integration before and after
		}
		read := l.node(s)
		if s.Map != nil || s.Parallel != nil { // whose states come themselves
			if read = read.Get("Catch"); read == nil {
				continue
			}
		}
		if name := named.Find(read.Raw()); name != nil {
			return refuse("%q reads the error %s of %q: a .sync Task names its errors otherwise", s.Name, name[1:], l.starter.Name)
		}
	}
	return nil
}

// checkPoll refuses a poll that asks for more than the one behind a ".sync" Task, whose
// arguments are those that select the job.
func (l *loop) checkPoll() error {
	node := l.node(l.poll)
	arguments := node.Get("Arguments")
	if arguments == nil {
		arguments = node.Get("Parameters")
	}
	for _, m := range arguments.Members {
		name := strings.TrimSuffix(m.Name, ".$")
		selects := func(of string) bool { return javasdk.MemberName(of) == name }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(l.entry.Job.Arguments)), selects) {
			return refuse("%q gives %s, which the describe call behind a .sync Task does not", l.poll.Name, name)
		}
	}
	return nil
}

// startResult is JSONata for what the start call answered, out of the answer of the
// poll: the texts that both have under one name, such as the ARN of the job. No other
// state may read the rest of that answer.
func (f *fragment) startResult(result string) (string, error) {
	if result == "" {
		return "", refuse("a Catch of %q reads what %q answers, which a .sync Task does not give where a call fails", f.poll.Name, f.starter.Name)
	}
	members := object{}
	for _, m := range f.starter.operation.Output.Members {
		name := javasdk.MemberName(m.Name)
		same := f.entry.Operation.Output.Member(m.Name)
		switch {
		case same != nil && same.Shape.Type == m.Shape.Type && (m.Shape.Type == catalog.String || m.Shape.Type == catalog.Timestamp && f.starter.sdk):
			members[name] = expression(result + "." + memberName(name))
		case m.Shape.Type != catalog.Timestamp || f.readsOutside(name):
			return "", refuse("a later state may read %s from the answer of %q, and the answer of a .sync Task has none", name, f.starter.Name)
		}
	}
	for _, name := range []string{"SdkHttpMetadata", "SdkResponseMetadata"} { // of an optimized integration
		if f.readsOutside(name) {
			return "", refuse("a state reads %s of %q, which a .sync Task does not give", name, f.starter.Name)
		}
	}
	return express(members), nil
}

// readsOutside tells whether a state outside of the loop names a member: also one behind
// the Map or Parallel state that the loop stands in.
func (f *fragment) readsOutside(name string) bool {
	var gone []change
	for _, s := range f.loop.states {
		n := f.node(s)
		gone = append(gone, change{from: n.Offset, to: n.End})
	}
	return bytes.Contains(apply(f.root.Raw(), f.root.Offset, gone), []byte(name))
}

// findLoopInput is JSONata for the input of the loop: what the start left of its own
// input and of its answer.
func (f *fragment) findLoopInput(result string) (string, error) {
	s, input := f.starter, "$"+f.inputVariable()
	f.entered = true
	given := func() (string, error) { return f.startResult(result) }
	if s.QueryLanguage == asl.JSONata {
		output := f.node(s.State).Get("Output")
		if output == nil {
			return given()
		}
		value, err := f.respellStart(output.Raw(), given)
		return "(" + express(value) + ")", err
	}
	text := input
	if s.ResultPath != nil {
		answer, err := f.selectStart(given)
		if err != nil {
			return "", err
		}
		if text, err = mergeAt(s.ResultPath, input, answer); err != nil {
			return "", err
		}
	}
	return translatePath(s.OutputPath, text)
}

// warnDropped tells what states behind the loop no longer get of the answer of the start,
// where they get all of it.
func (f *fragment) warnDropped() {
	s := f.starter
	kept := s.ResultSelector == nil && s.ResultPath != nil
	if s.QueryLanguage == asl.JSONata {
		output := f.node(s.State).Get("Output")
		kept = output == nil || wholeResult().Match(output.Raw())
	}
	if !kept {
		return
	}
	var dropped []string
	if !s.sdk {
		dropped = []string{"SdkHttpMetadata", "SdkResponseMetadata"}
		for _, m := range s.operation.Output.Members {
			if m.Shape.Type == catalog.Timestamp {
				dropped = append(dropped, javasdk.MemberName(m.Name))
			}
		}
	}
	if len(dropped) > 0 {
		f.warnings = append(f.warnings, fmt.Sprintf("the answer of %q behind the loop has no %s any more", s.Name, strings.Join(dropped, ", ")))
	}
}

// wholeResult finds an answer that is passed on as it is.
var wholeResult = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$states\.result([^.\w]|$)`) })

// selectStart is what the ResultSelector of the start makes of its answer.
func (f *fragment) selectStart(given func() (string, error)) (string, error) {
	answer, err := given()
	if err != nil || f.starter.ResultSelector == nil {
		return answer, err
	}
	return translate(f.starter.ResultSelector, answer)
}

// respellStart writes the JSON of a part of the start for a state behind it.
func (f *fragment) respellStart(raw []byte, given func() (string, error)) (any, error) {
	return replaceNames(raw, map[string]func() (string, error){
		"$states.input":  func() (string, error) { return "$" + f.inputVariable(), nil },
		"$states.result": given,
	})
}

// adaptStart gives the ".sync" Task, and the state that looks at its error, what the
// old start did with its errors and its variables.
func (f *fragment) adaptStart() error {
	task, ended := f.states[f.starter.Name], f.states[f.named["JobEnded"]]
	partition, _, _ := strings.Cut(f.starter.Task.Resource, ":states:")
	task["Resource"] = partition + ":states:::" + f.entry.Job.Sync
	var named []any
	own := catchers(task)
	all := own[len(own)-1]
	all["Output"] = object{"error": "{% $states.errorOutput %}"}
	handled := false
	for i, c := range f.starter.Catch {
		catcher, err := f.translateCatcher(c, f.starter.State, f.node(f.starter.State).Get("Catch").Items[i])
		if err != nil {
			return err
		}
		names := slices.DeleteFunc(slices.Clone(c.ErrorEquals), func(name string) bool { return name == asl.ErrorTimeout })
		if slices.Contains(names, asl.ErrorAll) || slices.Contains(names, asl.ErrorTaskFailed) {
			f.catchAll(ended, catcher)
			handled = true
			break
		}
		if catcher["ErrorEquals"] = names; len(names) > 0 {
			named = append(named, catcher)
		}
	}
	if !handled {
		ended["Default"] = f.addFail(f.starter.Name, "did not start", "{% $states.input.error.Error %}", "{% $states.input.error.Cause %}")
	}
	for _, c := range own {
		named = append(named, c)
	}
	task["Catch"] = named
	return f.assignStart()
}

// catchAll leads the errors that are no end of the job to what caught all errors of
// the start.
func (f *fragment) catchAll(ended, catcher object) {
	text := strings.ReplaceAll(string(mustJSON(catcher)), "$states.errorOutput", "$states.input.error")
	var moved object
	if json.Unmarshal([]byte(text), &moved) != nil {
		return // it was JSON
	}
	ended["Default"], ended["Output"] = moved["Next"], "{% $states.input.error %}"
	for _, field := range []string{"Output", "Assign"} {
		if moved[field] != nil {
			ended[field] = moved[field]
		}
	}
}

// assignStart sets the variables of the start: those with its answer once the poll has
// one.
func (f *fragment) assignStart() error {
	n := f.node(f.starter.State).Get("Assign")
	if n == nil {
		return nil
	}
	f.entered = true
	for _, m := range n.Members {
		name := strings.TrimSuffix(m.Name, ".$")
		if readsVariable(n.Raw(), name) {
			return refuse("%q sets the variable %q from its own value, which a .sync Task cannot do", f.starter.Name, name)
		}
	}
	given := func() (string, error) { return f.startResult("$states.result") }
	var value any
	var err error
	if f.starter.QueryLanguage == asl.JSONata {
		value, err = f.respellStart(n.Raw(), given)
	} else {
		var answer string
		if answer, err = f.selectStart(given); err == nil {
			value, err = translateFields(f.starter.Assign, answer)
		}
	}
	if err != nil {
		return err
	}
	assign, _ := value.(object)
	set := func(at object) {
		own, _ := at["Assign"].(object)
		if own == nil {
			own = object{}
		}
		maps.Copy(own, assign)
		at["Assign"] = own
	}
	if bytes.Contains(mustJSON(assign), []byte("$states.result")) {
		if i := slices.IndexFunc(f.poll.Catch, func(c asl.Catcher) bool { return !f.inside[c.Next] }); i >= 0 {
			return refuse("a Catch of %q leads to %q without the variables that %q sets of its answer", f.poll.Name, f.poll.Catch[i].Next, f.starter.Name)
		}
		set(f.states[f.poll.Name])
		return nil
	}
	// A Task that fails sets nothing: each way to the poll does.
	task, ended := f.states[f.starter.Name], f.states[f.named["JobEnded"]]
	choices, _ := ended["Choices"].([]any)
	set(task)
	for _, way := range catchers(task) {
		if way["Next"] == f.poll.Name {
			set(way)
		}
	}
	for _, way := range choices {
		set(way.(object))
	}
	return nil
}
