package typecheck

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// call reports what is wrong with the arguments of a Task.
func (x *scene) call() {
	name, t := x.arguments()
	if t == nil {
		return
	}
	value := x.template(t, x.at(name))
	api := x.c.apis[x.state.Task.Resource]
	if api != nil && api.noSuch != nil {
		x.reportOperation(api.noSuch)
	}
	if api == nil || api.spelling == nil || value.kinds() != objects {
		return
	}
	c := callCheck{api: api, operation: operationOf(x.state.Task.Resource), report: func(m misfit, where spot) {
		p := x.problem(where.at, "%s", m.message)
		p.Suggestion = m.suggestion
		x.reportText(m.rule, p, m.word)
	}}
	c.arguments(value, spot{t, x.at(name), false})
}

// reportOperation reports a Task that calls what its service does not have.
func (x *scene) reportOperation(service *catalog.Service) {
	action := asl.ParseResource(x.state.Task.Resource).Action
	var names []string
	for name := range service.Operations {
		names = append(names, javasdk.Uncapitalize(name))
	}
	slices.Sort(names)
	p := x.problem(x.at("Resource"), "%s has no operation %q", service.Name, action)
	x.report(UnknownOperation, diag.Danger, p.Suggest(action, nearest.Names(action, names)...))
}

// operationOf is what a Task calls, for people.
func operationOf(resource string) string {
	r := asl.ParseResource(resource)
	return r.ServiceName() + ":" + r.Action
}

// spot is where an argument stands in the definition.
type spot struct {
	t     *asl.Template // nil: within a literal, or computed
	at    string
	fixed bool // the parts have no place of their own
}

// member is where a member stands.
func (s spot) member(name string) spot {
	switch {
	case s.fixed:
		return s
	case s.t == nil || s.t.Kind == asl.TemplateLiteral:
		return spot{at: s.at + pointer(name)}
	case s.t.Kind == asl.TemplateObject:
		for _, m := range s.t.Object {
			if m.Name == name {
				return spot{t: m.Value, at: s.at + pointer(m.Field)}
			}
		}
	}
	return spot{at: s.at, fixed: true}
}

// item is where an element stands.
func (s spot) item(i int) spot {
	switch {
	case s.fixed:
		return s
	case s.t == nil || s.t.Kind == asl.TemplateLiteral:
		return spot{at: s.at + pointer(strconv.Itoa(i))}
	case s.t.Kind == asl.TemplateArray && i < len(s.t.Array):
		return spot{t: s.t.Array[i], at: s.at + pointer(strconv.Itoa(i))}
	}
	return spot{at: s.at, fixed: true}
}

// misfit is what is wrong with an argument.
type misfit struct {
	rule, message, word, suggestion string
	limit                           bool // that a value is beyond
}

// callCheck checks arguments against the model of an operation.
type callCheck struct {
	api       *API
	operation string // for people
	report    func(m misfit, where spot)
}

// add reports what is wrong, with the one of the candidates that the word is near.
func (c *callCheck) add(rule string, where spot, message, word string, candidates []string) misfit {
	m := misfit{rule: rule, message: message, word: word, suggestion: nearest.Word(word, candidates), limit: rule == EnumValue && len(candidates) == 0}
	c.report(m, where)
	return m
}

// arguments checks all arguments of a call.
func (c *callCheck) arguments(v Value, where spot) {
	switch {
	case c.api.takesNothing:
		for _, f := range v.record().fieldsOf() {
			c.add(UnknownArgument, where.member(f.name), c.operation+" takes no arguments", f.name, nil)
		}
	case c.api.Input != nil:
		c.members(v, c.api.Input, where)
	}
}

// members checks an object against a structure.
func (c *callCheck) members(v Value, s *catalog.Shape, where spot) {
	r := v.record()
	if r == nil || r.shape != nil { // of another service
		return
	}
	given := map[*catalog.Member]bool{} // or meant by a name that is not known
	for _, f := range r.fields {
		m := c.api.spelling.member(s, f.name)
		switch {
		case f.value.kinds() == missing:
		case m == nil:
			if f.value.may(missing) {
				continue
			}
			names := make([]string, len(s.Members))
			for i := range s.Members {
				names[i] = c.api.spelling.name(&s.Members[i])
			}
			text := fmt.Sprintf("%s has no argument %q", c.subject(s), f.name)
			meant := c.add(UnknownArgument, where.member(f.name), text, f.name, names).suggestion
			given[c.api.spelling.member(s, meant)] = true
		default:
			given[m] = true
			switch needed := isNeeded(s, m); {
			case needed && f.value.kinds() == null:
				c.add(MissingArgument, where.member(f.name), fmt.Sprintf("%s needs the argument %q, found null", c.subject(s), f.name), "", nil)
			case !slices.Contains(c.api.spelling.open, f.name):
				c.value(f.name, f.value, m.Shape, where.member(f.name))
			}
		}
	}
	if r.rest.kinds() != missing {
		return
	}
	for i := range s.Members {
		if m := &s.Members[i]; m.Required && !m.Token && !given[m] {
			c.add(MissingArgument, where, fmt.Sprintf("%s needs the argument %q", c.subject(s), c.api.spelling.name(m)), "", nil)
		}
	}
}

