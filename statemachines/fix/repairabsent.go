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
func (c *checked) readAbsent(f lint.Finding) []candidate {
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
		for i, empty := range []string{nothing, emptyText, otherText} {
			e := &absentEdit{checked: c, empty: empty, offered: empty == otherText, questions: map[string]string{}}
			one, ok := e.candidate(group)
			refused := c.options.Types.SendsText() // an empty text, by a service
			if refused && (empty == emptyText || e.shapes != nil && empty == nothing) {
				continue
			}
			if ok && (i == 0 || e.expressions || refused && e.shapes != nil) {
				found = append(found, one)
			}
		}
	}
	return found
}

// What an expression gives without the member. A service may refuse an empty text, and what people
// read in its place is theirs to say.
const (
	nothing   = "null"
	emptyText = "''"
	otherText = "text"
)

// absentEdit makes the edits for members that may not be there.
type absentEdit struct {
	*checked

	empty       string // what an expression gives without the member
	expressions bool   // that there is one
	members     []string
	offered     bool
	also        []string // what else differs
	edits       []edit.Edit
	shapes      []*shape
	except      []trial.Member
	causes      bool              // that a Fail says something else
	asks        bool              // an expression of a Choice asks for a member
	questions   map[string]string // the paths that Choices ask for, by the places of the edits
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
func (e *absentEdit) candidate(findings []lint.Finding) (candidate, bool) {
	for _, f := range findings {
		path := f.Subjects[0]
		if !slices.Contains(e.members, path) {
			e.members = append(e.members, path)
		}
		if !e.add(f, path[strings.LastIndex(path, ".")+1:]) {
			return candidate{}, false
		}
	}
	e.addShapes()
	one := candidate{
		about: "an answer without " + strings.Join(e.members, ", "), edits: e.edits, class: Sure, excuses: isExcused, except: e.except,
		goesOn: true, missing: true, asks: len(e.questions) > 0 || e.asks, mended: e.isMended, past: e.breaksBehind, also: strings.Join(e.also, "; "),
	}
	if e.offered {
		one.class = Offered
	}
	if e.causes {
		one.excuses = func(r *trial.Run) bool {
			return isExcused(r) || len(r.Differences) == 1 && r.Differences[0].What == trial.Cause
		}
	}
	return one, true
}

// isMended tells whether a run ends as it should: it breaks only if it did, by an answer that
// lacks another member, such as the status.
func (e *absentEdit) isMended(r *trial.Run) bool {
	return !r.After.IsBroken() || r.Before.IsBroken() && (e.breaksBehind(r) || slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool {
		if k.Sort != trial.Status || k.Value == "" {
			return k.Sort == trial.Status
		}
		return slices.ContainsFunc(strings.Split(k.Value, ", "), func(member string) bool {
			path, lacks := strings.CutSuffix(member, " absent")
			return lacks && !slices.Contains(e.members, path)
		})
	}))
}

// breaksBehind tells whether a run that broke goes on now, and breaks where none of the
// members is read.
func (e *absentEdit) breaksBehind(r *trial.Run) bool {
	return slices.ContainsFunc(r.Differences, func(d trial.Difference) bool {
		return readsNothing().MatchString(d.After) && !slices.ContainsFunc(e.members, func(member string) bool {
			return strings.Contains(d.After, member[strings.LastIndex(member, ".")+1:])
		})
	})
}

// readsNothing is the cause of a state that reads what is not there.
var readsNothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`could not be found in the input|references an invalid value|returned nothing`)
})

// add adds the edits for a finding.
func (e *absentEdit) add(f lint.Finding, member string) bool {
	s, node := e.stateAt(f), nodeAt(e.root, f.Pointer)
	place := strings.TrimPrefix(f.Pointer, s.Position.Pointer+"/")
	field, rest, _ := strings.Cut(place, "/")
	switch {
	case condition().MatchString(place):
		return e.addQuestion(f.Pointer, node.Text, member)
	case field == "Arguments":
		return e.addArgument(s, f.Pointer, rest, member)
	case s.QueryLanguage == asl.JSONata:
		return e.addExpression(f.Pointer, node.Text)
	case field == "Choices":
		return e.addGuard(s.Position.Pointer+"/Choices", rest)
	}
	e.offered = true
	switch read, ok := findRead(node.Text, member); {
	case !ok:
		return false
	case field == "CausePath":
		e.causes = true
		e.tellAll(f.Pointer, node.Text, read)
		return true
	case field == "Parameters" && s.Task != nil:
		e.except = append(e.except, trial.Member{Task: s.Name, Path: strings.ReplaceAll(strings.TrimSuffix(rest, ".$"), "/", ".")})
		e.tellAll(f.Pointer, node.Text, read)
		return true
	case (field == "Parameters" || field == "ResultSelector") && node.Text == read.path && !strings.Contains(rest, "/"):
		return e.addShape(s, f.Pointer, strings.TrimSuffix(rest, ".$"), read)
	default:
		return false
	}
}

