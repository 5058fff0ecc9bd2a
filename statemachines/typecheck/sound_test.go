package typecheck_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// resources are what random machines call.
var resources = []string{
	"arn:aws:states:::aws-sdk:athena:getQueryExecution", "arn:aws:states:::aws-sdk:ec2:describeInstances",
	"arn:aws:states:::aws-sdk:dynamodb:getItem", "arn:aws:states:::dynamodb:getItem", "arn:aws:states:::aws-sdk:glue:getJobRun",
	"arn:aws:states:::aws-sdk:athena:getQueryResults", "arn:aws:states:::lambda:invoke",
}

// gen makes random machines.
type gen struct {
	*rand.Rand

	states  int // of all flows so far
	jsonata bool
	inside  bool // a Parallel or Map
}

func pick[T any](g *gen, from ...T) T { return from[g.IntN(len(from))] }

// path is a path that a machine may read.
func (g *gen) path() string {
	if g.IntN(12) > 0 {
		return pick(g, "$", "$", "$", "$.a", "$.b", "$.got", "$.a.b", "$$.Execution.Input", "$.got.QueryExecution", "$.got.QueryExecution.Status.State", "$.got.JobRun.JobRunState",
			"$..State", "$.got.Reservations[*].Instances[*].State", "$['a','b']", "$.*", "$[?(@.a)]", "$.got.Reservations[0:2]", "$$.State.Name", "$.got.Item", "$.a[5]", "$x", "$u", "$x.a")
	}
	var b strings.Builder
	b.WriteString(pick(g, "$", "$", "$", "$", "$x", "$y", "$$.Execution", "$$.Execution.Input"))
	for range g.IntN(4) {
		b.WriteString(pick(g, ".a", ".b", ".got", ".QueryExecution", ".Status", ".State", ".Reservations", ".Instances", ".Item", "[0]", "[1]", "[*]", "['a','b']", "..b",
			".JobRun", ".JobRunState", "[?(@.a)]", "[0:1]", ".Name", ".Error", ".*"))
	}
	return b.String()
}

// reference is a path that can be written to.
func (g *gen) reference() string {
	return pick(g, "$", "$.a", "$.got", "$.a.b", "$.got.a", "$.a[0]", "$.b")
}

// literal is any JSON.
func (g *gen) literal(depth int) any {
	switch n := g.IntN(9); {
	case n == 0:
		return nil
	case n == 1:
		return g.IntN(2) == 0
	case n == 2:
		return g.IntN(4)
	case n == 3 && depth > 0:
		list := make([]any, g.IntN(3))
		for i := range list {
			list[i] = g.literal(depth - 1)
		}
		return list
	case n < 7 && depth > 0:
		object := map[string]any{}
		for range g.IntN(3) {
			object[pick(g, "a", "b", "got", "Status")] = g.literal(depth - 1)
		}
		return object
	default:
		return pick(g, "RUNNING", "SUCCEEDED", "x", "")
	}
}

// template is a payload template.
func (g *gen) template(depth int) map[string]any {
	object := map[string]any{}
	for range 1 + g.IntN(3) {
		name := pick(g, "a", "b", "got", "State", "Status")
		switch n := g.IntN(6); {
		case n == 0 && depth > 0:
			object[name] = g.template(depth - 1)
		case n == 1:
			object[name] = g.literal(2)
		case n == 2:
			object[name+".$"] = pick(g, "States.Array("+g.path()+", 1)", "States.Format('{}', 1)", "States.ArrayLength("+g.path()+")", "States.UUID()", "States.MathAdd(1, 2)",
				"States.ArrayGetItem(States.Array(1, 'x'), 1)", "States.JsonMerge($, $, false)", "States.ArrayUnique(States.Array(1, 1))", "States.StringToJson('{\"a\": 1}')")
		default:
			object[name+".$"] = g.path()
		}
		if _, both := object[name]; both {
			delete(object, name+".$")
		}
	}
	return object
}

