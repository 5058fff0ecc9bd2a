package fixtruth

import (
	"cmp"
	"slices"
)

// form is a way to write a part of a machine.
type form struct {
	name string
	fits func(*blueprint) bool
	take func(*blueprint)
}

// slot is a part of a machine, of which a form is drawn so often.
type slot struct {
	percent int
	forms   []form
}

func inPath(b *blueprint) bool   { return !b.jsonata }
func inData(b *blueprint) bool   { return b.result != "output path" } // data flows around the poll
func oneJob(b *blueprint) bool   { return b.jobs == 1 }
func whole(b *blueprint) bool    { return b.result == "" } // nothing is selected from the answer
func manyJobs(b *blueprint) bool { return b.op.list != "" && whole(b) }
func ownJob(b *blueprint) bool   { return b.op.via != "" }

// takesData tells whether a function that polls can get all of the machine's data, and give it back with the status.
func takesData(b *blueprint) bool {
	return (b.op.via == lambdaInvoke || b.op.via == functionARN) && b.op.list == "" && !b.starts
}

// startsAnew tells whether the machine can start one job after another.
func startsAnew(b *blueprint) bool {
	return b.starts && oneJob(b) && inData(b) && b.op.name == "" && b.counter != "input" && b.catch != "failure" && b.around == "" && !b.express
}

// polls is the form of a poll that is made so.
func polls(by via) form {
	name := cmp.Or(string(by), "operation of a service")
	return form{name + " polls", func(b *blueprint) bool { return b.op.via == by }, func(*blueprint) {}}
}

