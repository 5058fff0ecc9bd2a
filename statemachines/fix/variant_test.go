package fix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// object is a JSON object of a definition.
type object = map[string]any

// polled is an operation with the members of a loop on it.
type polled struct {
	service, job, action string
	arguments            object // by the member of the input
	status               string // path of the status
	success, failure     string
	also                 string // a failure that a loop may forget
}

var polledOperations = []polled{
	{"athena", "StartQueryExecution", "athena:getQueryExecution", object{"QueryExecutionId": "id"}, "QueryExecution.Status.State", "SUCCEEDED", "FAILED", "CANCELLED"},
	{"glue", "StartJobRun", "glue:getJobRun", object{"JobName": "name", "RunId": "id"}, "JobRun.JobRunState", "SUCCEEDED", "FAILED", "TIMEOUT"},
	{"transcribe", "StartTranscriptionJob", "transcribe:getTranscriptionJob", object{"TranscriptionJobName": "id"}, "TranscriptionJob.TranscriptionJobStatus", "COMPLETED", "FAILED", ""},
}

// variant is a machine with a poll loop, as people write them.
type variant struct {
	polled

	jsonata  bool
	states   object
	order    []string
	startAt  string
	top      object // of the whole machine
	wait     string // the names of the states of the loop
	poll     string
	choice   string
	features []string
}

// named draws a name for a state.
func named(r *rand.Rand, base string) string {
	forms := []string{"%s", "%s it", "Ist %s fertig?", "状態 %s", "%s/~1 \"x\"", "%s: a"}
	return fmt.Sprintf(forms[r.IntN(len(forms))], base)
}

func (v *variant) has(feature string, r *rand.Rand, of int) bool {
	if r.IntN(of) != 0 {
		return false
	}
	v.features = append(v.features, feature)
	return true
}

func (v *variant) add(name string, s object) {
	v.order = append(v.order, name)
	v.states[name] = s
}

// newVariant draws a machine.
func newVariant(r *rand.Rand, jsonata bool) *variant {
	v := &variant{polled: polledOperations[r.IntN(len(polledOperations))], jsonata: jsonata, states: object{}}
	v.wait, v.poll, v.choice = named(r, "Wait"), named(r, "Get"), named(r, "Done")
	input := object{"id": "the-id", "name": "the-name", "mode": "slow", "other": []any{1, "two"}}
	entry := v.wait
	if v.has("begins at the poll", r, 3) {
		entry = v.poll
	}
	v.startAt = "Begin"
	switch {
	case v.has("two ways in", r, 4):
		v.add("Begin", v.pass(input, "Which"))
		v.add("Which", v.choose([]object{v.rule("mode", "fast", v.poll)}, v.wait))
	case v.has("two ways to one state", r, 4):
		v.add("Begin", v.pass(input, "Which"))
		v.add("Which", v.choose([]object{v.rule("mode", "fast", "Aside")}, entry))
		v.add("Aside", object{"Type": "Pass", "Next": entry})
	default:
		v.add("Begin", v.pass(input, entry))
	}
	v.addLoop(r)
	v.contain(r)
	return v
}

func (v *variant) pass(value any, next string) object {
	s := object{"Type": "Pass", "Next": next}
	if v.jsonata {
		s["Output"] = value
	} else {
		s["Result"] = value
	}
	return s
}

func (v *variant) rule(path, value, next string) object {
	if v.jsonata {
		return object{"Condition": fmt.Sprintf("{%% $states.input.%s = '%s' %%}", path, value), "Next": next}
	}
	return object{"Variable": "$." + path, "StringEquals": value, "Next": next}
}

func (v *variant) choose(rules []object, otherwise string) object {
	list := make([]any, len(rules))
	for i, rule := range rules {
		list[i] = rule
	}
	return object{"Type": "Choice", "Choices": list, "Default": otherwise}
}

