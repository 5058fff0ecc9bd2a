package typecheck

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// scope is what a condition may narrow: the document and the variables.
type scope struct {
	doc  Value // "$" in JSONPath mode, the state's input in JSONata mode
	vars Value // an object with the variables that have a value
}

// isDead tells whether the scope cannot be.
func (s scope) isDead() bool { return s.doc.IsNothing() || s.vars.IsNothing() }

// deadScope is that of what cannot be reached.
func deadScope() scope { return scope{Nothing(), Nothing()} }

func joinScopes(a, b scope) scope {
	switch {
	case a.isDead():
		return b
	case b.isDead():
		return a
	}
	return scope{join(a.doc, b.doc), join(a.vars, b.vars)}
}

// scene is what the fields of a state read: their scope, and what else there is at
// that point.
type scene struct {
	scope

	c     *Checker
	state *asl.State
	// result and errorOutput are those of $states, missing where there are none.
	result, errorOutput Value
	// item is the item of a Map, while its inputs are made; missing otherwise.
	item Value
	// reports tells that findings are wanted.
	reports bool
	// wordsOnly asks for the findings about texts that an enum never has, and for no others.
	wordsOnly bool
	// locals are the variables that a JSONata expression binds itself.
	locals []local
	// calls is how many functions of the expression call each other.
	calls int
	// excused is above 0 where an expression asks whether a value is there.
	excused int
	// negated tells that a condition stands in an odd number of negations.
	negated bool
	// text is where the JSONata expression stands that is read.
	text string
	// clock is when the state is entered.
	clock Clock
	// raised is set by a call of $error, if somebody asks.
	raised *bool
	// lacks is set where a field selects nothing, by which the state fails, if somebody asks, and
	// throws where an expression raises an error.
	lacks, throws *bool
	// failing is the place of the first such field.
	failing *string
}

func (c *Checker) newScene(s *asl.State, in Env, reports bool) *scene {
	return &scene{c: c, state: s, scope: scope{in.Input, in.vars}, result: absent, errorOutput: absent, item: absent, reports: reports, clock: in.clock}
}

// noteLack notes that a field of the state, at a place, selects nothing, by which the state fails.
func (x *scene) noteLack(at string) {
	if x.lacks != nil {
		*x.lacks = true
	}
	if x.failing != nil && *x.failing == "" {
		*x.failing = at
	}
}

// noteThrow notes that an expression of the state raises an error, by which the state fails.
func (x *scene) noteThrow(at string) {
	x.noteLack(at)
	if x.throws != nil {
		*x.throws = true
	}
}

// seeksLack tells whether somebody asks which fields select nothing.
func (x *scene) seeksLack() bool { return x.c.absent || x.lacks != nil }

// with is the scene with another document.
func (x *scene) with(doc Value) *scene {
	other := *x
	other.doc = doc
	return &other
}

// quiet is the scene without findings.
func (x *scene) quiet() *scene {
	other := *x
	other.reports = false
	return &other
}

// at is the JSON pointer of a field of the state.
func (x *scene) at(parts ...string) string { return x.below(x.state.Position.Pointer, parts...) }

// below is the JSON pointer of what is below another; empty if nobody will read it.
func (x *scene) below(at string, parts ...string) string {
	if !x.reports && x.failing == nil {
		return ""
	}
	return at + pointer(parts...)
}

// pointer is a JSON pointer of these names.
func pointer(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(escapePointer.Replace(part))
	}
	return b.String()
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// report adds a finding.
func (x *scene) report(rule string, severity diag.Severity, p diag.Problem) {
	if !x.reports || x.wordsOnly {
		return
	}
	p.Severity = severity
	x.c.add(Finding{Problem: p, Rule: rule})
}

// reportText reports what is wrong with a text: a comparison with it, or a name.
func (x *scene) reportText(rule string, p diag.Problem, text string) {
	if !x.reports || x.wordsOnly {
		return
	}
	p.Severity = diag.Danger
	x.c.add(Finding{Problem: p, Rule: rule, Word: text})
}

// reportWord reports a comparison with a text that an enum does not list.
func (x *scene) reportWord(p diag.Problem, word string, w words) {
	if !x.reports {
		return
	}
	p = suggestValue(p, word, w.list())
	p.Severity = diag.Danger
	x.c.add(Finding{Problem: p, Rule: EnumValue, Word: word, Enum: w.enum})
}

