package fixtruth

import (
	"maps"
	"slices"
	"strings"
)

// term is an expression in both languages.
type term struct{ path, jsonata string }

// in is a member of a state's input.
func in(path string) term { return term{"$." + path, "$states.input." + path} }

// The states of a machine, by their names. An exit is where a loop leads.
const (
	firstWait, poll, pause      = "First wait", "Look", "Pause"
	done, decide, enough        = "Done?", "How did it end?", "Long enough?"
	begin, again, attempt       = "Begin", "Start again?", "Count attempt"
	count, progress             = "Count", "Write progress"
	cleanUp, tell, failed       = "Clean up", "Tell failed", "Job failed"
	gaveUp, report, succeeded   = "Gave up", "Report", "Succeeded"
	prepare, startJob, tellDone = "Prepare", "Start job", "Tell done"
	noAttempts, noPolls         = "No attempts", "No polls"
	firstJob, nextJob, moreJobs = "First job", "Next job", "More jobs?"
	startSecond, pollSecond     = "Start second", "Look at second"
	doneSecond, pauseSecond     = "Second done?", "Pause for second"
)

// writer writes the machine of a blueprint.
type writer struct {
	*blueprint
	states object
}

func (b *blueprint) machine() object {
	w := &writer{b, object{}}
	w.exits()
	w.loop()
	start := w.entry()
	top := object{"StartAt": start, "States": w.states}
	side := object{"StartAt": "Side work", "States": object{
		"Side work": w.task("arn:aws:states:::lambda:invoke", object{"FunctionName": "side", "Payload": object{"step": 1}}, "Side wait"),
		"Side wait": object{"Type": "Wait", "Seconds": 7, "Next": "Side end"},
		"Side end":  w.task("arn:aws:states:::lambda:invoke", object{"FunctionName": "side", "Payload": object{"step": 2}}, ""),
	}}
	switch {
	case b.around == "map" && b.jsonata:
		top = single("Each", object{"Type": "Map", "Items": "{% $states.input.items %}", "ItemProcessor": top, "End": true})
	case b.around == "map":
		top = single("Each", object{"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": top, "End": true})
	case b.around == "parallel":
		top = single("Both", object{"Type": "Parallel", "Branches": []any{top, side}, "End": true})
	}
	if b.jsonata {
		top["QueryLanguage"] = "JSONata"
	}
	return top
}

func single(name string, state object) object {
	return object{"StartAt": name, "States": object{name: state}}
}

// exits writes the states behind the loop.
func (w *writer) exits() {
	if w.after != "" {
		w.states[tellDone] = w.aside(w.after, "report-done", object{"job": w.jobID()}, report)
	}
	made := object{"id": w.jobID()}
	switch {
	case w.unique:
		made["made"] = term{"States.UUID()", "$uuid()"}
	case w.now:
		made["made"] = term{"$$.State.EnteredTime", "$now()"}
	}
	w.states[report] = w.pass(made, "report", succeeded)
	w.states[succeeded] = object{"Type": "Succeed"}
	w.states[gaveUp] = object{"Type": "Fail", "Error": "Wait.TimedOut", "Cause": "The job took too long."}
	if !w.bounded() || w.goesOn {
		delete(w.states, gaveUp)
	}
	if w.clean {
		arguments := object{w.op.stopID: w.jobID()}
		maps.Copy(arguments, w.op.stopped)
		w.states[cleanUp] = w.call(w.op.stop, arguments, w.behindCleanUp())
	}
	if w.message {
		topic := "arn:aws:sns:us-east-1:123456789012:ops"
		if w.placeholders {
			topic = "${TopicArn}"
		}
		message := w.jobID()
		if w.told {
			message = w.member(w.op.reason)
		}
		w.states[tell] = w.task("arn:aws:states:::sns:publish", object{"TopicArn": topic, "Message": message}, failed)
	}
	w.states[failed] = w.failState()
	w.moreRounds()
	w.dropUnreached()
}