// condition is the place of the condition of a rule in its state.
var condition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Choices/\d+/Condition$`) })

// tellAll writes the object that has the member in the place of the member.
func (e *absentEdit) tellAll(at, text string, read absentRead) {
	e.also = append(e.also, fmt.Sprintf("%s has all of %s", strings.TrimSuffix(at[strings.LastIndex(at, "/")+1:], ".$"), read.object))
	e.replace(at, strings.Replace(text, read.path, "States.JsonToString("+read.object+")", 1))
}

func (e *absentEdit) replace(at, text string) {
	e.edits = append(e.edits, edit.Edit{Op: edit.Replace, At: at, Value: jsontree.Quote(text)})
}

// plainPath is an expression that is a path.
var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$[\w.$]+(?:\[\d+\][\w.]*)*$`) })

// addQuestion asks whether a member is there in front of a condition.
func (e *absentEdit) addQuestion(at, text, member string) bool {
	text = insideBraces(text)
	read, ok := findRead(text, member)
	if !ok {
		return false
	}
	if strings.ContainsAny(text, "?;") || regexp.MustCompile(`\b(?:and|or)\b`).MatchString(text) {
		text = "(" + text + ")"
	}
	e.asks = true
	e.replace(at, "{% $exists("+read.path+") and "+text+" %}")
	return true
}

// insideBraces is an expression without its braces.
func insideBraces(text string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "{%"), "%}"))
}

// addExpression lets an expression have a value in any case.
func (e *absentEdit) addExpression(at, text string) bool {
	e.expressions = true
	switch text = insideBraces(text); {
	case e.empty == emptyText && plainPath().MatchString(text):
		text = "'' & " + text
	case e.empty == emptyText:
		text = "'' & (" + text + ")"
	case plainPath().MatchString(text):
		text = fmt.Sprintf("$exists(%s) ? %s : %s", text, text, e.instead())
	default:
		name := e.newVariable("value")
		text = fmt.Sprintf("($%s := %s; $exists($%s) ? $%s : %s)", name, text, name, name, e.instead())
	}
	e.replace(at, "{% "+text+" %}")
	return true
}

// instead is what stands for the member that is not there: null, or a text that says so.
func (e *absentEdit) instead() string {
	if e.empty == nothing {
		return nothing
	}
	path := e.members[len(e.members)-1]
	return "'" + e.text(path[strings.LastIndex(path, ".")+1:]) + "'"
}

// text is what stands for a member in its place: an empty text, or one that says that it is missing.
func (e *absentEdit) text(member string) string {
	if e.empty != otherText {
		return ""
	}
	text := "no " + member
	if also := fmt.Sprintf("%q stands for it then", text); !slices.Contains(e.also, also) {
		e.also = append(e.also, also)
	}
	return text
}

// addGuard asks whether a member is there in front of each comparison of a Choice with it.
func (e *absentEdit) addGuard(choices, place string) bool {
	node := nodeAt(e.root, choices+"/"+place)
	if !strings.HasSuffix(place, "/Variable") && !strings.HasSuffix(place, "Path") { // as in an Assign
		return false
	}
	present := value("Variable", node.Text, "IsPresent", true)
	for i, rule := range nodeAt(e.root, choices).Items {
		for _, leaf := range leaves(rule) {
			if !slices.ContainsFunc(leaf.Members, func(m jsontree.Member) bool { return m.Value.Text == node.Text }) {
				continue
			}
			if leaf.Get("IsPresent") == nil {
				e.guard(fmt.Sprintf("%s/%d", choices, i), leaf.Pointer(), node.Text, present)
			}
			break // the rest of the rule stands behind it
		}
	}
	return true
}

