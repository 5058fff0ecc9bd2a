package graph_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

type object = map[string]any

// machine writes random definitions. Every state can be reached.
type machine struct {
	pick  func(n int) int
	count int
}

func (m *machine) name() string {
	m.count++
	long := []string{"", " that goes by a rather long name", "_withCamelCaseWordsAndNoSpaces", "/ΩДあ漢字", " <&\"'>"}
	return fmt.Sprintf("S%d%s", m.count, long[m.pick(len(long))])
}

// flow makes a flow of states; each but the first has a way from one before.
func (m *machine) flow(size, depth int) object {
	names := make([]string, size)
	ways := make([][]string, size)
	for i := range names {
		names[i] = m.name()
		if i > 0 {
			parent := m.pick(i)
			if m.pick(3) > 0 {
				parent = i - 1
			}
			ways[parent] = append(ways[parent], names[i])
		}
	}
	states := object{}
	for i, name := range names {
		for range m.pick(3) {
			ways[i] = append(ways[i], names[m.pick(size)])
		}
		states[name] = m.state(ways[i], depth)
	}
	states["End of "+names[0]] = object{"Type": "Succeed"}
	first := states[names[0]].(object)
	if first["Type"] == "Choice" {
		first["Default"] = "End of " + names[0]
	} else {
		states[names[0]] = object{"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": object{"QueueUrl": "q", "MessageBody": "m"}, "Next": "End of " + names[0], "Catch": catchers(ways[0])}
	}
	return object{"StartAt": names[0], "States": states}
}

func catchers(ways []string) []object {
	out := []object{}
	for _, to := range ways {
		out = append(out, object{"ErrorEquals": []string{"Custom." + strings.Trim(to, " ")}, "Next": to})
	}
	return out
}

func (m *machine) state(ways []string, depth int) object {
	switch kind := m.pick(4); {
	case len(ways) > 0 && kind == 0:
		var rules []object
		for _, to := range ways {
			rules = append(rules, object{"Variable": "$.detail.status", "StringEquals": strings.Repeat("x", m.pick(60)), "Next": to})
		}
		return object{"Type": "Choice", "Choices": rules}
	case len(ways) == 1 && kind == 1:
		return object{"Type": "Wait", "Seconds": 5, "Next": ways[0]}
	case depth > 0 && kind == 2:
		s := object{"Type": "Map", "ItemProcessor": m.flow(1+m.pick(4), depth-1), "Catch": catchers(ways), "End": true}
		if m.pick(2) == 0 {
			s = object{"Type": "Parallel", "Branches": []object{m.flow(1+m.pick(4), depth-1), m.flow(1+m.pick(4), depth-1)}, "Catch": catchers(ways), "End": true}
		}
		return s
	default:
		s := object{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Parameters": object{"QueueUrl": "q", "MessageBody": "m"}, "End": true}
		if len(ways) > 0 {
			delete(s, "End")
			s["Next"], s["Catch"] = ways[0], catchers(ways[1:])
		}
		return s
	}
}

func parse(t require.TestingT, definition any) *asl.StateMachine {
	text, err := json.Marshal(definition)
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err, "%s", text)
	return m
}

// wantWays is the start and every transition of a flow and those inside, as
// titles of lines begin.
func wantWays(f *asl.Flow) []string {
	out := []string{"Start → " + f.StartAt}
	for _, s := range f.States {
		if s.End {
			out = append(out, s.Name+" → End")
		}
		for _, w := range s.Transitions() {
			out = append(out, s.Name+" → "+w.To)
		}
		for _, inner := range s.Flows() {
			out = append(out, wantWays(inner)...)
		}
	}
	return out
}

