package source

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// resolver puts in what a template says by functions such as Ref and Fn::Sub. What
// only AWS can fill in becomes a placeholder "${Name}".
type resolver struct {
	root *value
	// given returns a value of the user's.
	given      func(name string) (string, bool)
	made       map[*value]*value
	unresolved bool // references stay names: see Options.Unresolved
	// numbers tells that SAM resolves references to parameters, so that one of the type
	// Number is a number. CloudFormation makes it a string.
	numbers bool
	full    bool // a string grew beyond what a definition can have
	bytes   int  // of all strings that functions have put together
}

// noValue removes the member that has it.
const noValue = "AWS::NoValue"

var subForm = regexp.MustCompile(`\$\{([^}]*)\}`)

// intrinsic returns the name of the function that a value calls, in its long
// form, and what it is called with; an empty name for any other value.
func intrinsic(v *value) (name string, argument *value) {
	if v.tag != "" {
		plain := *v
		plain.tag = ""
		switch name = strings.TrimPrefix(v.tag, "!"); name {
		case "Ref", "Condition":
			return name, &plain
		default:
			return "Fn::" + name, &plain
		}
	}
	if len(v.members) == 1 {
		name = v.members[0].name.text
		if name == "Ref" || strings.HasPrefix(name, "Fn::") {
			return name, v.members[0].value
		}
	}
	return "", nil
}

// resolve returns the value without functions. Values share what they share in
// the file.
func (r *resolver) resolve(v *value) *value {
	if made := r.made[v]; made != nil {
		return made
	}
	made := r.replace(v)
	r.made[v] = made
	return made
}

func (r *resolver) replace(v *value) *value {
	if name, argument := intrinsic(v); name != "" {
		return r.call(v, name, argument)
	}
	if v.kind < jsontree.Array {
		return v
	}
	made := *v
	made.items, made.members = nil, nil
	for _, item := range v.items {
		if !removes(item) {
			made.items = append(made.items, r.resolve(item))
		}
	}
	for _, m := range v.members {
		if !removes(m.value) {
			made.members = append(made.members, member{m.name, r.resolve(m.value)})
		}
	}
	made.after = v.end()
	return &made
}

// removes tells whether the value takes away the member that has it.
func removes(v *value) bool {
	name, argument := intrinsic(v)
	text, _ := argument.literal()
	return name == "Ref" && text == noValue
}

func (r *resolver) call(v *value, name string, argument *value) *value {
	switch name {
	case "Ref":
		if text, ok := argument.literal(); ok {
			return r.reference(v, text)
		}
	case "Fn::GetAtt":
		return r.reference(v, strings.Join(words(argument), "."))
	case "Fn::Sub":
		return r.sub(v, argument)
	case "Fn::Join":
		return r.join(v, argument)
	case "Fn::FindInMap":
		if found, ok := r.inMap(argument); ok {
			return nameFunction(v, found)
		}
	case "Fn::If":
		if made := r.eitherOf(argument); made != nil {
			return nameFunction(v, made)
		}
	case "Fn::ToJsonString":
		if text, problems := render(r.resolve(argument)); problems == nil {
			return compose(v, text)
		}
	}
	return unknown(v, strings.Join(append([]string{name}, words(argument)...), "."))
}

// nameFunction returns a value with the function that gives it.
func nameFunction(function, v *value) *value {
	given := *v
	given.function = function
	return &given
}

// eitherOf returns the first object or array that a Fn::If may give: a part of the
// definition, which has to be right if the condition holds. Of other values either
// may be the one, so it returns nil.
func (r *resolver) eitherOf(argument *value) *value {
	for _, item := range argument.items {
		if made := r.resolve(item); made.kind >= jsontree.Array {
			return made
		}
	}
	return nil
}

// words are the plain texts that a function is called with.
func words(argument *value) []string {
	if text, ok := argument.literal(); ok {
		return []string{text}
	}
	var found []string
	for _, item := range argument.items {
		if text, ok := item.literal(); ok {
			found = append(found, text)
		}
	}
	return found
}

// reference returns what a name stands for, at the place of v.
func (r *resolver) reference(v *value, name string) *value {
	text, ok := r.lookup(name)
	if !ok {
		return unknown(v, name)
	}
	var w writer
	w.put(text, v.origin())
	made := compose(v, w.text(v.in.file))
	if kind, _ := r.root.get("Parameters").get(name).textOf("Type"); r.numbers && kind == "Number" && json.Valid([]byte(text)) {
		made.kind = jsontree.Number
	}
	return made
}