// guard puts a condition in front of a comparison: into its And, or into a new one.
func (e *absentEdit) guard(rule, leaf, path string, present json.RawMessage) {
	made := edit.Edit{Op: edit.Before, Value: present}
	steps := strings.Split(strings.TrimPrefix(leaf, rule), "/")
	if i := slices.Index(steps, "And"); i > 0 {
		made.At = rule + strings.Join(steps[:i+2], "/")
	} else {
		var compared, others []any
		for _, m := range nodeAt(e.root, rule).Members {
			switch m.Name {
			case "Next", "Assign", "Comment":
				others = append(others, m.Name, m.Value.Raw())
			default:
				compared = append(compared, m.Name, m.Value.Raw())
			}
		}
		both := json.RawMessage("[" + string(present) + ", " + string(value(compared...)) + "]")
		made = edit.Edit{Op: edit.Replace, At: rule, Value: value(append([]any{"And", both}, others...)...)}
	}
	if !slices.ContainsFunc(e.edits, func(old edit.Edit) bool { return old.At == made.At }) {
		e.edits = append(e.edits, made)
		e.questions[made.At] = path
	}
}

// absentRead is a path to a member that may not be there.
type absentRead struct {
	path   string
	object string // the path of the object that has the member
	rest   string // the member, and what is read in it
}

var pathInText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\$?\w*(?:\.\w+|\[\d+\])*`) })

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
	e.also = append(e.also, fmt.Sprintf("%s%s becomes %s%s.%s", data, name, data, known.name, read.rest))
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
			for i, rest := range known.rests {
				steps := strings.Split(rest, ".")
				inner := e.emptyOf(known.data + known.members[i])
				for _, name := range slices.Backward(steps[1:]) {
					inner = map[string]any{name: inner}
				}
				empty = append(empty, steps[0], inner)
			}
			defaults := strings.ReplaceAll(string(value(empty...)), ": ", ":")
			e.edits[i].Value = jsontree.Quote(fmt.Sprintf("States.JsonMerge(States.StringToJson('%s'), %s, false)", defaults, known.object))
		}
	}
	eachPath(e.root, "", e.rename)
	// What reads a member that has a default needs no question, and reads it elsewhere.
	e.edits = slices.DeleteFunc(e.edits, func(made edit.Edit) bool {
		return e.questions[made.At] != "" && e.renamed(e.questions[made.At]) != e.questions[made.At]
	})
	for i, made := range e.edits {
		if text, ok := unquote(made.Value); ok && made.Op == edit.Replace {
			e.edits[i].Value = jsontree.Quote(e.renamed(text))
		}
	}
}

// emptyOf is what stands for a member that is not there: an object of empty texts where
// members of it are read.
func (e *absentEdit) emptyOf(path string) any {
	var empty any
	eachPath(e.root, "", func(n *jsontree.Node) {
		for _, found := range pathInText().FindAllString(n.Text, -1) {
			below, ok := strings.CutPrefix(found, path+".")
			if !ok || strings.Contains(below, "[") {
				continue
			}
			at, isObject := empty.(map[string]any)
			if !isObject {
				at = map[string]any{}
				empty = at
			}
			steps := strings.Split(below, ".")
			for _, name := range steps[:len(steps)-1] {
				inner, isObject := at[name].(map[string]any)
				if !isObject {
					inner = map[string]any{}
					at[name] = inner
				}
				at = inner
			}
			if last := steps[len(steps)-1]; at[last] == nil {
				at[last] = e.text(last)
			}
		}
	})
	if empty == nil {
		return e.text(path[strings.LastIndex(path, ".")+1:])
	}
	return empty
}

// eachPath calls f for each text that is, or has, a path.
func eachPath(n *jsontree.Node, name string, f func(n *jsontree.Node)) {
	for _, m := range n.Members {
		eachPath(m.Value, m.Name, f)
	}
	for _, item := range n.Items {
		eachPath(item, name, f)
	}
	if n.Kind == jsontree.String && (strings.HasSuffix(name, ".$") || strings.HasSuffix(name, "Path") || name == "Variable") {
		f(n)
	}
}

// rename reads the new members where a path leads to the old ones.
func (e *absentEdit) rename(n *jsontree.Node) {
	at := n.Pointer()
	if e.renamed(n.Text) != n.Text && !slices.ContainsFunc(e.edits, func(made edit.Edit) bool { return made.At == at }) {
		e.replace(at, n.Text)
	}
}

// renamed is a text with the new members in the place of the old ones.
func (e *absentEdit) renamed(text string) string {
	for _, s := range e.shapes {
		for i, old := range s.members {
			text = replacePath(text, s.data+old, s.data+s.name+"."+s.rests[i])
		}
	}
	return text
}

// unquote is a value that is a text.
func unquote(value json.RawMessage) (text string, ok bool) {
	return text, json.Unmarshal(value, &text) == nil
}

// replacePath replaces a path in a text, also where members of it are read.
func replacePath(text, old, path string) string {
	return pathInText().ReplaceAllStringFunc(text, func(found string) string {
		rest, ok := strings.CutPrefix(found, old)
		if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
			return found
		}
		return path + rest
	})
}