// moreRounds writes the states behind the loop that lead to it again.
func (w *writer) moreRounds() {
	switch w.around {
	case "index":
		at, behind := in("at.i"), poll
		if w.starts {
			behind = startJob
		}
		rule := object{"Variable": at.path, "NumericLessThan": 1, "Next": nextJob}
		if w.jsonata {
			rule = object{"Condition": "{% " + at.jsonata + " < 1 %}", "Next": nextJob}
		}
		w.states[moreJobs] = object{"Type": "Choice", "Choices": []any{rule}, "Default": w.behindSuccess()}
		if w.counter == "pass" {
			w.states["No polls of the next"] = w.pass(object{"polls": 0}, "count", behind)
			behind = "No polls of the next"
		}
		next := w.pass(object{"i": term{"States.MathAdd($.at.i, 1)", at.jsonata + " + 1"}}, "at", behind)
		if w.counter == "assign" {
			next["Assign"] = object{"polls": 0}
		}
		w.states[nextJob] = next
	case "second":
		w.secondLoop()
	case "outer":
		rule := object{"Variable": "$attempts", "NumericLessThan": 2, "Next": attempt}
		if w.jsonata {
			rule = object{"Condition": "{% $attempts < 2 %}", "Next": attempt}
		}
		w.states[again] = object{"Type": "Choice", "Choices": []any{rule}, "Default": w.failure1()}
		w.states[noAttempts] = object{"Type": "Pass", "Assign": object{"attempts": 1}, "Next": begin}
		w.states[attempt] = object{"Type": "Pass", "Assign": w.encode(object{"attempts": term{"States.MathAdd($attempts, 1)", "$attempts + 1"}}), "Next": begin}
	}
}

// secondLoop writes the loop behind the loop: it waits for a job that it starts.
func (w *writer) secondLoop() {
	start, look := w.startState(pollSecond), w.pollState()
	assign, is := start["Assign"].(object)
	if !is {
		assign = object{}
	}
	if w.counter == "assign" {
		assign["polls"] = 0
	}
	if len(assign) > 0 {
		start["Assign"] = assign
	}
	look["Next"] = doneSecond
	w.states[startSecond], w.states[pollSecond] = start, look
	rules := slices.Concat(w.successRules(w.behindSuccess()), w.rules(w.failure, false, w.failureExit()))
	if w.bounded() {
		bound := w.boundRule()
		if w.goesOn {
			bound["Next"] = w.behindSuccess()
		}
		rules = append(rules, bound)
	}
	w.choice(doneSecond, rules, pauseSecond)
	w.states[pauseSecond] = object{"Type": "Wait", "Seconds": 40, "Next": pollSecond}
	w.count(w.states[pauseSecond].(object))
}

// count lets a Wait count in a variable.
func (w *writer) count(wait object) {
	if w.counter == "assign" {
		wait["Assign"] = w.encode(object{"polls": term{"States.MathAdd($polls, 1)", "$polls + 1"}})
	}
}

// dropUnreached removes the states of failure where no rule leads there.
func (w *writer) dropUnreached() {
	if len(w.failure) > 0 || w.split || !namesFailures(w.blueprint) {
		return
	}
	for _, name := range []string{cleanUp, tell, failed, again, attempt} {
		delete(w.states, name)
	}
}

func (w *writer) failState() object {
	s := object{"Type": "Fail", "Error": "Job.Failed"}
	var from term
	switch w.cause {
	case "status":
		from = w.statusTerm()
	case "reason":
		from = w.member(w.op.reason)
	default:
		s["Cause"] = "The job failed."
		return s
	}
	if w.jsonata {
		s["Cause"] = "{% " + from.jsonata + " %}"
	} else {
		s["CausePath"] = from.path
	}
	return s
}

func (w *writer) behindCleanUp() string {
	if w.message {
		return tell
	}
	return failed
}

// failure1 is the first state of the way of failures, without the outer loop.
func (w *writer) failure1() string {
	if w.clean {
		return cleanUp
	}
	return w.behindCleanUp()
}