// condition is a condition of a Choice.
func (g *gen) condition(depth int) map[string]any {
	if depth > 0 && g.IntN(2) == 0 {
		c := g.condition(0)
		return map[string]any{"And": []any{map[string]any{"Variable": c["Variable"], "IsPresent": true}, c}}
	}
	switch n := g.IntN(8); {
	case n == 0 && depth > 0:
		return map[string]any{"Not": g.condition(depth - 1)}
	case n < 3 && depth > 0:
		return map[string]any{pick(g, "And", "Or"): []any{g.condition(depth - 1), g.condition(depth - 1)}}
	}
	c := map[string]any{"Variable": g.path()}
	switch g.IntN(8) {
	case 0, 1:
		c["IsPresent"] = g.IntN(4) > 0
	case 2:
		c[pick(g, "IsNull", "IsString", "IsNumeric", "IsBoolean", "IsTimestamp")] = g.IntN(4) > 0
	case 3:
		c[pick(g, "NumericEquals", "NumericLessThan", "NumericGreaterThanEquals")] = g.IntN(3)
	case 4:
		c["BooleanEquals"] = g.IntN(2) == 0
	case 5:
		c["StringMatches"] = pick(g, "RUN*", "*ED", "*")
	case 6:
		c[pick(g, "StringEqualsPath", "NumericEqualsPath")] = g.path()
	default:
		c["StringEquals"] = pick(g, "RUNNING", "SUCCEEDED", "FAILED", "x", "running")
	}
	return c
}

// expression is a JSONata expression.
func (g *gen) expression(depth int) string {
	read := func() string {
		text := pick(g, "$states.input", "$states.input", "$x", "$y", "$states.context.Execution", "$z", "$u")
		for range g.IntN(4) {
			text += pick(g, ".a", ".b", ".got", ".QueryExecution", ".Status", ".State", ".Reservations", ".Instances", "[0]", "[a]", ".Name", "[-1]")
		}
		return text
	}
	if depth == 0 {
		return pick(g, read(), read(), "'x'", "1", "true", "'RUNNING'", "null")
	}
	e := func() string { return g.expression(depth - 1) }
	switch g.IntN(21) {
	case 17:
		return "(" + e() + pick(g, " < ", " >= ", " + ", " - ", " and ") + e() + ")"
	case 18:
		return "$filter(" + e() + ", function($i) { $i" + pick(g, " = ", " < ", " in ") + e() + " })"
	case 19:
		return "$map(" + e() + ", function($i, $n) { " + pick(g, "$i.a", "$i", "$n", "{'a': $i}", "$i[0]") + " })" + pick(g, "", "[0]", ".a")
	case 20:
		return "$reduce(" + e() + ", function($a, $b) { " + pick(g, "$a", "$a & $b", "[$a, $b]") + " }" + pick(g, "", ", 'x'") + ")"
	case 15:
		return pick(g, "(1 + 2)", "('a' & 'b')", "(1 < 2)", "-1")
	case 0:
		return "{'a': " + e() + ", 'b': " + e() + "}"
	case 1:
		return "[" + e() + ", " + e() + "]"
	case 2:
		return "(" + e() + " ? " + e() + " : " + e() + ")"
	case 3:
		return "(" + e() + " = " + e() + ")"
	case 4:
		return "(" + read() + " = " + pick(g, "'x'", "'RUNNING'", "1", "true", "null") + " ? " + read() + " : " + e() + ")"
	case 5:
		return "(" + read() + " in ['RUNNING', 'x'] ? " + read() + " : 'z')"
	case 6:
		return "($exists(" + read() + ") and " + e() + " or " + e() + ")"
	case 7:
		return "$merge([" + read() + ", {'a': " + e() + "}])"
	case 8:
		return "$count(" + e() + ")"
	case 9:
		return "$string(" + e() + ")"
	case 10:
		return "($z := " + e() + "; " + e() + ")"
	case 11:
		return read() + ".{'a': b, 'b': 1}"
	case 12:
		return "$not(" + read() + " != 'x')"
	case 13:
		return read() + "[State = 'x']"
	case 14:
		return "$append(" + e() + ", " + e() + ")"
	default:
		return read()
	}
}

