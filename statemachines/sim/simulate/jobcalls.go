package simulate

// pollMembers are the members of a simulated job about the calls that poll it, and those that change what
// is there.
func (j *job) pollMembers(answers *answers, spec Spec, ends *status) object {
	var body object
	add := func(name string, value any) {
		if value != "" {
			body = append(body, namedValue{name, value})
		}
	}
	if len(j.starts) > 0 { // else there is one job at a time, under whatever id
		if !answers.bare || j.isNamed() {
			add("id", spellPlace(j.identity.told))
		}
		add("idArgument", spellPlace(j.identity.asked))
	}
	body = append(body, j.keptMembers(answers)...)
	if len(j.begins) > 0 {
		add("start", j.coursesOf(answers, spec, ends))
	}
	if j.isThereBefore() {
		add("exists", true)
		if before := j.behaviour.before; before != nil {
			add("before", before.name)
		}
	}
	if len(j.describes) > 1 {
		add("describe", namesOf(j.describes[1:]))
	}
	return body
}

// isNamed tells whether the answers about the job have the member that holds its id, and so name it.
func (j *job) isNamed() bool {
	told := j.identity.told
	if len(told) == 0 {
		return false
	}
	_, is := told[:len(told)-1].get(j.behaviour.running().answer).(map[string]any)
	return is
}

// startMembers are the members of a simulated job about the calls that start it.
func (p *planner) startMembers(j *job, answers *answers, specs []Spec, ends []*status) object {
	var body object
	add := func(name string, value any) {
		if value != "" {
			body = append(body, namedValue{name, value})
		}
	}
	id := j.identity
	starts := j.starts
	if j.sync != nil {
		starts = []*task{j.sync}
	}
	if len(starts) == 0 {
		return nil
	}
	if j.sync == nil {
		add("start", p.startsOf(starts, specs, ends))
	}
	shape := starts[0].result()
	started := j.behaviour.tellStatus(answers.ofCall(starts[0].operation, shape), shape, j.behaviour.running())
	add("startAnswer", spellAnswer(started, shape))
	add("startId", spellPlace(starts[0].resultAt(id.started)))
	add("startIdArgument", spellPlace(id.chosen))
	add("startNameArgument", spellPlace(id.named))
	if !answers.bare || isRequired(j.entry.Operation.Output, id.called) {
		add("name", spellPlace(id.called))
	}
	if id.form != "job-{n}" {
		add("ids", id.form)
	}
	return body
}

// stopMembers are the members of a simulated job about the calls that stop it. Without a start there
// is one job, under whatever id.
func (j *job) stopMembers(answers *answers) object {
	if len(j.stops) == 0 {
		return nil
	}
	body := object{{"stop", namesOf(j.stops)}}
	if stopped := spellPlace(j.identity.stopped); len(j.starts) > 0 && stopped != "" && stopped != spellPlace(j.identity.asked) {
		body = append(body, namedValue{"stopIdArgument", stopped})
	}
	shape := j.stops[0].operation.Output
	return append(body, namedValue{"stopAnswer", spellAnswer(answers.ofCall(j.stops[0].operation, shape), shape)})
}

// startsOf are the start calls of a job, with courses of their own where they
// differ.
func (*planner) startsOf(starts []*task, specs []Spec, ends []*status) any {
	same := true
	for i := range starts {
		same = same && specs[i].Spread == specs[0].Spread && ends[i] == ends[0]
	}
	if same {
		return namesOf(starts)
	}
	var courses object
	for i, t := range starts {
		courses = append(courses, namedValue{t.name(), object{{"runs", specs[i].Spread.String()}, {"ends", ends[i].name}}})
	}
	return courses
}

// namesOf are the names of states: one as a text.
func namesOf(tasks []*task) any {
	if len(tasks) == 1 {
		return tasks[0].name()
	}
	names := make([]any, len(tasks))
	for i, t := range tasks {
		names[i] = t.name()
	}
	return names
}
