package typecheck

import (
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Env is what is known where a state is entered.
type Env struct {
	Input Value
	vars  Value
	clock Clock
}

// Variable is the value of a variable, which may be missing.
func (e Env) Variable(name string) Value { return e.vars.record().get(name) }

// Narrow is the environment if the member at a path of a variable, as of [Narrow], is the string. The variable
// without a name is the input.
func (e Env) Narrow(variable string, path []string, literal string) Env {
	if variable == "" {
		e.Input = Narrow(e.Input, path, literal)
		return e
	}
	e.vars = Narrow(e.vars, append([]string{variable}, path...), literal)
	return e
}

// WithItems is the environment if the array at a path of a variable, as of [Narrow], has so many elements. The variable
// without a name is the input.
func (e Env) WithItems(variable string, path []string, count int) Env {
	asItIs := func(_ int, item Value) Value { return item }
	if variable == "" {
		e.Input = WithItems(e.Input, path, count, asItIs)
		return e
	}
	e.vars = WithItems(e.vars, append([]string{variable}, path...), count, asItIs)
	return e
}

// IsReachable tells whether the state can be entered at all.
func (e Env) IsReachable() bool { return !e.Input.IsNothing() && !e.vars.IsNothing() }

// Equal tells whether the same is known.
func (e Env) Equal(o Env) bool { return equal(e.Input, o.Input) && equal(e.vars, o.vars) }

// Widen returns the environment of any later lap of a loop, by those of one lap and the next:
// a number or string that differs in the two may be any.
func (e Env) Widen(next Env) Env {
	j := joiner{steps: maxSteps, widen: 1}
	return Env{j.join(e.Input, next.Input), j.join(e.vars, next.vars), e.clock}
}

// Way is a way out of a state: to another, or to the end of its flow. Then Env.Input
// is the output of the flow, and the Transition is empty but for its kind.
type Way struct {
	asl.Transition

	End bool
	Env Env
	// Fails tells, of Try, that the state fails instead, and Raises that it does so by an expression
	// that raises an error, not by one that gives nothing. Failing is the JSON pointer of the field.
	Fails, Raises bool
	Failing       string
}

// Step returns the ways out that a state can take from an environment. result is
// that of its Task, Parallel or Map: see Result.
func (c *Checker) Step(s *asl.State, in Env, result Value) []Way {
	return c.step(s, in, result, false)
}

// Try returns what Step does, and notes the ways on which a field selects nothing, by which
// the state fails.
func (c *Checker) Try(s *asl.State, in Env, result Value) []Way {
	if !in.IsReachable() {
		return nil
	}
	x, lacks, throws, failing := c.newScene(s, in, false), false, false, ""
	x.lacks, x.throws, x.failing = &lacks, &throws, &failing
	if s.Task != nil {
		doc := x.inputPath()
		name, template := x.arguments()
		x.with(doc).templateOr(template, doc, name)
	}
	ways := x.step(result)
	for i := range ways {
		ways[i].Fails = ways[i].Fails || lacks && s.Choice == nil && ways[i].Kind != asl.TransitionCatch
		if ways[i].Fails {
			ways[i].Raises, ways[i].Failing = throws, failing
		}
	}
	return ways
}

// Raises tells whether what a Task computes of a result may raise an error by itself, by
// a call of $error. Then Step has the ways without it.
func (c *Checker) Raises(s *asl.State, in Env, result Value) bool {
	x, raised := c.newScene(s, in, false), false
	x.raised = &raised
	if s.Task != nil && in.IsReachable() {
		x.work(result)
	}
	return raised
}

// FailsRule tells whether a rule of a Choice fails for whatever the rules before it do not take: it compares what is
// never there.
func (c *Checker) FailsRule(s *asl.State, in Env) bool {
	if !in.IsReachable() {
		return false
	}
	x, lacks := c.newScene(s, in, false), false
	x.lacks = &lacks
	doc := x.inputPath()
	if doc.IsNothing() {
		return false
	}
	x = x.with(doc)
	for i := 0; i < len(s.Choice.Rules) && !lacks && !x.isDead(); i++ {
		_, x.scope = x.testRule(&s.Choice.Rules[i], x.at("Choices", strconv.Itoa(i)))
	}
	return lacks
}

func (c *Checker) step(s *asl.State, in Env, result Value, reports bool) []Way {
	if !in.IsReachable() {
		return nil
	}
	return c.newScene(s, in, reports).step(result)
}

// step returns the ways out of the state. result is as of Step.
func (x *scene) step(result Value) []Way {
	s := x.state
	switch s.Type {
	case asl.TypeTask, asl.TypeParallel, asl.TypeMap:
		ways := x.work(result)
		if s == x.c.task {
			return ways
		}
		caught := *x
		caught.lacks, caught.throws, caught.failing = nil, nil, nil
		return append(ways, caught.catch()...)
	case asl.TypePass:
		return x.pass()
	case asl.TypeWait:
		doc := x.inputPath()
		x.with(doc).checkScalars(numbers, s.Wait.Seconds)
		x.with(doc).checkScalars(texts, s.Wait.Timestamp)
		return x.with(doc).leave(doc, s.Assign, s.Output, x.next(), x.at())
	case asl.TypeChoice:
		return x.choose()
	case asl.TypeSucceed:
		doc := x.inputPath()
		return x.with(doc).leave(doc, nil, s.Output, Way{End: true}, x.at())
	case asl.TypeFail:
		x.checkScalars(texts, s.Fail.Error, s.Fail.Cause)
	}
	return nil
}

// isJSONata tells whether the state is in JSONata mode.
func (x *scene) isJSONata() bool { return x.state.QueryLanguage == asl.JSONata }

// next is the way of Next or End.
func (x *scene) next() Way {
	if x.state.Next == "" {
		return Way{End: true}
	}
	return Way{Transition: asl.Transition{To: x.state.Next}}
}

// inputPath is the input after InputPath.
func (x *scene) inputPath() Value { return x.selectPath(x.state.InputPath, x.doc, "InputPath") }

// selectPath applies InputPath or OutputPath.
func (x *scene) selectPath(path *jsonpath.Path, from Value, name string) Value {
	switch {
	case x.isJSONata():
		return from
	case path == nil:
		return objectOf(newObject(nil))
	default:
		return x.with(from).read(path, x.at(name))
	}
}

// leave is the way out of a state whose output is given, unless Output says
// another. The scene's document is what Assign and Output read, which are below a
// place.
func (x *scene) leave(output Value, assign, template *asl.Template, way Way, at string) []Way {
	vars := x.assign(assign, at)
	if x.isJSONata() {
		if template != nil {
			output = x.template(template, x.below(at, "Output"))
		}
	} else {
		output = x.selectPath(x.state.OutputPath, output, "OutputPath")
	}
	return x.exit(way, output, vars)
}

// exit is the way out, if it can be taken.
func (x *scene) exit(way Way, output, vars Value) []Way {
	way.Env = Env{output.without(missing), vars, x.clock}
	if !way.Env.IsReachable() {
		return nil
	}
	return []Way{way}
}

// assign is the variables after Assign, which is below a place.
func (x *scene) assign(t *asl.Template, at string) Value {
	if t == nil {
		return x.vars
	}
	value := x.template(t, x.below(at, "Assign"))
	if value.IsNothing() {
		return value
	}
	vars := x.vars.record()
	for _, f := range value.record().fieldsOf() {
		vars = vars.with(f.name, f.value.without(missing))
	}
	return objectOf(vars)
}

// fieldsOf are the members that are known by their names.
func (r *record) fieldsOf() []field {
	if r == nil {
		return nil
	}
	return r.fields
}

// checkScalars reports what is wrong with the computed scalars of a state, which are
// of one type.
func (x *scene) checkScalars(takes kinds, scalars ...*asl.Scalar) {
	if !x.reports && x.lacks == nil {
		return
	}
	for _, s := range scalars {
		if s != nil {
			x.checkScalar(takes, s, x.at(s.Field))
		}
	}
}

// scalar is what a computed scalar gives.
func (x *scene) scalar(s *asl.Scalar, at string) Value {
	switch {
	case s.Path != nil:
		return x.read(s.Path, at)
	case s.Intrinsic != nil:
		return x.intrinsic(s.Intrinsic, at)
	case s.Expression != nil:
		return x.expression(s.Expression, at)
	default:
		return Value{}
	}
}

// checkScalar reports what is wrong with a computed scalar.
func (x *scene) checkScalar(takes kinds, s *asl.Scalar, at string) {
	value := x.scalar(s, at)
	value.demandKinds(takes)
	if x.state.Wait != nil {
		value.demand(func(d *Demand) { d.waits = true })
	}
	if s.Field == "Timestamp" || s.Field == "TimestampPath" {
		value.demandTime()
	}
	x.checkKind(s.Field, value, takes, at)
}

// checkKind reports a field, which stands at a place, whose value is never of the types
// that it takes.
func (x *scene) checkKind(field string, value Value, takes kinds, at string) {
	if found := value.without(missing | null); x.reports && !found.IsNothing() && !found.may(takes) {
		x.report(ArgumentType, diag.Danger, x.problem(at, "%q must be %s, found %s", field, ofKinds(takes), found))
	}
}

// pass is the ways out of a Pass.
func (x *scene) pass() []Way {
	s := x.state
	doc := x.inputPath()
	if x.isJSONata() {
		return x.leave(doc, s.Assign, s.Output, x.next(), x.at())
	}
	result := x.with(doc).templateOr(s.Parameters, doc, "Parameters")
	if s.Pass.HasResult {
		result = x.c.passResult(s)
	}
	return x.complete(result)
}

// passResult is the Result of a Pass.
func (c *Checker) passResult(s *asl.State) Value {
	return c.once(s, func() Value { return c.constant(s.Pass.Result) })
}

// work is the ways out of a state that succeeds with a result.
func (x *scene) work(result Value) []Way {
	s := x.state
	doc := x.inputPath()
	if doc.IsNothing() {
		return nil
	}
	here := x.with(doc)
	if x.reports {
		x.starts()
	}
	if s.Task != nil && x.reports {
		here.call()
		here.checkScalars(numbers, s.Task.TimeoutSeconds, s.Task.HeartbeatSeconds)
		if s.Task.Credentials != nil {
			here.template(s.Task.Credentials, x.at("Credentials"))
		}
	}
	if s.Map != nil && x.reports {
		here.checkMap()
	}
	if result.IsNothing() {
		return nil
	}
	if x.isJSONata() {
		x.result = result
		return x.leave(result, s.Assign, s.Output, x.next(), x.at())
	}
	return x.complete(x.with(result).templateOr(s.ResultSelector, result, "ResultSelector"))
}

// complete is the way out in JSONPath mode with a result after ResultSelector.
func (x *scene) complete(result Value) []Way {
	s := x.state
	if result.IsNothing() {
		return nil
	}
	vars := x.with(result).assign(s.Assign, x.at())
	output := x.resultPath(s.ResultPath, result)
	return x.exit(x.next(), x.selectPath(s.OutputPath, output, "OutputPath"), vars)
}

// resultPath is the state's input with the result in it.
func (x *scene) resultPath(path *jsonpath.Path, result Value) Value {
	switch {
	case path == nil:
		return x.doc
	case asl.IsPlaceholder(path):
		return Value{}
	default:
		return place(x.doc, x.c.stepsOf(path), result)
	}
}

// arguments is the field with what a Task or Parallel gets, and its name.
func (x *scene) arguments() (string, *asl.Template) {
	if x.isJSONata() {
		return "Arguments", x.state.Arguments
	}
	return "Parameters", x.state.Parameters
}

// catch is the ways out by catchers.
func (x *scene) catch() []Way {
	var out []Way
	for i, c := range x.state.Catch {
		way := Way{Transition: asl.Transition{To: c.Next, Kind: asl.TransitionCatch, Rule: i}}
		errorOutput := x.c.errorOutput
		at := x.at("Catch", strconv.Itoa(i))
		if x.isJSONata() {
			here := *x
			here.errorOutput = errorOutput
			out = append(out, here.leave(errorOutput, c.Assign, c.Output, way, at)...)
			continue
		}
		vars := x.with(errorOutput).assign(c.Assign, at)
		out = append(out, x.exit(way, x.resultPath(c.ResultPath, errorOutput), vars)...)
	}
	return out
}

// newErrorOutput is what a catcher gets.
func newErrorOutput() Value {
	text := ofKinds(texts | null)
	return objectOf(newObject([]field{{"Error", text}, {"Cause", text}}))
}

// choose is the ways out of a Choice. A rule is looked at where those before it do
// not hold.
func (x *scene) choose() []Way {
	s := x.state
	doc := x.inputPath()
	if doc.IsNothing() {
		return nil
	}
	first := x.with(doc)
	left := first.scope
	var out []Way
	for i := range s.Choice.Rules {
		rule := &s.Choice.Rules[i]
		at := x.at("Choices", strconv.Itoa(i))
		alone := deadScope()
		if x.reports && !x.c.absent {
			alone, _ = first.testRule(rule, at)
		}
		here := first.quiet()
		here.scope, here.reports = left, x.reports && x.c.absent
		yes, no := here.testRule(rule, at)
		if yes.isDead() {
			if !alone.isDead() {
				x.reportHidden(first.quiet(), i, alone, left.isDead())
			}
			continue
		}
		x.checkHidden(first, left, i)
		way := Way{Transition: asl.Transition{To: rule.Next, Kind: asl.TransitionRule, Rule: i}}
		here.scope, here.reports = yes, x.reports
		out = append(out, here.leaveBy(way, rule.Assign, rule.Output, at)...)
		left = no
	}
	if s.Choice.Default == "" || left.isDead() {
		return out
	}
	here := *first
	here.scope = left
	way := Way{Transition: asl.Transition{To: s.Choice.Default, Kind: asl.TransitionDefault}}
	return append(out, here.leaveBy(way, s.Assign, s.Output, x.at())...)
}

// leaveBy is a way out of a Choice. A field of its rule that selects nothing closes it alone.
func (x *scene) leaveBy(way Way, assign, output *asl.Template, at string) []Way {
	here := *x
	if x.lacks != nil {
		lacks := *x.lacks
		here.lacks = &lacks
	}
	ways := here.leave(x.doc, assign, output, way, at)
	for i := range ways {
		ways[i].Fails = here.lacks != nil && *here.lacks
	}
	return ways
}

// testRule is the test of the condition of a rule.
func (x *scene) testRule(rule *asl.ChoiceRule, at string) (yes, no scope) {
	if x.isDead() {
		return x.scope, x.scope
	}
	if rule.Expression != nil {
		return x.testScalar(rule.Expression, at+"/Condition")
	}
	return x.test(&rule.Condition, at)
}