func (g *gen) expr(depth int) string {
	e := g.expression(depth)
	if g.IntN(8) == 0 {
		return "{% " + e + " %}"
	}
	return "{% ($v := " + e + "; $exists($v) ? $v : 'none') %}"
}

// flow is a graph of states.
func (g *gen) flow(depth int) map[string]any {
	outer := g.inside
	defer func() { g.inside = outer }()
	g.inside = depth == 0
	count := 2 + g.IntN(5)
	names := make([]string, count)
	for i := range names {
		names[i] = "S" + strconv.Itoa(g.states)
		g.states++
	}
	states := map[string]any{}
	for i, name := range names {
		states[name] = g.state(depth, names, i)
	}
	if depth > 0 {
		first := map[string]any{"Type": "Pass", "Assign": map[string]any{"x": g.literal(2), "y": "RUNNING"}, "Next": names[0]}
		states["First"] = first
		return map[string]any{"StartAt": "First", "States": states}
	}
	return map[string]any{"StartAt": names[0], "States": states}
}

// variable is a variable that may be assigned here.
func (g *gen) variable() string {
	if g.inside {
		return pick(g, "u", "v")
	}
	return pick(g, "x", "y")
}

// next leads on, sometimes back.
func (g *gen) next(names []string, i int) string {
	if i+1 == len(names) || g.IntN(6) == 0 {
		return names[g.IntN(len(names))]
	}
	return names[i+1]
}

func (g *gen) state(depth int, names []string, i int) map[string]any { //nolint:gocognit // a choice a field
	s := map[string]any{}
	kinds := []string{"Pass", "Pass", "Task", "Task", "Choice", "Choice", "Wait"}
	if depth > 0 {
		kinds = append(kinds, "Parallel", "Map")
	}
	kind := pick(g, kinds...)
	if i+1 == len(names) {
		kind = pick(g, "Pass", "Succeed", "Task")
	}
	s["Type"] = kind
	if g.jsonata {
		g.jsonataFields(s, kind)
	} else {
		g.jsonPathFields(s, kind)
	}
	switch kind {
	case "Task":
		resource := pick(g, resources...)
		s["Resource"] = resource
		arguments, _ := s["Arguments"].(map[string]any)
		if arguments == nil {
			if arguments, _ = s["Parameters"].(map[string]any); arguments == nil {
				break
			}
		}
		for name := range arguments {
			if strings.Contains(resource, "lambda") != (name == "FunctionName") || !strings.Contains(resource, "lambda") && !strings.Contains(resource, "dynamodb") {
				delete(arguments, name)
			}
		}
	case "Wait":
		s["Seconds"] = 1
	case "Choice":
		var rules []any
		for range 1 + g.IntN(3) {
			rule := map[string]any{}
			if g.jsonata {
				rule["Condition"] = g.expr(2)
				if g.IntN(3) == 0 {
					rule["Output"] = g.expr(1)
				}
			} else {
				rule = g.condition(2)
			}
			rule["Next"] = g.next(names, i)
			if g.IntN(4) == 0 {
				rule["Assign"] = map[string]any{g.variable(): g.literal(1)}
			}
			rules = append(rules, rule)
		}
		s["Choices"], s["Default"] = rules, names[i+1]
	case "Parallel":
		s["Branches"] = []any{g.flow(0), g.flow(0)}
	case "Map":
		s["ItemProcessor"] = g.flow(0)
	}
	if kind == "Task" || kind == "Parallel" || kind == "Map" {
		catch := map[string]any{"ErrorEquals": []any{"States.ALL"}, "Next": g.next(names, i)}
		if g.IntN(2) == 0 && !g.jsonata {
			catch["ResultPath"] = g.reference()
		}
		if g.IntN(3) == 0 && g.jsonata {
			catch["Output"] = "{% {'a': $states.errorOutput.Error, 'b': $states.input} %}"
		}
		s["Catch"] = []any{catch}
	}
	if kind != "Choice" && kind != "Succeed" {
		if i+1 == len(names) {
			s["End"] = true
		} else {
			s["Next"] = names[i+1]
		}
	}
	return s
}

