package graph

import (
	"fmt"
	"slices"
	"strings"
)

// colour is a colour of the drawing in light and in dark surroundings.
type colour struct{ name, light, dark string }

// palette is every colour. Each type of state has one for its border and one
// for its inside.
var palette = []colour{
	{"page", "#ffffff", "#14181f"},
	{"ink", "#1b2430", "#e8edf4"},
	{"soft", "#5a6675", "#a3afbf"},
	{"pale", "#c3cad3", "#465060"},
	{"line", "#6b7685", "#8e9aab"},
	{"taken", "#1259c3", "#6cb1ff"},
	{"badge", "#1259c3", "#8cc2ff"},
	{"badge-ink", "#ffffff", "#0b1320"},
	{"frame", "#f6f8fa", "#1a2029"},
	{"task", "#2f6fce", "#5f9df0"},
	{"task-in", "#e9f1fd", "#1b2d47"},
	{"choice", "#b26a00", "#e0a243"},
	{"choice-in", "#fff3dd", "#3a2c14"},
	{"wait", "#7a4fc4", "#b393ee"},
	{"wait-in", "#f2ecfd", "#2d2444"},
	{"pass", "#68727f", "#98a4b3"},
	{"pass-in", "#f0f2f5", "#262e39"},
	{"succeed", "#1c8047", "#56c287"},
	{"succeed-in", "#e3f6ea", "#16352a"},
	{"fail", "#c4332f", "#f07f79"},
	{"fail-in", "#fdeaea", "#43211f"},
	{"parallel", "#0c7c8c", "#4fb9c9"},
	{"parallel-in", "#f0fafb", "#15282d"},
	{"map", "#0c7c8c", "#4fb9c9"},
	{"map-in", "#f0fafb", "#15282d"},
	{"bad", "#b3261e", "#d5392f"},
	{"bad-line", "#7a120c", "#ff9d94"},
	{"bad-ink", "#ffffff", "#ffffff"},
	{"bad-in", "#fdeaea", "#3a1b1a"},
	{"amber", "#ffd280", "#6b4a0f"},
	{"amber-line", "#8a5200", "#f2b03d"},
	{"amber-ink", "#1b1300", "#ffe9bf"},
	{"amber-in", "#fff6e0", "#33270f"},
}

// light is a colour in light surroundings.
func light(name string) string {
	return palette[slices.IndexFunc(palette, func(c colour) bool { return c.name == name })].light
}

const fonts = `"Helvetica Neue",Helvetica,Arial,"Liberation Sans","Noto Sans",sans-serif`

// stateTypes are the classes of states that have colours of their own.
var stateTypes = []string{"task", "choice", "wait", "pass", "succeed", "fail", "parallel", "map"}

// style is the style sheet of a drawing. Every colour stands there twice: as
// it is, for what knows no variables, and as a variable, which follows the
// reader's colour scheme.
var style = func() string {
	var b strings.Builder
	b.WriteString(".asl-graph{")
	for _, c := range palette {
		fmt.Fprintf(&b, "--sm-%s:%s;", c.name, c.light)
	}
	b.WriteString("}\n@media (prefers-color-scheme:dark){.asl-graph{")
	for _, c := range palette {
		fmt.Fprintf(&b, "--sm-%s:%s;", c.name, c.dark)
	}
	b.WriteString("}}\n")
	rule := func(selectors, more string, colours ...string) {
		parts := strings.Split(selectors, ",")
		for i := range parts {
			parts[i] = ".asl-graph " + parts[i]
		}
		b.WriteString(strings.Join(parts, ",") + "{")
		for i := 0; i < len(colours); i += 2 {
			fmt.Fprintf(&b, "%[1]s:%[2]s;%[1]s:var(--sm-%[3]s);", colours[i], light(colours[i+1]), colours[i+1])
		}
		b.WriteString(more + "}\n")
	}
	rule(".page", "", "fill", "page")
	rule("text", "font-family:"+fonts+";text-anchor:middle", "fill", "ink")
	rule(".name", fmt.Sprintf("font-size:%dpx;font-weight:600", nameSize))
	rule(".heading,.branch", fmt.Sprintf("font-size:%.1fpx", headingSize), "fill", "soft")
	rule(".branch", "text-anchor:start")
	rule(".label text", fmt.Sprintf("font-size:%dpx", labelSize))
	rule(".label rect", "", "fill", "page")
	rule(".frame .label rect", "", "fill", "frame")
	rule(".wire path", "fill:none;stroke-width:1.5", "stroke", "line")
	rule(".wire .arrow", "stroke:none", "fill", "line")
	rule(".dashed .wire-line", "stroke-dasharray:5 4")
	rule(".shape", "stroke-width:1.5", "fill", "page", "stroke", "soft")
	rule(".inner", "fill:none;stroke-width:1", "stroke", "soft")
	for _, t := range stateTypes {
		rule("."+t+" > .shape", "", "fill", t+"-in", "stroke", t)
		rule("."+t+" > .inner", "", "stroke", t)
	}
	rule(".frame > .ground", "stroke-width:1;stroke-dasharray:2 3", "fill", "frame", "stroke", "pale")
	rule(".dot", "stroke:none", "fill", "ink")
	rule(".ring", "fill:none;stroke-width:1.5", "stroke", "ink")
	rule(".unknown > .shape", "stroke-dasharray:3 3")
	rule(".unvisited > .shape,.unvisited > .inner,.unvisited > .ring", "", "stroke", "pale")
	rule(".unvisited > .shape", "", "fill", "page")
	rule(".unvisited > .dot", "", "fill", "pale")
	rule(".unvisited > text", "font-weight:400", "fill", "soft")
	rule(".untaken path", "stroke-width:1.25", "stroke", "pale")
	rule(".untaken .arrow", "", "fill", "pale")
	rule(".untaken text", "", "fill", "soft")
	rule(".taken path", "stroke-width:2.25", "stroke", "taken")
	rule(".taken .arrow", "", "fill", "taken")
	rule(".badge rect", "", "fill", "badge")
	rule(".badge text", "font-size:10.5px;font-weight:700", "fill", "badge-ink")
	rule(".outcome", fmt.Sprintf("font-size:%dpx;font-weight:700", labelSize))
	ruleOutcome := func(colour string, outcomes ...Outcome) {
		of := func(format string) string {
			var all []string
			for _, o := range outcomes {
				all = append(all, strings.ReplaceAll(format, "*", "."+string(o)))
			}
			return strings.Join(all, ",")
		}
		rule(of("* > .shape"), "stroke-width:3", "fill", colour, "stroke", colour+"-line")
		rule(of("* > .inner"), "", "stroke", colour+"-ink")
		rule(of("* > text"), "", "fill", colour+"-ink")
		rule(of(".map* > .shape,.parallel* > .shape"), "stroke-width:4", "fill", colour+"-in") // the states inside show
		rule(of(".map* > text,.parallel* > text"), "", "fill", "ink")
	}
	ruleOutcome("bad", Failed, TimedOut)
	ruleOutcome("amber", Caught)
	rule(".retried > .shape", "stroke-width:3", "stroke", "amber-line")
	rule(".legend .retried > .shape", "", "fill", "amber-in")
	rule(".aborted > .shape", "stroke-width:3;stroke-dasharray:7 4", "stroke", "ink")
	rule(".wire.caught path", "stroke-width:2.75", "stroke", "amber-line")
	rule(".wire.caught .arrow", "", "fill", "amber-line")
	rule(".legend text", fmt.Sprintf("font-size:%dpx;text-anchor:start", labelSize))
	return b.String()
}()
