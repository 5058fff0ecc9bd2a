package graph_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

var update = flag.Bool("update", false, "write the golden files")

func open(t *testing.T, name string) *asl.StateMachine {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".asl.json"))
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	return m
}

// polled are the counts of a run of the loop that asked three times.
func polled() graph.Options {
	return graph.Options{
		Title: "Export",
		Visits: map[string]int{
			"Wait for export": 3, "Describe": 3, "Done?": 3, "Completed": 1,
		},
		Edges: map[graph.Edge]int{
			{From: "Wait for export", To: "Describe"}:                           3,
			{From: "Describe", To: "Done?"}:                                     3,
			{From: "Done?", To: "Wait for export", Kind: asl.TransitionDefault}: 2,
			{From: "Done?", To: "Completed", Kind: asl.TransitionRule}:          1,
		},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]graph.Options{
		"loop": polled(), "order": {}, "placeholders": {},
	} {
		g := graph.New(open(t, name), options)
		for end, text := range map[string]string{"svg": string(g.SVG()), "mmd": g.Mermaid()} {
			t.Run(name+"."+end, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join("testdata", name+"."+end)
				if *update {
					require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				}
				want, err := os.ReadFile(file)
				require.NoError(t, err)
				require.Equal(t, string(want), text, "go test -update writes it anew")
			})
		}
	}
}

func TestDrawingsAreSound(t *testing.T) {
	t.Parallel()
	lambdaLoop, err := asl.Parse([]byte(statemachines.LambdaPoller()))
	require.NoError(t, err)
	for name, m := range map[string]*asl.StateMachine{
		"loop": open(t, "loop"), "order": open(t, "order"), "lambda-loop": lambdaLoop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireSound(t, m, read(t, graph.New(m, graph.Options{}).SVG()))
		})
	}
}

func TestSVGIsOneAccessibleImage(t *testing.T) {
	t.Parallel()
	root := read(t, graph.New(open(t, "loop"), polled()).SVG()).root
	require.Equal(t, "img", root.attr("role"))
	require.Equal(t, "Export", root.title())
	require.Equal(t, `A state machine with 5 states that starts at "Wait for export"; 4 of them were visited. Waits for an export`, root.Children[1].Text)
	root.each(func(e *element) {
		for _, a := range e.Attrs {
			require.True(t, a.Name.Local == "xmlns" || !strings.Contains(a.Value, "http"), "%v", a)
		}
		require.NotContains(t, e.Text, "url(")
	})
}

func TestSVGTellsWhatARunVisited(t *testing.T) {
	t.Parallel()
	root := read(t, graph.New(open(t, "loop"), polled()).SVG()).root
	badges, unvisited, taken, untaken := map[string]string{}, []string{}, []string{}, []string{}
	root.each(func(e *element) {
		first, _, _ := strings.Cut(e.title(), "\n")
		switch {
		case e.has("state") && e.has("unvisited"):
			unvisited = append(unvisited, first)
		case e.has("state"):
			badge := e.Children[len(e.Children)-1]
			badges[first] = badge.Children[len(badge.Children)-1].Text
		case e.has("wire") && e.has("taken"):
			taken = append(taken, first)
		case e.has("wire") && e.has("untaken"):
			untaken = append(untaken, first)
		}
	})
	require.Equal(t, map[string]string{"Wait for export": "×3", "Describe": "×3", "Done?": "×3", "Completed": "×1"}, badges)
	require.Equal(t, []string{"Failed"}, unvisited)
	require.ElementsMatch(t, []string{
		"Start → Wait for export",
		"Wait for export → Describe (taken 3 times)",
		"Describe → Done? (taken 3 times)",
		"Done? → Completed if $states.input.ExportDescription.ExportStatus = 'COMPLETED' (taken 1 time)",
		"Done? → Wait for export otherwise (taken 2 times)",
	}, taken)
	require.ElementsMatch(t, []string{
		"Describe → Failed on DynamoDb.ExportNotFoundException, States.Timeout (taken 0 times)",
		"Describe → Describe on any error (States.ALL) (taken 0 times)",
		"Done? → Failed if $states.input.ExportDescription.ExportStatus = 'FAILED' (taken 0 times)",
	}, untaken)
}

