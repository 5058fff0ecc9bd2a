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

// inAnswer is the path of a member in the answer to a poll.
func (b *blueprint) inAnswer(path []string) string {
	text := strings.Join(path, ".")
	if b.op.list != "" {
		text = b.op.list + "[0]." + text
	}
	return text
}

// member is a member of the answer, behind the poll.
func (w *writer) member(path []string) term {
	if w.result == "output path" {
		return in(w.inAnswer(path))
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

// task is a Task that leaves the data alone.
func (w *writer) task(resource string, arguments object, next string) object {
	s := object{"Type": "Task", "Resource": resource, "Next": next}
	if next == "" {
		delete(s, "Next")
		s["End"] = true
	}
	if w.jsonata {
		s["Arguments"], s["Output"] = w.encode(arguments), "{% $states.input %}"
	} else {
		s["Parameters"], s["ResultPath"] = w.encode(arguments), nil
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