func (g *gen) jsonPathFields(s map[string]any, kind string) {
	if g.IntN(6) == 0 && kind != "Map" {
		s["InputPath"] = g.path()
	}
	if g.IntN(8) == 0 {
		s["OutputPath"] = g.path()
	}
	works := kind == "Task" || kind == "Parallel" || kind == "Map"
	if works || kind == "Pass" {
		if g.IntN(3) > 0 {
			s["ResultPath"] = g.reference()
		}
		if g.IntN(6) == 0 {
			s["ResultPath"] = nil
		}
	}
	if works && g.IntN(6) == 0 {
		s["ResultSelector"] = g.template(1)
	}
	switch {
	case kind == "Pass" && g.IntN(2) == 0:
		s["Result"] = g.literal(3)
	case kind == "Pass" && g.IntN(4) > 1, kind == "Parallel" && g.IntN(3) == 0:
		s["Parameters"] = g.template(2)
	case kind == "Task":
		s["Parameters"] = map[string]any{"TableName": "t", "Key": map[string]any{}, "FunctionName": "f"}
	case kind == "Map":
		s["ItemsPath"] = pick(g, "$.a", "$.Reservations", "$", "$.got.Reservations")
		if g.IntN(2) == 0 {
			s["ItemSelector"] = map[string]any{"a.$": "$$.Map.Item.Value", "b.$": g.path(), "got.$": "$$.Map.Item.Index"}
		}
	}
	if kind != "Succeed" && g.IntN(3) == 0 {
		s["Assign"] = map[string]any{g.variable() + ".$": g.path()}
	}
}

func (g *gen) jsonataFields(s map[string]any, kind string) {
	works := kind == "Task" || kind == "Parallel" || kind == "Map"
	switch {
	case works && g.IntN(2) == 0:
		s["Output"] = pick[any](g, "{% $states.result %}", "{% $states.result.QueryExecution.Status %}", map[string]any{"a": g.expr(2), "got": "{% $states.result %}"},
			"{% $merge([$states.input, {'got': $states.result}]) %}", "{% $states.result.Reservations.Instances.State %}")
	case g.IntN(2) == 0:
		s["Output"] = pick[any](g, g.expr(2), map[string]any{"a": g.expr(2), "b": g.expr(1)}, []any{g.expr(1), 1})
	}
	switch kind {
	case "Task":
		s["Arguments"] = map[string]any{"TableName": "t", "Key": map[string]any{}, "FunctionName": "f"}
	case "Map":
		s["Items"] = pick(g, g.expr(1), "{% $states.input.Reservations %}", "{% [$states.input, 1] %}")
		if g.IntN(2) == 0 {
			s["ItemSelector"] = map[string]any{"a": "{% $states.context.Map.Item.Value %}", "b": g.expr(1)}
		}
	}
	if kind != "Succeed" && g.IntN(3) == 0 {
		s["Assign"] = map[string]any{g.variable(): g.expr(2)}
	}
}

// answers are random values of shapes, as Step Functions writes them.
func (g *gen) answer(s *catalog.Shape, depth int) any {
	if g.IntN(40) == 0 {
		return nil
	}
	switch s.Type {
	case catalog.Structure, catalog.Union:
		object := map[string]any{}
		for i := range s.Members {
			m := &s.Members[i]
			if depth == 0 || g.IntN(8) == 0 {
				continue
			}
			name := javasdk.MemberName(m.Name)
			if m.Name == "Payload" {
				object[name] = g.literal(2)
				continue
			}
			object[name] = g.answer(m.Shape, depth-1)
		}
		return object
	case catalog.List:
		list := make([]any, g.IntN(3))
		for i := range list {
			list[i] = g.answer(s.Element.Shape, depth-1)
		}
		if depth <= 0 {
			return []any{}
		}
		return list
	case catalog.Map:
		if depth <= 0 {
			return map[string]any{}
		}
		return map[string]any{"a": g.answer(s.Element.Shape, depth-1)}
	case catalog.Boolean:
		return g.IntN(2) == 0
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return g.IntN(100)
	default:
		if len(s.Enum) > 0 && g.IntN(10) > 0 {
			return pick(g, s.Enum...)
		}
		return pick(g, "x", "NEW_ONE", "2026-01-01T00:00:00Z")
	}
}