func TestChoiceReadings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rule, short, long string }{
		{`"Variable": "$.a.Status", "StringEquals": "DONE"`, `Status = "DONE"`, `$.a.Status = "DONE"`},
		{`"Variable": "$.n", "NumericGreaterThanEquals": 2.5`, `n ≥ 2.5`, `$.n ≥ 2.5`},
		{`"Variable": "$.n", "NumericLessThanPath": "$.limits.max"`, `n < max`, `$.n < $.limits.max`},
		{`"Variable": "$.n", "NumericLessThanEquals": 1`, `n ≤ 1`, `$.n ≤ 1`},
		{`"Variable": "$.n", "NumericGreaterThan": 1`, `n > 1`, `$.n > 1`},
		{`"Variable": "$.t", "TimestampEquals": "2026-01-02T03:04:05Z"`, `t = 2026-01-02T03:04:05Z`, `$.t = 2026-01-02T03:04:05Z`},
		{`"Variable": "$.s", "StringMatches": "log-*"`, `s matches "log-*"`, `$.s matches "log-*"`},
		{`"Variable": "$.ok", "BooleanEquals": true`, `ok`, `$.ok`},
		{`"Variable": "$.ok", "BooleanEquals": false`, `not ok`, `not $.ok`},
		{`"Variable": "$.ok", "IsPresent": false`, `ok is not present`, `$.ok is not present`},
		{`"Variable": "$.ok", "IsNumeric": true`, `ok is a number`, `$.ok is a number`},
		{`"Variable": "$.list[0].a", "IsNull": true`, `$.list[0].a is null`, `$.list[0].a is null`},
		{
			`"And": [{"Variable": "$.s", "IsPresent": true}, {"Variable": "$.s", "IsString": true}, {"Variable": "$.s", "StringEquals": "x"}]`,
			`s = "x"`, `$.s is present and $.s is a string and $.s = "x"`,
		},
		{
			`"Not": {"Or": [{"Variable": "$.a", "NumericEquals": 1}, {"Variable": "$.b", "NumericEquals": 2}]}`,
			`not (a = 1 or b = 2)`, `not ($.a = 1 or $.b = 2)`,
		},
		{`"And": [{"Variable": "$.a", "IsPresent": true}]`, `a is present`, `$.a is present`},
	} {
		t.Run(test.short, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "C", "States": {
				"C": {"Type": "Choice", "Choices": [{%s, "Next": "D"}], "Default": "C"}, "D": {"Type": "Succeed"}}}`, test.rule))
			require.NoError(t, err)
			p := read(t, graph.New(m, graph.Options{}).SVG())
			require.Contains(t, p.transitions, "C → D if "+test.long)
			require.Contains(t, p.labelTexts(), test.short)
		})
	}
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		`{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Parameters": {"ExportArn": "e"}, "End": true}`: "Task · dynamodb:describeExport",
		`{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:check", "End": true}`:                               "Task · check",
		`{"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:Sign", "End": true}`:                                "Task · activity:Sign",
		`{"Type": "Task", "Resource": "${Function}", "End": true}`:                                                                        "Task · ${Function}",
		`{"Type": "Wait", "Seconds": 90, "End": true}`:                                                                                    "Wait · 90 s",
		`{"Type": "Wait", "SecondsPath": "$.delay", "End": true}`:                                                                         "Wait · $.delay",
		`{"Type": "Wait", "Timestamp": "2026-01-02T03:04:05Z", "End": true}`:                                                              "Wait · until 2026-01-02T03:04:05Z",
		`{"Type": "Fail", "Error": "Broken"}`:                                                                                             "Fail · Broken",
		`{"Type": "Fail", "ErrorPath": "States.Format('{}', $.e)"}`:                                                                       "Fail · States.Format('{}', $.e)",
		`{"Type": "Pass", "End": true}`:                                                                                                   "Pass",
		`{"Type": "Wait", "QueryLanguage": "JSONata", "Seconds": "{% $states.input.delay %}", "End": true}`:                               "Wait · $states.input.delay",
		`{"Type": "Map", "ItemsPath": "$.all", "Iterator": {"StartAt": "P", "States": {"P": {"Type": "Succeed"}}}, "End": true}`:          "Map · for each of $.all",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "S", "States": {"S": %s}}`, definition))
			require.NoError(t, err)
			read(t, graph.New(m, graph.Options{}).SVG()).root.each(func(e *element) {
				if name, heading, _ := strings.Cut(e.title(), "\n"); e.has("state") && name == "S" {
					require.Equal(t, want, heading)
				}
			})
		})
	}
}

// TestLongNames checks that names are shown whole where they fit in a few
// lines, and that a title has them whole in any case.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{
		"Charge the customer's card through the provider of the payments for this order": true,
		"ChargeTheCustomersCardThroughTheProviderOfThePayments":                          true,
		strings.Repeat("W", 80): false,
		strings.Repeat("漢", 80): false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, object{"StartAt": name, "States": object{name: object{"Type": "Pass", "End": true}}})
			p := read(t, graph.New(m, graph.Options{}).SVG())
			require.Equal(t, name, p.states[0].name)
			shown := ""
			p.root.each(func(e *element) {
				if e.has("name") {
					shown += strings.ReplaceAll(e.Text, " ", "")
				}
			})
			if whole {
				require.Equal(t, strings.ReplaceAll(name, " ", ""), shown)
			} else {
				require.True(t, strings.HasSuffix(shown, "…") && strings.HasPrefix(name, strings.TrimSuffix(shown, "…")), shown)
			}
		})
	}
}

func TestManyRulesToOneState(t *testing.T) {
	t.Parallel()
	var rules []object
	for i := range 30 {
		rules = append(rules, object{"Variable": "$.n", "NumericEquals": i, "Next": "D"})
	}
	m := parse(t, object{"StartAt": "C", "States": object{
		"C": object{"Type": "Choice", "Choices": rules, "Default": "D"}, "D": object{"Type": "Succeed"},
	}})
	p := read(t, graph.New(m, graph.Options{}).SVG())
	requireSound(t, m, p)
	require.Equal(t, []string{"n = 0", "or n = 1", "or n = 2", "or n = 3", "or n = 4", "and 26 more"}, p.labelTexts())
}

func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	const name = "</title><script>\"'&\x01"
	m := parse(t, object{"StartAt": name, "Comment": name, "States": object{name: object{"Type": "Pass", "End": true}}})
	g := graph.New(m, graph.Options{Title: name})
	for _, text := range []string{string(g.SVG()), g.Mermaid()} {
		require.NotContains(t, text, "<script")
		require.NotContains(t, text, "\x01")
	}
}

func TestSameBytes(t *testing.T) {
	t.Parallel()
	m := open(t, "order")
	a, b := graph.New(m, graph.Options{}), graph.New(m, graph.Options{})
	require.Equal(t, a.SVG(), b.SVG())
	again := a.SVG()
	require.Equal(t, b.SVG(), again)
	require.Equal(t, a.Mermaid(), b.Mermaid())
}

func FuzzSVG(f *testing.F) {
	for _, name := range []string{"loop", "order", "placeholders"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".asl.json"))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(statemachines.LambdaPoller()))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := asl.Parse(text)
		if err != nil {
			return
		}
		g := graph.New(m, graph.Options{})
		read(t, g.SVG())
		require.NotEmpty(t, g.Mermaid())
	})
}