func (w *writer) failureExit() string {
	if w.around == "outer" {
		return again
	}
	return w.failure1()
}

func (w *writer) successExit() string {
	switch w.around {
	case "index":
		return moreJobs
	case "second":
		return startSecond
	}
	return w.behindSuccess()
}

// behindSuccess is the first state of the way of successes, behind all jobs.
func (w *writer) behindSuccess() string {
	if w.after != "" {
		return tellDone
	}
	return report
}

func (w *writer) boundExit() string {
	if w.goesOn {
		return w.successExit()
	}
	return gaveUp
}

func (w *writer) waitExit() string {
	if w.progress {
		return progress
	}
	return pause
}

// aside is a Task before or behind the loop.
func (w *writer) aside(service, name string, data object, next string) object {
	if service == "http" {
		return w.task("arn:aws:states:::http:invoke", object{
			"ApiEndpoint": "https://example.com/" + name, "Method": "POST", "RequestBody": data,
			"Authentication": object{"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/done/1"},
		}, next)
	}
	return w.task("arn:aws:states:::lambda:invoke", object{"FunctionName": name, "Payload": data}, next)
}

// entry writes the states before the loop, and returns the first.
func (w *writer) entry() string {
	next := poll
	switch w.first {
	case "":
	case "loop":
		next = pause
	case "choice":
		next = done
	default:
		w.states[firstWait] = w.firstState()
		next = firstWait
	}
	if w.starts {
		w.states[startJob] = w.startState(next)
		next = startJob
	}
	assign := object{}
	if w.idVariable && (!w.starts || w.op.name != "") {
		assign["jobId"] = in("id")
	}
	if w.counter == "assign" {
		assign["polls"] = 0
	}
	if w.counter == "pass" {
		w.states[noPolls] = w.pass(object{"polls": 0}, "count", next)
		next = noPolls
	}
	if w.around == "index" {
		w.states[firstJob] = w.pass(object{"i": 0}, "at", next)
		next = firstJob
	}
	if len(assign) > 0 || w.around == "outer" {
		s := object{"Type": "Pass", "Next": next}
		if len(assign) > 0 {
			s["Assign"] = w.encode(assign)
		}
		w.states[begin] = s
		next = begin
	}
	if w.around == "outer" {
		next = noAttempts
	}
	if w.before != "" {
		w.states[prepare] = w.aside(w.before, "prepare", object{"kept": in("kept")}, next)
		next = prepare
	}
	return next
}

func (w *writer) startState(next string) object {
	arguments := object{}
	maps.Copy(arguments, w.op.given)
	if w.op.name != "" {
		arguments[w.op.name] = in("id")
		return w.call(w.op.start, arguments, next)
	}
	id := strings.Join(w.op.started, ".")
	s := w.call(w.op.start, arguments, next)
	switch {
	case w.idVariable && w.jsonata:
		s["Assign"] = object{"jobId": "{% $states.result." + id + " %}"}
	case w.idVariable:
		s["Assign"] = object{"jobId.$": "$." + id}
	case w.jsonata:
		s["Output"] = "{% $merge([$states.input, {'job': $states.result}]) %}"
	default:
		s["ResultPath"] = "$.job"
	}
	return s
}

func (w *writer) firstState() object {
	s := object{"Type": "Wait", "Next": poll}
	switch {
	case w.first == "literal":
		s["Seconds"] = 20
	case w.first == "path":
		s["SecondsPath"] = "$.first"
	case w.first == "expression":
		s["Seconds"] = "{% $states.input.first + 5 %}"
	case w.jsonata:
		s["Timestamp"] = "{% $states.input.ready %}"
	default:
		s["TimestampPath"] = "$.ready"
	}
	return s
}