// checkSound runs a random machine on random answers, and requires each input that
// a state is entered with to be one that its types allow. It returns how many states
// were entered with something known of their input.
func checkSound(t testing.TB, seed uint64) (known int) {
	t.Helper()
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 7))}
	g.jsonata = seed%2 == 1
	definition := g.flow(1)
	definition["TimeoutSeconds"] = 20
	if g.jsonata {
		definition["QueryLanguage"] = "JSONata"
	}
	text, err := json.MarshalIndent(definition, "", " ")
	require.NoError(t, err)
	m, err := asl.Parse(text)
	if err != nil {
		return 0
	}
	var given any
	input, err := json.Marshal(map[string]any{"a": pick[any](g, []any{1, map[string]any{"b": "x"}}, map[string]any{"b": "x"}), "b": g.literal(2), "got": g.literal(2)})
	require.NoError(t, err)
	d := json.NewDecoder(strings.NewReader(string(input)))
	d.UseNumber()
	require.NoError(t, d.Decode(&given))
	o := typecheck.Options{Models: models.Load}
	if g.IntN(4) > 0 {
		o.Input = typecheck.Literal(given)
	}
	c, err := typecheck.New(m, o)
	require.NoError(t, err)
	states := map[string]*asl.State{}
	for s := range m.All {
		states[s.Name] = s
	}
	apis := map[string]typecheck.API{}
	handlers := map[string]sim.Handler{}
	for _, resource := range resources {
		apis[resource], err = typecheck.FindAPI(resource, models.Load)
		require.NoError(t, err)
		handlers[resource] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if g.IntN(8) == 0 {
				return sim.Reply{}, &sim.TaskError{Name: "Some.Error", Cause: "x", Latency: time.Second}
			}
			answer, _ := g.answer(apis[call.Resource].Output, 5).(map[string]any)
			if answer == nil {
				answer = map[string]any{}
			}
			if r := asl.ParseResource(call.Resource); r.Service == "lambda" && r.Pattern == "" {
				answer["StatusCode"] = 200
			}
			if _, sdk := asl.ParseResource(call.Resource).SDK(); !sdk {
				answer["SdkHttpMetadata"] = map[string]any{"HttpStatusCode": 200}
			}
			return sim.Reply{Output: answer, Latency: time.Second}, nil
		}
	}
	var problem string
	_, err = sim.Run(t.Context(), m, input, sim.Options{
		Clock: sim.NewVirtualClock(sim.DefaultStart()), Seed: seed, Handlers: handlers, MaxEvents: 400,
		OnEvent: func(e sim.Event) {
			s := states[e.Details().Name]
			if problem != "" || s == nil || !strings.HasSuffix(string(e.Type), "StateEntered") {
				return
			}
			env := c.Input(s)
			if env.Input.KnowsParts() {
				known++
			}
			switch {
			case !c.IsReachable(s):
				problem = fmt.Sprintf("%s is entered, which is said to be unreachable", s.Name)
			case !env.Input.Contains(e.Details().Input.Value()):
				problem = fmt.Sprintf("%s is entered with %s, not in %s", s.Name, e.Details().Input.JSON(), env.Input.Dump())
			}
		},
	})
	require.Empty(t, problem, "seed %d:\n%s\ninput %s", seed, text, input)
	_ = err
	return known
}

func TestTypesHoldWhatRunsDo(t *testing.T) {
	t.Parallel()
	known := 0
	for seed := range uint64(200) {
		known += checkSound(t, seed)
	}
	require.Greater(t, known, 800, "states entered with something known of their input")
	t.Log(known)
}

func FuzzTypesHoldWhatRunsDo(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkSound(t, seed) })
}
