package fix

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// readAbsent are the edits by which a state goes on where a member of an answer is not there.
// If another state reads one, too, that may break behind it, so the last edits mend all.
func (c *checked) readAbsent(f lint.Finding, l *lint.Loop) []candidate {
	var here, all []lint.Finding
	for _, other := range c.findings {
		if other.Rule == typecheck.AbsentMember {
			all = append(all, other)
			if c.stateAt(other) == c.stateAt(f) {
				here = append(here, other)
			}
		}
	}
	groups := [][]lint.Finding{here}
	if len(all) > len(here) {
		groups = append(groups, all)
	}
	var found []candidate
	for _, group := range groups {
		for _, empty := range []string{"null", "''"} {
			e := &absentEdit{checked: c, empty: empty}
			if one, ok := e.candidate(group, l); ok && (len(found) == 0 || e.expressions) {
				found = append(found, one)
			}
		}
	}
	return found
}

// absentEdit makes the edits for members that may not be there.
type absentEdit struct {
	*checked

	empty       string // what an expression gives without the member
	expressions bool   // that there is one
	members     []string
	offered     bool
	edits       []edit.Edit
	shapes      []*shape
	except      []trial.Member
	causes      bool // that a Fail says something else
}

// shape is a member of data that has an object in the place of one of the object's members.
type shape struct {
	object  string // its path
	data    string // that the member is in, such as "$.r."
	name    string // that the member gets
	members []string
	rests   []string // members with what is read in them
}

// candidate are the edits for some findings.
func (e *absentEdit) candidate(findings []lint.Finding, l *lint.Loop) (candidate, bool) {
	for _, f := range findings {
		path, _, _ := strings.Cut(f.Message, " ")
		path = spellMember(path)
		member := path[strings.LastIndex(path, ".")+1:]
		if !slices.Contains(e.members, member) {
			e.members = append(e.members, member)
		}
		if !e.add(f, member) {
			return candidate{}, false
		}
	}
	e.addShapes()
	one := candidate{
		about: "an answer without " + strings.Join(e.members, ", "), edits: e.edits, class: Sure, breaks: true, except: e.except,
		frame: []trial.Kind{{Task: l.Poll.Name, Sort: trial.Bare}}, mended: e.isMended,
	}
	if e.offered {
		one.class = Offered
	}
	if e.causes {
		one.allowed = []trial.What{trial.Cause}
	}
	return one, true
}

// isMended tells whether a run ends as it should: it breaks only if it did, by an answer that
// lacks another member, such as the status.
func (e *absentEdit) isMended(r *trial.Run) bool {
	return !r.After.IsBroken() || r.Before.IsBroken() && slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool {
		if k.Sort != trial.Status || k.Value == "" {
			return k.Sort == trial.Status
		}
		return slices.ContainsFunc(strings.Split(k.Value, ", "), func(member string) bool {
			path, lacks := strings.CutSuffix(member, " absent")
			return lacks && !slices.ContainsFunc(strings.Split(path, "."), func(step string) bool { return slices.Contains(e.members, step) })
		})
	})
}

// add adds the edits for a finding.
func (e *absentEdit) add(f lint.Finding, member string) bool {
	s, node := e.stateAt(f), nodeAt(e.root, f.Pointer)
	if node == nil || node.Kind != jsontree.String {
		return false
	}
	field, rest, _ := strings.Cut(strings.TrimPrefix(f.Pointer, s.Position.Pointer+"/"), "/")
	switch {
	case s.QueryLanguage == asl.JSONata:
		return e.addExpression(f.Pointer, node.Text)
	case field == "Choices":
		return e.addGuard(s.Position.Pointer+"/"+field, rest)
	}
	e.offered = true
	switch read, ok := findRead(node.Text, member); {
	case !ok:
		return false
	case field == "CausePath":
		e.causes = true
		e.replace(f.Pointer, strings.Replace(node.Text, read.path, "States.JsonToString("+read.object+")", 1))
		return true
	case field == "Parameters" && s.Task != nil && !strings.Contains(rest, "/"):
		e.except = append(e.except, trial.Member{Task: s.Name, Path: strings.TrimSuffix(rest, ".$")})
		e.replace(f.Pointer, strings.Replace(node.Text, read.path, "States.JsonToString("+read.object+")", 1))
		return true
	case (field == "Parameters" || field == "ResultSelector") && node.Text == read.path && !strings.Contains(rest, "/"):
		return e.addShape(s, f.Pointer, strings.TrimSuffix(rest, ".$"), read)
	default:
		return false
	}
}

func (e *absentEdit) replace(at, text string) {
	e.edits = append(e.edits, edit.Edit{Op: edit.Replace, At: at, Value: jsontree.Quote(text)})
}