// requireSound checks a drawing: all that is in the machine is there once, and
// nothing lies on anything else.
func requireSound(t *testing.T, m *asl.StateMachine, p *picture) {
	t.Helper()
	var want, got []string
	for s := range m.All {
		want = append(want, s.Name)
	}
	for _, b := range p.states {
		got = append(got, b.name)
	}
	require.ElementsMatch(t, want, got)

	got = nil
	for _, line := range p.transitions {
		for _, after := range []string{" if ", " on ", " otherwise"} {
			if i := strings.LastIndex(line, after); i > strings.Index(line, " → ") {
				line = line[:i]
			}
		}
		got = append(got, line)
	}
	require.ElementsMatch(t, wantWays(&m.Flow), got)

	page := box{right: number(t, p.root.attr("width")), bottom: number(t, p.root.attr("height"))}
	var g grid
	for _, a := range append(slices.Clone(p.states), p.labels...) {
		require.True(t, page.contains(a), "%v is not in %v", a, page)
		for _, b := range g.add(a) {
			if a.overlaps(b) && !a.contains(b) && !b.contains(a) || a.leaf && b.leaf && a.overlaps(b) {
				require.Failf(t, "overlap", "%v and %v", a, b)
			}
		}
	}
	for _, line := range p.lines {
		for _, q := range line {
			for _, b := range g.at(q.x, q.y) {
				if b.leaf && !b.label && q.x > b.left+1 && q.x < b.right-1 && q.y > b.top+1 && q.y < b.bottom-1 {
					require.Failf(t, "a line goes through a state", "at %v: %v", q, b)
				}
			}
		}
	}
}

// grid finds boxes by place.
type grid map[[2]int][]box

const cell = 256

func (g *grid) at(x, y float64) []box { return (*g)[[2]int{int(x / cell), int(y / cell)}] }

// add adds a box and returns those that were near it.
func (g *grid) add(b box) []box {
	var near []box
	if *g == nil {
		*g = grid{}
	}
	for x := int(b.left / cell); x <= int(b.right/cell); x++ {
		for y := int(b.top / cell); y <= int(b.bottom/cell); y++ {
			near = append(near, (*g)[[2]int{x, y}]...)
			(*g)[[2]int{x, y}] = append((*g)[[2]int{x, y}], b)
		}
	}
	return near
}

func TestRandomMachines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		gen := &machine{pick: func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "pick") }}
		m := parse(r, gen.flow(1+gen.pick(14), 2))
		svg := graph.New(m, graph.Options{}).SVG()
		requireSound(t, m, read(t, svg))
	})
}

func TestLargeMachines(t *testing.T) {
	t.Parallel()
	const size = 1000
	task := func(next string, more object) object {
		s := object{"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": object{"QueueUrl": "q", "MessageBody": "m"}, "Next": next}
		maps.Copy(s, more)
		return s
	}
	chain := object{"Fail": object{"Type": "Fail"}}
	for i := range size {
		chain[fmt.Sprint(i)] = task(fmt.Sprint(i+1), object{"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "Next": "Fail"}}})
	}
	chain[fmt.Sprint(size)] = object{"Type": "Succeed"}

	var rules []object
	fan := object{}
	for i := range size {
		rules = append(rules, object{"Variable": "$.n", "NumericEquals": i, "Next": fmt.Sprint("Do", i)})
		fan[fmt.Sprint("Do", i)] = object{"Type": "Pass", "End": true}
	}
	fan["Which"] = object{"Type": "Choice", "Choices": rules, "Default": "Which"}

	random := &machine{pick: rand.New(rand.NewPCG(1, 2)).IntN}
	deep := object{"StartAt": "P0", "States": object{"P0": object{"Type": "Pass", "End": true}}}
	for i := 1; i < 40; i++ {
		name := fmt.Sprint("P", i)
		deep = object{"StartAt": name, "States": object{name: object{"Type": "Parallel", "Branches": []object{deep}, "End": true}}}
	}
	for name, definition := range map[string]object{
		"chain with one catcher": {"StartAt": "0", "States": chain},
		"fan":                    {"StartAt": "Which", "States": fan},
		"random":                 random.flow(size, 0),
		"deep":                   deep,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, definition)
			begin := time.Now()
			svg := graph.New(m, graph.Options{}).SVG()
			require.Less(t, time.Since(begin), 20*time.Second)
			require.Less(t, len(svg), 8<<20)
			requireSound(t, m, read(t, svg))
		})
	}
}