// slots has a row a form: add one, and the generator draws it.
var slots = []slot{
	{100, []form{
		{"JSONPath", nil, func(*blueprint) {}},
		{"JSONata", nil, func(b *blueprint) { b.jsonata = true }},
		{"mixed languages", nil, func(b *blueprint) { b.mixed = true }},
	}},
	{100, []form{
		polls(""), polls(lambdaInvoke), polls(functionARN), polls(httpTask), polls(nestedMachine),
	}},
	{100, []form{
		{"names alone say what statuses mean", ownJob, func(*blueprint) {}},
		{"the user says what statuses mean", ownJob, func(b *blueprint) { b.said = true }},
	}},
	{8, []form{{"Express", func(b *blueprint) bool { return b.op.via != nestedMachine }, func(b *blueprint) { b.express, b.limit = true, 6 }}}},
	{70, []form{
		{"started here", nil, func(b *blueprint) { b.starts = true }},
		{"started here, id in a variable", nil, func(b *blueprint) { b.starts, b.idVariable = true, true }},
	}},
	{60, []form{
		{"the answer takes the place of the data", ownJob, func(b *blueprint) { b.result, b.idVariable = "output path", true }},
		{"a function answers JSON text", func(b *blueprint) bool { return b.op.via == lambdaInvoke }, func(b *blueprint) { b.result = "text" }},
		{"a function gives the data back", takesData, func(b *blueprint) { b.result = "input" }},
	}},
	{35, []form{
		{"ResultSelector", func(b *blueprint) bool { return inPath(b) && whole(b) }, func(b *blueprint) { b.result = "selector" }},
		{"OutputPath", func(b *blueprint) bool { return inPath(b) && whole(b) && !ownJob(b) }, func(b *blueprint) { b.result, b.idVariable = "output path", true }},
		{"Output of members", func(b *blueprint) bool { return b.jsonata && whole(b) }, func(b *blueprint) { b.result = "output" }},
	}},
	{80, []form{
		{"count of all jobs", manyJobs, func(b *blueprint) { b.jobs, b.result, b.starts, b.idVariable = 2, "counts", false, false }},
		{"count of any job", manyJobs, func(b *blueprint) { b.jobs, b.any, b.result, b.starts, b.idVariable = 2, true, "counts", false, false }},
		{"all of several jobs", manyJobs, func(b *blueprint) { b.jobs, b.starts, b.idVariable = 2, false, false }},
		{"any of several jobs", manyJobs, func(b *blueprint) { b.jobs, b.any, b.starts, b.idVariable = 2, true, false, false }},
	}},
	{60, []form{
		{"begins with the Wait of the loop", nil, func(b *blueprint) { b.first = "loop" }},
		{"first Wait literal", nil, func(b *blueprint) { b.first = "literal" }},
		{"first Wait by path", inPath, func(b *blueprint) { b.first = "path" }},
		{"first Wait by expression", func(b *blueprint) bool { return b.jsonata }, func(b *blueprint) { b.first = "expression" }},
		{"first Wait to a Timestamp", nil, func(b *blueprint) { b.first = "timestamp" }},
	}},
	{30, []form{
		{"Wait by reference", inData, func(b *blueprint) { b.pause = "path" }},
		{"Wait by placeholder", func(b *blueprint) bool { return !b.express }, func(b *blueprint) { b.pause = "placeholder" }},
	}},
	{70, []form{
		{"counter in a Pass", inData, func(b *blueprint) { b.counter = "pass" }},
		{"counter in Assign", nil, func(b *blueprint) { b.counter = "assign" }},
		{"counter in the input", inData, func(b *blueprint) { b.counter = "input" }},
	}},
	{25, []form{{"bound goes on", func(b *blueprint) bool { return b.counter != "" }, func(b *blueprint) { b.goesOn = true }}}},
	{100, []form{
		{"Default waits", nil, func(b *blueprint) { b.choices = defaultWaits }},
		{"Default fails", oneJob, func(b *blueprint) { b.choices = defaultFails }},
		{"Default to a Choice", oneJob, func(b *blueprint) { b.choices = defaultDecides }},
		{"Default succeeds", func(b *blueprint) bool { return !b.any }, func(b *blueprint) { b.choices = defaultSucceeds }},
		{"second Choice", nil, func(b *blueprint) { b.choices = secondChoice }},
		{"third Choice", func(b *blueprint) bool { return b.counter != "" }, func(b *blueprint) { b.choices = thirdChoice }},
	}},
	{30, []form{
		{"a rule for each status", oneJob, func(b *blueprint) { b.apart = true }},
		{"rules with IsPresent", oneJob, func(b *blueprint) { b.guarded = true }},
	}},
	{25, []form{
		{"begins at the Choice", func(b *blueprint) bool {
			return oneJob(b) && b.first == "" && !b.starts && (b.choices == defaultWaits || b.choices == secondChoice)
		}, func(b *blueprint) { b.first, b.guarded, b.apart = "choice", true, false }},
	}},
	{30, []form{{"bound with a status", func(b *blueprint) bool {
		return b.counter != "" && oneJob(b) && (b.first != "choice" || b.guarded)
	}, func(b *blueprint) { b.boundOfRunning = true }}}},
	{60, []form{{"success told by a second member", func(b *blueprint) bool {
		return b.op.second != nil && oneJob(b) && (b.result == "" || b.result == "output path") && b.choices != defaultSucceeds
	}, func(b *blueprint) { b.split = true }}}},
	{35, []form{
		{"Catch as success", nil, func(b *blueprint) { b.catch = "success" }},
		{"Catch as retry", inData, func(b *blueprint) { b.catch = "retry" }},
		{"Catch to the failure", nil, func(b *blueprint) { b.catch = "failure" }},
	}},
	{25, []form{
		{"Map around", func(b *blueprint) bool { return b.jobs == 1 && b.counter != "assign" }, func(b *blueprint) { b.around = "map" }},
		{"Parallel beside", nil, func(b *blueprint) { b.around = "parallel" }},
		{"nested loops", func(b *blueprint) bool {
			return b.starts && inData(b) && b.counter != "input" && b.catch != "failure" && !b.express
		}, func(b *blueprint) { b.around = "outer" }},
		{"one job after another", func(b *blueprint) bool {
			return !b.starts && oneJob(b) && inData(b) && b.result != "input" && b.counter != "input" && b.first != "choice" && !b.express
		}, func(b *blueprint) { b.around, b.idVariable = "index", false }},
	}},
	{40, []form{
		{"one start after another", startsAnew, func(b *blueprint) { b.around = "index" }},
		{"a loop behind the loop", func(b *blueprint) bool {
			return startsAnew(b) && b.counter != "pass" && b.catch == ""
		}, func(b *blueprint) { b.around = "second" }},
	}},
	{30, []form{
		{"Lambda before", nil, func(b *blueprint) { b.before = "lambda" }},
		{"HTTP Task before", nil, func(b *blueprint) { b.before = "http" }},
	}},
	{40, []form{
		{"Lambda behind", nil, func(b *blueprint) { b.after = "lambda" }},
		{"HTTP Task behind", nil, func(b *blueprint) { b.after = "http" }},
	}},
	{25, []form{{"progress writes", nil, func(b *blueprint) { b.progress = true }}}},
	{40, []form{{"clean-up", nil, func(b *blueprint) { b.clean = true }}}},
	{40, []form{{"notification", nil, func(b *blueprint) { b.message = true }}}},
	{50, []form{{"reason in the notification", func(b *blueprint) bool {
		return b.message && b.catch != "failure" && b.jobs == 1 && !b.split && b.result != "selector" && b.result != "output"
	}, func(b *blueprint) { b.told = true }}}},
	{15, []form{{"placeholder in an argument", func(b *blueprint) bool { return b.message }, func(b *blueprint) { b.placeholders = true }}}},
	{30, []form{
		{"$uuid behind", nil, func(b *blueprint) { b.unique = true }},
		{"$now behind", nil, func(b *blueprint) { b.now = true }},
	}},
	{40, []form{
		{"status in the Cause", func(b *blueprint) bool { return b.catch != "failure" && b.jobs == 1 }, func(b *blueprint) { b.cause = "status" }},
		{"reason in the Cause", func(b *blueprint) bool {
			whole := b.result != "selector" && b.result != "output"
			return b.catch != "failure" && b.jobs == 1 && !b.split && whole && b.choices != defaultFails && b.choices != defaultDecides
		}, func(b *blueprint) { b.cause = "reason" }},
	}},
}

// FormNames are the names of the forms, sorted.
func FormNames() []string {
	var names []string
	for _, s := range slots {
		for _, f := range s.forms {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}
