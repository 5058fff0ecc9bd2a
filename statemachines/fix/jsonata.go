package fix

import (
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// adaptJSONata leads the exits of states in JSONata into the machine, with the data
// that the states there read. result is where the response of the poll is.
func (f *fragment) adaptJSONata(result string) error {
	document, err := f.document(result)
	if err != nil {
		return err
	}
	if f.starter != nil {
		if err := f.adaptStart(); err != nil {
			return err
		}
	}
	for _, name := range slices.Clone(f.order) {
		if err := f.adaptState(name, document); err != nil {
			return err
		}
	}
	if f.openWait != nil {
		if err := f.waitFirst(f.states[f.named["InitialWait"]]); err != nil {
			return err
		}
	}
	first, _ := f.states[f.start]["Assign"].(object)
	if f.computed != nil {
		first[f.prefix+"Arguments"] = f.computed
	}
	if f.entered {
		input, err := f.findEntered("$states.input")
		if err != nil {
			return err
		}
		first[f.inputVariable()] = expression(input)
	}
	if name := f.prefix + "StartedAt"; !strings.Contains(string(mustJSON(f.states)), "$"+name) {
		delete(first, name)
	}
	return nil
}

// adaptState leads the exits of one state.
func (f *fragment) adaptState(name string, document any) error {
	s := f.states[name]
	choices, _ := s["Choices"].([]any)
	if name == f.named["CheckError"] {
		f.failAsBefore(s, exitNames[pollcore.Failed], "$states.input.error")
	}
	for _, rule := range choices {
		if err := f.leave(rule.(object), "Next", document); err != nil {
			return err
		}
		if name == f.choice.Name {
			if err := f.goThrough(rule.(object), "Next", document); err != nil {
				return err
			}
		}
	}
	if name == f.choice.Name {
		if err := f.leave(s, "Default", document); err != nil {
			return err
		}
	}
	if name == f.poll.Name {
		if err := f.adaptPoll(s); err != nil {
			return err
		}
	}
	for _, at := range append(catchers(s), s) {
		if name == f.poll.Name && f.starter == nil {
			f.failByError(at, "Next", exitNames[pollcore.Failed], "$states.input.error")
		}
		if err := f.fail(at); err != nil {
			return err
		}
	}
	return nil
}

// waitFirst lets the Wait before the first poll take as long as the old one, which reads that.
func (f *fragment) waitFirst(wait object) error {
	seconds := f.openWait.Wait.Seconds
	switch {
	case seconds == nil:
		return refuse("the loop begins with the Wait %q until a time: let it wait for seconds", f.openWait.Name)
	case seconds.Path != nil:
		document, err := translatePath(f.openWait.InputPath, "$states.input")
		if err != nil {
			return err
		}
		text, err := translatePath(seconds.Path, document)
		wait["Seconds"] = expression(text)
		return err
	case seconds.Expression != nil:
		wait["Seconds"] = f.node(f.openWait).Get("Seconds").Text
		return nil
	default:
		return refuse("the loop begins with the Wait %q, whose length %s calls: set it before the loop", f.openWait.Name, seconds.Field)
	}
}

// leave leads a rule, or a default, that knows the answer.
func (f *fragment) leave(at object, field string, document any) error {
	for status, name := range exitNames {
		if at[field] != name {
			continue
		}
		output, _ := at["Output"].(object)
		reason, _ := output["reason"].(string)
		exit := f.wayOut(status, acceptorOf(reason))
		if exit == "" {
			f.leadToFail(at, field, status)
			return nil
		}
		data, assign, err := f.exitData(document, exit)
		if err != nil {
			return err
		}
		at[field], at["Output"] = exit, data
		if assign != nil {
			at["Assign"] = assign
		}
	}
	return nil
}

// fail leads what does not know the answer to Fail states.
func (f *fragment) fail(at object) error {
	for _, field := range []string{"Next", "Default"} {
		switch at[field] {
		case exitNames[pollcore.Succeeded]:
			return refuse("%s succeeds by an error, which gives the states after the loop no data", f.about())
		case exitNames[pollcore.Failed]:
			f.leadToFail(at, field, pollcore.Failed)
		case exitNames[pollcore.TimedOut]:
			f.leadToFail(at, field, pollcore.TimedOut)
		}
	}
	return nil
}

// failAsBefore lets the execution fail by an error of the poll that the new loop does not retry, as it
// did with the old one: the state looks at the error. failed is where it leads so far.
func (f *fragment) failAsBefore(s object, failed, failure string) {
	choices, _ := s["Choices"].([]any)
	for _, item := range choices {
		if rule, ok := item.(object); ok {
			f.failByError(rule, "Next", failed, failure)
		}
	}
	f.failByError(s, "Default", failed, failure)
}

// failByError leads what knows the error of a call to a Fail state with that error.
func (f *fragment) failByError(at object, field, failed, failure string) {
	if at[field] != failed {
		return
	}
	if f.callFailed == "" {
		f.callFailed = f.addFail(f.poll.Name, "call failed", expression(failure+".Error"), expression(failure+".Cause"))
	}
	at[field] = f.callFailed
}

// leadToFail leads to a new Fail state, which needs the reason alone.
func (f *fragment) leadToFail(at object, field string, status pollcore.Status) {
	if output, ok := at["Output"].(object); ok {
		at["Output"] = object{"reason": output["reason"]}
	}
	if f.added[status] == "" {
		part, code := "failed", "JobPoller.Failed"
		if status == pollcore.TimedOut {
			part, code = "timed out", "JobPoller.TimedOut"
		}
		f.added[status] = f.addFail(f.poll.Name, part, code, "{% $states.input.reason %}")
	}
	at[field] = f.added[status]
}

// addFail adds a Fail state, and returns its name.
func (f *fragment) addFail(subject, part, code, cause string) string {
	taken := map[string]bool{}
	for s := range f.machine.All {
		taken[s.Name] = true
	}
	for name := range f.states {
		taken[name] = true
	}
	name := f.newName(subject, part, taken)
	f.order = append(f.order, name)
	f.states[name] = object{"QueryLanguage": "JSONata", "Type": "Fail", "Error": code, "Cause": cause}
	return name
}

// adaptPoll gives the poll the variables and the catchers of the old one.
func (f *fragment) adaptPoll(s object) error {
	assign, err := f.pollAssign()
	if err != nil {
		return err
	}
	if f.poll.Task.Credentials != nil {
		if err := f.adaptCredentials(s); err != nil {
			return err
		}
	}
	if len(assign) > 0 {
		own, _ := s["Assign"].(object)
		if own == nil {
			own = object{}
		}
		maps.Copy(own, assign)
		s["Assign"] = own
	}
	f.keepRetry(s)
	return f.adaptCatch(s)
}

// adaptCredentials gives the poll the role of the old one.
func (f *fragment) adaptCredentials(s object) error {
	var err error
	if f.poll.QueryLanguage == asl.JSONata {
		s["Credentials"], err = f.respell(f.node(f.poll).Get("Credentials").Raw(), "")
		return err
	}
	document, err := translatePath(f.poll.InputPath, "$"+f.inputVariable())
	if err != nil {
		return err
	}
	f.entered = true
	s["Credentials"], err = translateFields(f.poll.Task.Credentials, document)
	return err
}

// pollAssign is what the old poll assigned.
func (f *fragment) pollAssign() (object, error) {
	n := f.node(f.poll).Get("Assign")
	if n == nil {
		return nil, nil //nolint:nilnil // nothing
	}
	for _, m := range n.Members {
		name := variableOf(m)
		if f.countsInPoll(name) {
			continue
		}
		if output := f.node(f.poll).Get("Output"); output != nil && readsVariable(output.Raw(), name) {
			return nil, refuse("the Output of %q reads the variable %q, which its Assign sets anew", f.poll.Name, name)
		}
		if readsVariable(n.Raw(), name) {
			return nil, refuse("%q sets the variable %q from its value of the turn before, which a new loop does not keep, and %s reads it: "+
				"let no state but the Choices of the loop read it", f.poll.Name, name, f.readerBeside(name))
		}
	}
	var value any
	var err error
	if f.poll.QueryLanguage == asl.JSONata {
		value, err = f.respell(n.Raw(), "$states.result")
	} else {
		var result string
		if result, err = f.selectResult("$states.result"); err == nil {
			value, err = translateFields(f.poll.Assign, result)
		}
	}
	assign, _ := value.(object)
	maps.DeleteFunc(assign, func(name string, _ any) bool { return f.countsInPoll(name) })
	return assign, err
}

// catchers are those of a state.
func catchers(s object) []object {
	var all []object
	list, _ := s["Catch"].([]any)
	for _, item := range list {
		all = append(all, item.(object))
	}
	return all
}

// adaptCatch gives the poll the catchers of the old one in the place of the one for
// all errors: without any, an error that is not retried fails the execution, as it
// did.
func (f *fragment) adaptCatch(s object) error {
	var kept []any
	for _, c := range catchers(s) {
		names, _ := c["ErrorEquals"].([]any)
		if len(names) == 1 && names[0] == asl.ErrorAll && c["Next"] == exitNames[pollcore.Failed] {
			continue
		}
		kept = append(kept, c)
	}
	for i, c := range f.poll.Catch {
		if f.inside[c.Next] {
			continue // the new loop retries, and polls on
		}
		catcher, err := f.translateCatcher(c, f.poll, f.node(f.poll).Get("Catch").Items[i])
		if err != nil {
			return err
		}
		kept = append(kept, catcher)
	}
	delete(s, "Catch")
	if len(kept) > 0 {
		s["Catch"] = kept
	}
	return nil
}

// translateCatcher writes a catcher of a Task of the old loop in JSONata.
func (f *fragment) translateCatcher(c asl.Catcher, task *asl.State, node *jsontree.Node) (object, error) {
	catcher := object{"ErrorEquals": c.ErrorEquals, "Next": c.Next}
	if c.Comment != "" {
		catcher["Comment"] = c.Comment
	}
	input := func() (string, error) {
		if f.starter != nil && task == f.starter.State {
			f.entered = true
			return "$" + f.inputVariable(), nil
		}
		return f.loopInput("")
	}
	if task.QueryLanguage == asl.JSONata {
		for _, field := range []string{"Output", "Assign"} {
			n := node.Get(field)
			if n == nil {
				continue
			}
			value, err := replaceNames(n.Raw(), map[string]func() (string, error){"$states.input": input})
			if err != nil {
				return nil, err
			}
			catcher[field] = value
		}
		return catcher, nil
	}
	if c.Assign != nil {
		assign, err := translateFields(c.Assign, "$states.errorOutput")
		if err != nil {
			return nil, err
		}
		catcher["Assign"] = assign
	}
	document := ""
	if c.ResultPath == nil || !c.ResultPath.Root() {
		var err error
		if document, err = input(); err != nil {
			return nil, err
		}
	}
	output, err := mergeAt(c.ResultPath, document, "$states.errorOutput")
	if err != nil {
		return nil, err
	}
	if output, err = translatePath(task.OutputPath, output); err != nil {
		return nil, err
	}
	catcher["Output"] = expression(output)
	return catcher, nil
}
