package fixtruth

import (
	"fmt"
	"slices"
	"strings"
)

func anyOf(path string, statuses []string) object {
	var each []any
	for _, s := range statuses {
		each = append(each, object{"Variable": path, "StringEquals": s})
	}
	if len(each) == 1 {
		return each[0].(object)
	}
	return object{"Or": each}
}

// jobID is the id of the job, or of the first.
func (w *writer) jobID() term {
	switch {
	case w.around == "index" && !w.starts:
		return term{"States.ArrayGetItem($.ids, $.at.i)", "$states.input.ids[$states.input.at.i]"}
	case w.jobs > 1:
		return in("ids[0]")
	case w.idVariable:
		return term{"$jobId", "$jobId"}
	case w.starts && w.op.name == "":
		return in("job." + strings.Join(w.op.started, "."))
	}
	return in("id")
}

// takesBody tells whether the body of the answer takes the place of the data behind the poll.
func (b *blueprint) takesBody() bool {
	return b.result == "input" || b.result == "output path" && b.op.via != ""
}

// inBody is a path in the body of the answer to a poll.
func (b *blueprint) inBody(path string) string {
	if body := b.op.via.carrier().body; body != "" {
		return path + "." + body
	}
	return path
}

// items is the path of the jobs in the answer to a poll that asks for several.
func (b *blueprint) items(answer string) string { return b.inBody(answer) + "." + b.op.list }

// inItem is the path of a member of the first job in the body of an answer.
func (b *blueprint) inItem(path []string) string {
	text := strings.Join(path, ".")
	if b.op.list != "" {
		text = b.op.list + "[0]." + text
	}
	return text
}

// inAnswer is the path of a member in the answer to a poll.
func (b *blueprint) inAnswer(path []string) string {
	if body := b.op.via.carrier().body; body != "" {
		return body + "." + b.inItem(path)
	}
	return b.inItem(path)
}

// member is a member of the answer, behind the poll.
func (w *writer) member(path []string) term {
	switch {
	case w.takesBody():
		return in(w.inItem(path))
	case w.result == "output path":
		return in(w.inAnswer(path))
	case w.result == "text":
		return in("r.body." + w.inItem(path))
	}
	return in("r." + w.inAnswer(path))
}

func (w *writer) statusTerm() term {
	if w.result == "selector" || w.result == "output" {
		return in("r.status")
	}
	path := slices.Clone(w.op.status)
	if w.statusMember != "" {
		path[len(path)-1] = w.statusMember
	}
	return w.member(path)
}

// call is a Task that calls an action with data, and leaves the machine's data alone.
func (w *writer) call(action string, data object, next string) object {
	return w.task(w.op.resource(action), w.op.arguments(action, data), next)
}

// task is a Task that leaves the data alone. Its arguments are an object, or a term for all of the input.
func (w *writer) task(resource string, arguments any, next string) object {
	s := object{"Type": "Task", "Resource": resource, "Next": next}
	if next == "" {
		delete(s, "Next")
		s["End"] = true
	}
	given, known := arguments.(object)
	switch {
	case w.jsonata && known:
		s["Arguments"], s["Output"] = w.encode(given), "{% $states.input %}"
	case w.jsonata:
		s["Arguments"], s["Output"] = "{% "+arguments.(term).jsonata+" %}", "{% $states.input %}"
	case known:
		s["Parameters"], s["ResultPath"] = w.encode(given), nil
	default:
		s["InputPath"], s["ResultPath"] = arguments.(term).path, nil
	}
	return s
}

// pass puts data at a member.
func (w *writer) pass(data object, member, next string) object {
	if !w.jsonata {
		return object{"Type": "Pass", "Parameters": w.encode(data), "ResultPath": "$." + member, "Next": next}
	}
	var each []string
	for k, v := range data {
		text := fmt.Sprint(v)
		if t, is := v.(term); is {
			text = t.jsonata
		}
		each = append(each, fmt.Sprintf("'%s': %s", k, text))
	}
	slices.Sort(each)
	return object{"Type": "Pass", "Output": "{% $merge([$states.input, {'" + member + "': {" + strings.Join(each, ", ") + "}}]) %}", "Next": next}
}

// encode writes the terms of an object in the language of the machine.
func (w *writer) encode(o object) object {
	to := object{}
	for k, v := range o {
		switch v := v.(type) {
		case term:
			if w.jsonata {
				to[k] = "{% " + v.jsonata + " %}"
			} else {
				to[k+".$"] = v.path
			}
		case object:
			to[k] = w.encode(v)
		default:
			to[k] = v
		}
	}
	return to
}