// addLoop adds the loop, and what comes behind it.
func (v *variant) addLoop(r *rand.Rand) {
	wait := object{"Type": "Wait", "Seconds": 1 + r.IntN(60), "Next": v.poll}
	if v.has("comments", r, 3) {
		wait["Comment"] = "waits – a little"
	}
	poll, at := v.task(r)
	v.catch(r, poll)
	rules := []object{v.rule(at, v.success, "Succeeded"), v.rule(at, v.failure, "Failed")}
	if v.also != "" && v.has("knows another failure", r, 2) {
		rules = append(rules, v.rule(at, v.also, []string{"Failed", "Other"}[r.IntN(2)]))
	}
	if r.IntN(2) == 0 {
		rules[0], rules[1] = rules[1], rules[0]
	}
	otherwise := v.wait
	if v.has("tests other things", r, 6) {
		fast := v.rule("mode", "fast", "Other")
		if v.jsonata {
			fast["Condition"] = "{% $mode = 'fast' %}"
			v.states["Begin"].(object)["Assign"] = object{"mode": "fast"}
		}
		rules = append([]object{fast}, rules...)
	}
	choice := v.choose(rules, otherwise)
	if v.jsonata && v.has("a rule has Output", r, 4) {
		for _, rule := range rules {
			if rule["Next"] == "Succeeded" {
				rule["Output"] = object{"all": "{% $states.input %}", "by": "rule"}
			}
		}
	}
	if v.has("a rule sets variables", r, 4) {
		for _, rule := range rules {
			if rule["Next"] == "Succeeded" {
				rule["Assign"] = object{"done": true}
			}
		}
	}
	parts := []struct {
		name string
		s    object
	}{{v.wait, wait}, {v.poll, poll}, {v.choice, choice}}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for _, part := range parts {
		v.add(part.name, part.s)
	}
	v.add("Succeeded", object{"Type": "Pass", "Next": "End"})
	v.add("End", object{"Type": "Succeed"})
	v.add("Failed", object{"Type": "Fail", "Error": "JobFailed"})
	if slices.ContainsFunc(rules, func(rule object) bool { return rule["Next"] == "Other" }) {
		v.add("Other", object{"Type": "Pass", "Next": "Last"})
		v.add("Last", object{"Type": "Succeed"})
	}
}

// task is the Task that polls, and the path of the status in what it leaves.
func (v *variant) task(r *rand.Rand) (task object, at string) {
	task = object{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:" + v.action, "Next": v.choice}
	if v.has("retries", r, 3) {
		task["Retry"] = []any{object{"ErrorEquals": []any{"States.ALL"}, "MaxAttempts": 2}}
	}
	if v.has("TimeoutSeconds", r, 4) {
		task["TimeoutSeconds"] = 30
	}
	arguments := object{}
	for member, path := range v.arguments {
		if v.jsonata {
			arguments[member] = fmt.Sprintf("{%% $states.input.%s %%}", path)
		} else {
			arguments[member+".$"] = fmt.Sprintf("$.%s", path)
		}
	}
	if v.jsonata {
		task["Arguments"] = arguments
		switch {
		case v.has("merges", r, 2):
			task["Output"] = "{% $merge([$states.input, {'q': $states.result}]) %}"
			at = "q." + v.status
		default:
			task["Output"] = object{"id": "{% $states.input.id %}", "name": "{% $states.input.name %}", "answer": "{% $states.result %}", "n": 1}
			at = "answer." + v.status
		}
		if v.has("sets variables", r, 3) {
			task["Assign"] = object{"seen": "{% $states.result %}", "from": "{% $states.input.id %}"}
		}
		return task, at
	}
	task["Parameters"] = arguments
	if v.has("formats", r, 3) {
		for member := range arguments {
			arguments[member] = strings.Replace(fmt.Sprintf("States.Format('{}-{}', %s, States.ArrayGetItem(States.Array('x', 'y'), 1))", arguments[member]), "''", "'", 1)
			break
		}
	}
	result := []string{"$.q", "$.a.b", "$.answer"}[r.IntN(3)]
	task["ResultPath"] = result
	at = strings.TrimPrefix(result, "$.") + "." + v.status
	if v.has("selects", r, 3) {
		task["ResultSelector"] = object{"s.$": "$." + v.status, "of": object{"x": 1}}
		at = strings.TrimPrefix(result, "$.") + ".s"
	}
	if v.has("sets variables", r, 3) {
		task["Assign"] = object{"seen.$": "$"}
	}
	return task, at
}

func (v *variant) catch(r *rand.Rand, poll object) {
	catcher := object{"ErrorEquals": []any{"States.ALL"}, "Next": "Failed"}
	switch {
	case v.has("catches into the loop", r, 4):
		catcher["Next"] = v.wait
		if !v.jsonata {
			catcher["ResultPath"] = nil
		} else {
			catcher["Output"] = "{% $states.input %}"
		}
	case v.has("catches", r, 3):
		if !v.jsonata {
			catcher["ResultPath"] = "$.error"
		}
	default:
		return
	}
	poll["Catch"] = []any{catcher}
}

// contain puts the states into a machine, or a state of one.
func (v *variant) contain(r *rand.Rand) {
	flow := object{"StartAt": v.startAt, "States": v.states}
	switch {
	case v.has("in a Map", r, 6):
		each := object{"Type": "Map", "ItemProcessor": flow, "End": true}
		if v.jsonata {
			each["Items"] = []any{1, 2}
		} else {
			each["ItemsPath"] = "$.items"
		}
		flow = object{"StartAt": "Each", "States": object{"Each": each}}
	case v.has("in a Parallel", r, 6):
		flow = object{"StartAt": "Both", "States": object{"Both": object{"Type": "Parallel", "Branches": []any{flow}, "End": true}}}
	}
	if v.jsonata {
		flow["QueryLanguage"] = "JSONata"
	}
	flow["Comment"] = "a variant"
	v.top = flow
}