// lookup returns the value of a parameter or pseudo parameter, as far as it is
// known before a deployment: as the user gave it, or the default.
func (r *resolver) lookup(name string) (string, bool) {
	if text, ok := r.given(name); ok || r.unresolved {
		return text, ok
	}
	parameter := r.root.get("Parameters").get(name)
	kind, _ := parameter.textOf("Type")
	if kind != "String" && kind != "Number" { // a list, or the name of what has the value
		return "", false
	}
	text, ok := parameter.textOf("Default")
	return text, ok && text != "" // an empty one is there to be replaced
}

// sub puts values into a text.
func (r *resolver) sub(v, argument *value) *value {
	pattern, variables := argument, (*value)(nil)
	if argument.kind == jsontree.Array && len(argument.items) > 0 {
		pattern = argument.items[0]
		if len(argument.items) > 1 {
			variables = argument.items[1]
		}
	}
	if pattern.kind != jsontree.String || pattern.tag != "" {
		return unknown(v, "Fn::Sub")
	}
	chars := pattern.chars()
	var w writer
	from := 0
	for _, form := range subForm.FindAllSubmatchIndex(chars.bytes, -1) {
		w.copy(chars, from, form[0])
		from = form[1]
		name := strings.TrimSpace(string(chars.bytes[form[2]:form[3]]))
		switch text, ok := r.variable(variables, name); {
		case ok && r.grows(&w, len(text)):
			return unknown(v, "Fn::Sub")
		case ok:
			w.put(text, chars.origin(form[0]))
		case strings.HasPrefix(name, "!"):
			w.copy(chars, form[0], form[2])
			w.copy(chars, form[2]+len("!"), form[1])
		default:
			w.copy(chars, form[0], form[1])
		}
	}
	w.copy(chars, from, len(chars.bytes))
	return compose(v, w.text(v.in.file))
}

// variable returns what a name in a Fn::Sub stands for, if it is known.
func (r *resolver) variable(variables *value, name string) (string, bool) {
	variable := variables.get(name)
	if variable == nil {
		return r.lookup(name)
	}
	if text, ok := r.given(name); ok || r.unresolved {
		return text, ok
	}
	made := r.resolve(variable)
	text, ok := made.literal()
	return text, ok && !made.open
}

func (r *resolver) join(v, argument *value) *value {
	if argument.kind != jsontree.Array || len(argument.items) != 2 || argument.items[1].kind != jsontree.Array || argument.items[1].tag != "" {
		return unknown(v, "Fn::Join")
	}
	between, ok := argument.items[0].literal()
	if !ok {
		return unknown(v, "Fn::Join")
	}
	var w writer
	for i, item := range argument.items[1].items {
		part := r.resolve(item)
		if _, ok := part.literal(); !ok || r.grows(&w, len(part.text)) {
			return unknown(v, "Fn::Join")
		}
		if i > 0 {
			w.put(between, part.origin())
		}
		chars := part.chars()
		w.copy(chars, 0, len(chars.bytes))
	}
	return compose(v, w.text(v.in.file))
}

// grows tells whether a string becomes larger than any definition with so many bytes more,
// or all strings too large.
func (r *resolver) grows(w *writer, size int) bool {
	r.bytes += size
	r.full = r.full || len(w.out.bytes)+size > asl.MaxDefinitionBytes || r.bytes > maxComposed
	return r.full
}

// inMap returns a value of the template's Mappings.
func (r *resolver) inMap(argument *value) (*value, bool) {
	found := r.root.get("Mappings")
	if len(argument.items) != 3 {
		return nil, false
	}
	for _, item := range argument.items {
		made := r.resolve(item)
		text, ok := made.literal()
		if !ok || made.open {
			return nil, false
		}
		found = found.get(text)
	}
	_, ok := found.literal()
	return found, ok
}

// compose returns a string that was put together, at the place of v.
func compose(v *value, chars *text) *value {
	return &value{kind: jsontree.String, text: string(chars.bytes), parts: chars, in: v.in, start: v.start, after: v.end()}
}

var (
	notInName   = regexp.MustCompile(`[^A-Za-z0-9_.:-]+`)
	startOfName = regexp.MustCompile(`^[A-Za-z_]`)
)

// placeholderName makes the name of a placeholder from what stands there.
func placeholderName(text string) string {
	name := strings.Trim(notInName.ReplaceAllString(text, "-"), "-")
	if !startOfName.MatchString(name) {
		name = "_" + name
	}
	return name
}

// unknown returns a placeholder for what only AWS knows.
func unknown(v *value, name string) *value {
	var w writer
	w.put("${"+placeholderName(name)+"}", v.origin())
	made := compose(v, w.text(v.in.file))
	made.open = true
	return made
}