// plainPath is an expression that is a path.
var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$[\w.$]+(?:\[\d+\][\w.]*)*$`) })

// addExpression lets an expression have a value in any case.
func (e *absentEdit) addExpression(at, text string) bool {
	e.expressions = true
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "{%"), "%}"))
	switch {
	case e.empty != "null" && plainPath().MatchString(text):
		text = "'' & " + text
	case e.empty != "null":
		text = "'' & (" + text + ")"
	case plainPath().MatchString(text):
		text = fmt.Sprintf("$exists(%s) ? %s : null", text, text)
	default:
		name := e.newVariable("value")
		text = fmt.Sprintf("($%s := %s; $exists($%s) ? $%s : null)", name, text, name, name)
	}
	e.replace(at, "{% "+text+" %}")
	return true
}

// addGuard looks whether a member is there before a rule compares it. place is that of the
// path in the rules.
func (e *absentEdit) addGuard(rules, place string) bool {
	steps := strings.Split(place, "/")
	path := nodeAt(e.root, rules+"/"+place)
	if steps[len(steps)-1] != "Variable" {
		return false
	}
	present := value("Variable", path.Text, "IsPresent", true)
	for n := len(steps) - 2; n > 0; n-- { // in an And, behind what else it asks for
		if steps[n] == "And" {
			at := rules + "/" + strings.Join(steps[:n+2], "/")
			if made := (edit.Edit{Op: edit.Before, At: at, Value: present}); !slices.ContainsFunc(e.edits, func(old edit.Edit) bool { return string(old.Value) == string(present) && old.At[:strings.LastIndex(old.At, "/")] == at[:strings.LastIndex(at, "/")] }) {
				e.edits = append(e.edits, made)
			}
			return true
		}
	}
	at := rules + "/" + steps[0]
	var compared, others []any
	for _, m := range nodeAt(e.root, at).Members {
		switch m.Name {
		case "Next", "Assign", "Comment":
			others = append(others, m.Name, m.Value.Raw())
		default:
			compared = append(compared, m.Name, m.Value.Raw())
		}
	}
	both := json.RawMessage("[" + string(present) + ", " + string(value(compared...)) + "]")
	e.edits = append(e.edits, edit.Edit{Op: edit.Replace, At: at, Value: value(append([]any{"And", both}, others...)...)})
	return true
}

// absentRead is a path to a member that may not be there.
type absentRead struct {
	path   string
	object string // the path of what has the member
	rest   string // the member, and what is read in it
}

var pathInText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[\w.$]*(?:\[\d+\][\w.]*)*`) })

// findRead finds the path to a member in a text.
func findRead(text, member string) (absentRead, bool) {
	for _, path := range pathInText().FindAllString(text, -1) {
		steps := strings.Split(path, ".")
		for i := len(steps) - 1; i > 0; i-- {
			if steps[i] == member {
				return absentRead{path: path, object: strings.Join(steps[:i], "."), rest: strings.Join(steps[i:], ".")}, true
			}
		}
	}
	return absentRead{}, false
}

// addShape selects the object that has the member, with an empty text where it has not.
func (e *absentEdit) addShape(s *asl.State, at, name string, read absentRead) bool {
	data := "$."
	if path := nodeAt(e.root, s.Position.Pointer).Get("ResultPath"); path != nil {
		if path.Kind != jsontree.String {
			return false
		}
		data = strings.TrimSuffix(path.Text, ".") + "."
	}
	i := slices.IndexFunc(e.shapes, func(known *shape) bool { return known.object == read.object && known.data == data })
	if i >= 0 {
		e.edits = append(e.edits, edit.Edit{Op: edit.Remove, At: at})
	} else {
		i = len(e.shapes)
		members := nodeAt(e.root, at[:strings.LastIndex(at, "/")])
		e.shapes = append(e.shapes, &shape{object: read.object, data: data, name: freeName(members, read.object)})
		e.edits = append(e.edits, edit.Edit{Op: edit.Rename, At: at, Name: e.shapes[i].name + ".$"}, edit.Edit{Op: edit.Replace, At: at})
	}
	known := e.shapes[i]
	known.members, known.rests = append(known.members, name), append(known.rests, read.rest)
	for _, changed := range []string{name, known.name} {
		e.except = append(e.except, trial.Member{Path: strings.TrimPrefix(data+changed, "$.")})
	}
	return true
}

// freeName is the name of an object's path that no other member has: "status" of
// "$.QueryExecution.Status".
func freeName(members *jsontree.Node, path string) string {
	name := strings.Trim(path[strings.LastIndex(path, ".")+1:], "$[]0123456789")
	if name == "" {
		name = "answer"
	}
	name = strings.ToLower(name[:1]) + name[1:]
	free := name
	for n := 2; members.Get(free) != nil || members.Get(free+".$") != nil; n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

// addShapes writes the objects, and reads their members where the old ones are read.
func (e *absentEdit) addShapes() {
	if e.shapes == nil {
		return
	}
	n := 0
	for i, made := range e.edits {
		if made.Op == edit.Replace && made.Value == nil {
			known := e.shapes[n]
			n++
			var empty []any
			for _, rest := range known.rests {
				steps := strings.Split(rest, ".")
				inner := any("")
				for _, name := range slices.Backward(steps[1:]) {
					inner = map[string]any{name: inner}
				}
				empty = append(empty, steps[0], inner)
			}
			e.edits[i].Value = jsontree.Quote(fmt.Sprintf("States.JsonMerge(States.StringToJson('%s'), %s, false)", strings.ReplaceAll(string(value(empty...)), ": ", ":"), known.object))
		}
	}
	e.rename(e.root, "")
}

// rename reads the new members wherever a path leads to the old ones.
func (e *absentEdit) rename(n *jsontree.Node, name string) {
	for _, m := range n.Members {
		e.rename(m.Value, m.Name)
	}
	for _, item := range n.Items {
		e.rename(item, name)
	}
	isPath := strings.HasSuffix(name, ".$") || strings.HasSuffix(name, "Path") || name == "Variable"
	if n.Kind != jsontree.String || !isPath {
		return
	}
	text := n.Text
	for _, s := range e.shapes {
		for i, old := range s.members {
			text = replacePath(text, s.data+old, s.data+s.name+"."+s.rests[i])
		}
	}
	at := n.Pointer()
	if text != n.Text && !slices.ContainsFunc(e.edits, func(made edit.Edit) bool { return made.At == at }) {
		e.replace(at, text)
	}
}

// replacePath writes another path in the place of one, and of what it begins.
func replacePath(text, old, path string) string {
	return pathInText().ReplaceAllStringFunc(text, func(found string) string {
		rest, ok := strings.CutPrefix(found, old)
		if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
			return found
		}
		return path + rest
	})
}