// subject is what has arguments: the operation, or a structure of its input.
func (c *callCheck) subject(s *catalog.Shape) string {
	if s == c.api.Input {
		return c.operation
	}
	return s.Name
}

// kindsOf are the types of JSON that stand for a shape in arguments.
func kindsOf(s *catalog.Shape) kinds {
	switch kindOf(s) {
	case text:
		return texts
	case number:
		return numbers | texts
	case boolean:
		return booleans | texts
	case array:
		return arrays
	case object:
		return objects
	default:
		return every
	}
}

// value checks the argument of that name.
func (c *callCheck) value(name string, v Value, s *catalog.Shape, where spot) {
	known := v.without(missing | null)
	v.demandShape(s)
	if known.IsNothing() || v.IsUnknown() {
		return
	}
	if known.kinds() == texts && s.Name == "AttributeValue" && !c.api.spelling.sdk {
		return
	}
	if !known.may(kindsOf(s)) || isNoNumber(known, s) {
		c.add(ArgumentType, where, fmt.Sprintf("%q must be %s, found %s", name, argumentNames[kindOf(s)], known), "", nil)
		return
	}
	if problem := outside(name, known, s); problem != "" {
		word := ""
		if words, ok := known.Literals(); ok && len(words) == 1 {
			word = words[0]
		}
		c.add(EnumValue, where, problem, word, s.Enum)
		return
	}
	switch s.Type {
	case catalog.Structure, catalog.Union:
		if known.kinds() == objects {
			c.members(known, s, where)
		}
	case catalog.List:
		if l := known.list(); l != nil && l.shape == nil {
			for i, item := range l.items {
				c.value(name, item, s.Element.Shape, where.item(i))
			}
		}
	case catalog.Map:
		if r := known.record(); r != nil && r.shape == nil {
			for _, f := range r.fields {
				c.value(f.name, f.value, s.Element.Shape, where.member(f.name))
			}
		}
	default: // has no parts
	}
}

// argumentNames are the types of arguments, for people.
var argumentNames = map[kind]string{
	text: "a string", number: "a number", boolean: "a boolean", array: "an array", object: "an object",
}

// isNoNumber tells whether a text stands for a number and is none.
func isNoNumber(v Value, s *catalog.Shape) bool {
	words, ok := v.Literals()
	if !ok || kindOf(s) != number {
		return false
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		_, err := strconv.ParseFloat(word, 64)
		return err == nil
	})
}

// outside says what is wrong with a literal outside of the enum or the limits of
// its shape.
func outside(name string, v Value, s *catalog.Shape) string {
	words, ok := v.Literals()
	if ok && s.Type == catalog.String {
		if len(s.Enum) > 0 {
			if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(s.Enum, word) }) {
				return ""
			}
			return s.Name + " is never " + strconv.Quote(words[0])
		}
		if len(words) == 1 {
			return beyond(strconv.Quote(name), "characters", float64(utf8.RuneCountInString(words[0])), s)
		}
		return ""
	}
	if l := v.list(); l != nil && v.kinds() == arrays && s.Type == catalog.List && l.others().kinds() == missing {
		sure := 0
		for _, item := range l.items {
			if !item.may(missing) {
				sure++
			}
		}
		if sure == len(l.items) {
			return beyond(strconv.Quote(name), "elements", float64(sure), s)
		}
	}
	if v.kinds() == numbers && kindOf(s) == number && len(v.set.number) == 1 {
		return beyond(strconv.Quote(name), "", v.set.number[0], s)
	}
	return ""
}

// beyond says what is wrong with a size beyond the bounds of a shape.
func beyond(name, of string, size float64, s *catalog.Shape) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	verb, unit := "is", ""
	if of != "" {
		verb, unit = "has", " "+of
	}
	if least, ok := bound(s.Min); ok && size < least {
		return name + " " + verb + " at least " + number(least) + unit + ", found " + number(size)
	}
	if most, ok := bound(s.Max); ok && size > most {
		return name + " " + verb + " at most " + number(most) + unit + ", found " + number(size)
	}
	return ""
}