// problem is a problem at a JSON pointer.
func (x *scene) problem(at, format string, args ...any) diag.Problem {
	if !x.reports { // nobody will read it
		return diag.Problem{}
	}
	return x.c.machine.Problem(at, format, args...)
}

// variable is the value of a variable where it is read.
func (x *scene) variable(name, at string) Value {
	value := x.vars.record().get(name)
	if x.vars.IsNothing() {
		return Nothing()
	}
	if value.IsUnknown() {
		return value
	}
	if value.may(missing) && x.c.assigned[name] && x.excused == 0 {
		x.report(UnsetVariable, diag.Warning, x.problem(at, "the variable %q may have no value here: a way to %q does not assign it", "$"+name, x.state.Name))
	}
	if value = value.without(missing); value.IsNothing() {
		return Value{} // nothing assigns it: that is said elsewhere
	}
	return value
}

// read is what a path selects where it does not fail. A path that always fails is
// reported, and then nothing is known of its value.
func (x *scene) read(path *jsonpath.Path, at string) Value {
	return x.readElse(path, at, func(*stop) bool { return false })
}

// readInTemplate is what a path selects in a template, where an index past the end of an array gives null.
func (x *scene) readInTemplate(path *jsonpath.Path, at string) Value {
	steps := x.c.stepsOf(path)
	if len(steps) == 0 || !path.Definite() {
		return x.read(path, at)
	}
	last := len(steps) - 1
	if k := steps[last].Kind; k != jsonpath.StepIndex && k != jsonpath.StepFromEnd {
		return x.read(path, at)
	}
	value := x.readElse(path, at, func(s *stop) bool { return s.step == last && s.at.kinds() == arrays })
	return join(value, ofKinds(null))
}

// readElse is read, but for a path that always ends where isNull tells, which gives null.
func (x *scene) readElse(path *jsonpath.Path, at string, isNull func(*stop) bool) Value {
	if path == nil || asl.IsPlaceholder(path) {
		return Value{}
	}
	root := x.doc
	switch name := path.Variable(); {
	case path.Context():
		root = x.context()
	case name != "":
		root = x.variable(name, at)
	}
	if root.IsNothing() {
		return root
	}
	value, stopped := x.c.follow(root, path)
	if stopped == nil {
		return value
	}
	if isNull(stopped) {
		return ofKinds(null)
	}
	if !path.Definite() && x.seeksLack() {
		return value // an empty list, by which no state fails
	}
	x.noteLack(at)
	x.reportStop(path, stopped, at)
	return Value{}
}

// reportStop reports a path that leads nowhere.
func (x *scene) reportStop(path *jsonpath.Path, stopped *stop, at string) {
	if !x.reports {
		return
	}
	if x.c.absent {
		x.report(AbsentMember, diag.Danger, x.problem(at, "%s selects nothing", path))
		return
	}
	steps := x.c.stepsOf(path)
	whole := strings.TrimSuffix(path.String(), stepsText(steps))
	before := whole + strings.TrimSuffix(stepsText(steps), stepsText(steps[stopped.step:]))
	step := steps[stopped.step]
	if len(step.Names) != 1 {
		x.report(UnknownMember, diag.Danger, x.problem(at, "%s is %s, which has no element %s", before, kindsBesideNull(stopped.at), step.Text))
		return
	}
	x.reportMember(before, stopped.at, step.Names[0], at)
}

// kindsBesideNull is a value for people: that it may also be null says little.
func kindsBesideNull(v Value) string {
	if known := v.without(null); !known.IsNothing() {
		return known.String()
	}
	return v.String()
}

// reportMember reports a member that a value never has.
func (x *scene) reportMember(what string, value Value, name, at string) {
	if !x.reports {
		return
	}
	if !value.may(objects) {
		x.reportText(UnknownMember, x.problem(at, "%s is %s, which has no member %q", what, kindsBesideNull(value), name), name)
		return
	}
	r := value.record()
	if r.isStructure() {
		what += " (" + r.shape.Name + ")"
	}
	x.reportText(UnknownMember, x.problem(at, "%s has no member %q", what, name).Suggest(name, r.names()...), name)
}

// stepsText is the text of steps of a path.
func stepsText(steps []jsonpath.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.Text)
	}
	return b.String()
}