// loop writes the poll, the Choice states and the Wait.
func (w *writer) loop() {
	w.states[poll] = w.pollState()
	w.decisions()
	s := object{"Type": "Wait", "Next": poll}
	switch {
	case w.pause == "placeholder":
		s["Seconds"] = "${WaitSeconds}"
	case w.pause == "path" && w.jsonata:
		s["Seconds"] = "{% $states.input.pause %}"
	case w.pause == "path":
		s["SecondsPath"] = "$.pause"
	case w.express:
		s["Seconds"] = 5
	default:
		s["Seconds"] = 30
	}
	w.count(s)
	if w.counter == "pass" || w.counter == "input" {
		w.states[count] = w.pass(object{"polls": term{"States.MathAdd($.count.polls, 1)", "$states.input.count.polls + 1"}}, "count", poll)
		s["Next"] = count
	}
	w.states[pause] = s
	if w.progress {
		w.states[progress] = w.task("arn:aws:states:::dynamodb:updateItem", object{
			"TableName": "progress", "Key": object{"job": object{"S": w.jobID()}}, "UpdateExpression": "ADD laps :one",
			"ExpressionAttributeValues": object{":one": object{"N": "1"}},
		}, pause)
	}
}

func (w *writer) pollState() object {
	arguments := object{}
	maps.Copy(arguments, w.op.also)
	switch id := w.jobID(); {
	case w.jobs > 1:
		arguments[w.op.id] = in("ids")
	case w.op.list != "":
		arguments[w.op.id] = term{"States.Array(" + id.path + ")", "[" + id.jsonata + "]"}
	default:
		arguments[w.op.id] = id
	}
	s := w.call(w.op.describe, arguments, done)
	if w.result == "input" {
		s = w.task(w.op.resource(w.op.describe), w.op.arguments(w.op.describe, term{"$", "$states.input"}), done)
	}
	w.selectResult(s)
	if w.retried {
		s["Retry"] = []any{object{"ErrorEquals": w.retriedErrors(), "IntervalSeconds": 2, "MaxAttempts": 4}}
	}
	if w.catch != "" {
		s["Catch"] = []any{w.catcher()}
	}
	return s
}

// selectResult says what of the answer goes on.
func (w *writer) selectResult(s object) {
	status, reason := w.inAnswer(w.op.status), w.inAnswer(w.op.reason)
	picked, selected := "$states.result", object{"status.$": "$." + status}
	switch w.result {
	case "output":
		picked = "{'status': $states.result." + status + "}"
	case "text":
		picked = "{'body': $parse(" + w.inBody("$states.result") + ".body)}"
	case "counts":
		picked = w.countsExpression()
	}
	switch {
	case w.jsonata && w.readsReason:
		s["Assign"] = object{"reason": "{% $states.result." + reason + " %}"}
	case w.readsReason:
		selected["reason.$"] = "$." + reason
	}
	switch {
	case w.takesBody() && w.jsonata:
		s["Output"] = "{% " + w.inBody("$states.result") + " %}"
		return
	case w.takesBody():
		s["OutputPath"] = w.inBody("$")
		delete(s, "ResultPath")
		return
	case w.jsonata:
		s["Output"] = "{% $merge([$states.input, {'r': " + picked + "}]) %}"
		return
	case w.result == "text":
		s["ResultSelector"] = object{"body.$": "States.StringToJson(" + w.inBody("$") + ".body)"}
	case w.result == "counts":
		s["ResultSelector"] = w.counts()
	case w.result == "selector":
		s["ResultSelector"] = selected
	case w.result == "output path":
		s["OutputPath"] = "$.r"
	}
	s["ResultPath"] = "$.r"
}

func (w *writer) catcher() object {
	exit := map[string]string{"success": w.successExit(), "retry": w.waitExit(), "failure": w.failureExit()}[w.catch]
	c := object{"ErrorEquals": w.caughtErrors(), "Next": exit}
	if w.jsonata {
		c["Output"] = "{% $merge([$states.input, {'error': $states.errorOutput}]) %}"
	} else {
		c["ResultPath"] = "$.error"
	}
	return c
}

func (w *writer) bounded() bool { return w.counter != "" }
