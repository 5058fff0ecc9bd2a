package edit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// value is a value of a generated definition: a member or an item of another.
type value struct {
	name     string
	kind     byte // '{', '[', or 's' for a scalar
	scalar   string
	children []*value
}

var names = []string{"Next", "Default", "Look again?", "a/b~c", "yes", "200", "QueryExecutionId.$", "Retry", "Catch", "Choices", "ErrorEquals", "Wait a while", "x: y", "Ähre", "quote\"s"}

var scalars = []string{
	`"Look"`, `"$.r.Status"`, `"{% $states.input.a = 'FAILED' %}"`, `"States.Format('{} {}', $.a, $.b)"`, `""`, `" blank "`, `"a: b"`, `"a #b"`, `"*x"`, `"&x"`, `"!x"`, `"@x"`,
	`"true"`, `"no"`, `"12"`, `"1e3"`, `"0x1f"`, `"2026-01-01"`, `"two\nlines"`, `"tab\tinside"`, `"it's"`, `"say \"it\""`, `"it's \"both\" \\"`, `"Ähre 🙂"`, `"- x"`, `"? x"`, `"~"`,
	`"null"`, `"a,b"`, `"[x]"`, `"{x"`, `"x}"`, `"ends:"`, `"%x"`, "\"\\u2028\"", `"12:30"`, `"=x"`, `"|"`, `"<<"`, `"arn:aws:states:::sns:publish"`, `30`, `0.5`, `-1`, `1e3`, `true`, `false`, `null`,
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// newValue draws a value.
func newValue(r *rand.Rand, depth int) *value {
	v := &value{kind: 's', scalar: pick(r, scalars...)}
	if depth <= 0 || r.IntN(3) == 0 {
		return v
	}
	v.kind = pick(r, byte('{'), '[')
	taken := map[string]bool{}
	for range r.IntN(4) {
		c := newValue(r, depth-1)
		if v.kind == '{' {
			if c.name = pick(r, names...); taken[c.name] {
				continue
			}
			taken[c.name] = true
		}
		v.children = append(v.children, c)
	}
	return v
}

// newDefinition draws an object with states.
func newDefinition(r *rand.Rand) *value {
	states := &value{name: "States", kind: '{'}
	for i := range 2 + r.IntN(3) {
		s := newValue(r, 3)
		for s.kind != '{' || len(s.children) == 0 {
			s = newValue(r, 3)
		}
		s.name = fmt.Sprintf("State %d", i)
		states.children = append(states.children, s)
	}
	return &value{kind: '{', children: []*value{{name: "StartAt", kind: 's', scalar: `"State 0"`}, states}}
}

// compact writes a value as JSON.
func (v *value) compact() string {
	var parts []string
	for _, c := range v.children {
		text := c.compact()
		if v.kind == '{' {
			text = quote(c.name) + ":" + text
		}
		parts = append(parts, text)
	}
	switch v.kind {
	case '{':
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		return "[" + strings.Join(parts, ",") + "]"
	default:
		return v.scalar
	}
}

func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// hand is how somebody writes.
type hand struct {
	r              *rand.Rand
	yaml           bool
	unit           string
	colon, comma   string
	pad            string
	chance         int // of ten: how often an object is on one line, or in brackets
	comments       bool
	seqIndent      bool
	doubled, plain bool // quotes
}

func newHand(r *rand.Rand, yaml bool) *hand {
	h := &hand{r: r, yaml: yaml, unit: pick(r, "  ", "    ", "\t"), colon: pick(r, ": ", ": ", ":", " : "), comma: pick(r, ", ", ",", ",  "), pad: pick(r, "", " "), chance: pick(r, 0, 5, 10)}
	if yaml {
		h.unit, h.colon = pick(r, "  ", "    "), ": "
		h.comments, h.seqIndent, h.doubled, h.plain = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(3) > 0
	}
	return h
}

// bracket writes a value in brackets.
func (h *hand) bracket(v *value, margin string, flat bool) string {
	if v.kind == 's' {
		return v.scalar
	}
	flat = flat || h.r.IntN(10) < h.chance
	var parts []string
	for _, c := range v.children {
		text := h.bracket(c, margin+h.unit, flat)
		if v.kind == '{' {
			text = quote(c.name) + h.colon + text
		}
		parts = append(parts, text)
	}
	closing := map[byte]string{'{': "}", '[': "]"}[v.kind]
	switch {
	case len(parts) == 0:
		return string(v.kind) + closing
	case flat:
		return string(v.kind) + h.pad + strings.Join(parts, h.comma) + h.pad + closing
	}
	line := "\n" + margin + h.unit
	return string(v.kind) + line + strings.Join(parts, ","+line) + "\n" + margin + closing
}

// comment may write a comment behind a value.
func (h *hand) comment() string {
	if h.comments && h.r.IntN(3) == 0 {
		return pick(h.r, " # it's here", "   # {x: [y]}")
	}
	return ""
}

// above may write a comment line in front of a member.
func (h *hand) above(margin string) string {
	if h.comments && h.r.IntN(4) == 0 {
		return margin + "# what follows\n"
	}
	return ""
}

func (h *hand) word(json, text string) string {
	safe := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != ' ' }) < 0 &&
		text != "" && strings.TrimSpace(text) == text && text != "yes" && text != "no" && text != "true" && text != "null"
	switch {
	case safe && h.plain:
		return text
	case !h.doubled && !strings.ContainsAny(text, "\n\t\u2028"):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	default:
		return json
	}
}

func (h *hand) scalarYAML(literal string) string {
	var text string
	if json.Unmarshal([]byte(literal), &text) != nil || literal == "null" {
		return literal
	}
	return h.word(literal, text)
}

// block writes what follows a name or a dash of YAML: the rest of its line, and lines.
func (h *hand) block(v *value, margin string, item bool) string {
	if v.kind == 's' {
		return " " + h.scalarYAML(v.scalar) + h.comment() + "\n"
	}
	if len(v.children) == 0 || h.r.IntN(10) < h.chance {
		return " " + h.bracket(v, margin, true) + h.comment() + "\n"
	}
	inner := margin + h.unit
	if v.kind == '[' && !h.seqIndent && !item {
		inner = margin
	}
	if item {
		inner = margin + "  "
	}
	var out strings.Builder
	for i, c := range v.children {
		lead := h.above(inner) + inner
		switch {
		case i == 0 && item:
			lead = " "
		case i == 0:
			lead = h.comment() + "\n" + lead
		}
		if v.kind == '{' {
			out.WriteString(lead + h.word(quote(c.name), c.name) + ":" + h.block(c, inner, false))
		} else {
			out.WriteString(lead + "-" + h.block(c, inner, true))
		}
	}
	return out.String()
}

// members writes an object as YAML whose members stand behind a margin.
func (h *hand) members(v *value, margin string) string {
	var out strings.Builder
	for _, c := range v.children {
		out.WriteString(h.above(margin) + margin + c.name + ":" + h.block(c, margin, false))
	}
	return out.String()
}

// forms are the ways to write a definition into a file.
var forms = map[string]func(r *rand.Rand, v *value) string{
	"JSON": func(r *rand.Rand, v *value) string {
		return newHand(r, false).bracket(v, "", false) + pick(r, "", "\n")
	},
	"YAML": func(r *rand.Rand, v *value) string { return newHand(r, true).members(v, "") },
	"YAML without a last line break": func(r *rand.Rand, v *value) string {
		return strings.TrimSuffix(newHand(r, true).members(v, ""), "\n")
	},
	"template of YAML": func(r *rand.Rand, v *value) string {
		return templateHead + "      Definition:\n" + newHand(r, true).members(v, "        ") + templateTail
	},
	"template of JSON": func(r *rand.Rand, v *value) string {
		return `{"Resources": {"M": {"Type": "AWS::Serverless::StateMachine", "Properties": {"Definition": ` + newHand(r, false).bracket(v, "  ", false) + `}}}}`
	},
	"text in a block": func(r *rand.Rand, v *value) string { return blockText(r, v, "DefinitionString: |") },
	"text for Sub":    func(r *rand.Rand, v *value) string { return blockText(r, v, "DefinitionString: !Sub |") },
	"string of JSON": func(r *rand.Rand, v *value) string {
		return `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": ` + quote(newHand(r, false).bracket(v, "", false)) + `}}}}`
	},
	"string of YAML": func(r *rand.Rand, v *value) string {
		return templateHead + "      DefinitionString: " + quote(newHand(r, false).bracket(v, "", false)) + "\n" + templateTail
	},
	"string in single quotes": func(r *rand.Rand, v *value) string {
		return templateHead + "      DefinitionString: '" + strings.ReplaceAll(newHand(r, false).bracket(v, "", true), "'", "''") + "'\n" + templateTail
	},
	"heredoc": func(r *rand.Rand, v *value) string {
		return inModule("<<EOF\n" + escapeTemplate(newHand(r, false).bracket(v, "", false)) + "\nEOF")
	},
	"heredoc that is indented": func(r *rand.Rand, v *value) string {
		margin := pick(r, "    ", "\t")
		return inModule("<<-EOF\n" + margin + escapeTemplate(newHand(r, false).bracket(v, margin, false)) + "\n" + pick(r, "", "  ") + "EOF")
	},
	"string of HCL": func(r *rand.Rand, v *value) string {
		return inModule(escapeTemplate(quote(newHand(r, false).bracket(v, "", false))))
	},
	"object of HCL": func(r *rand.Rand, v *value) string {
		h := newHand(r, false)
		h.comments = r.IntN(2) == 0
		return inModule("jsonencode(" + h.hcl(v, "  ", pick(r, " = ", " = ", ": ", "="), r.IntN(3) == 0, r.IntN(3) > 0, false) + ")")
	},
}

// inModule is a module with a definition.
func inModule(definition string) string {
	return "# ours\nresource \"aws_sfn_state_machine\" \"m\" {\n  definition = " + definition + "\n}\n"
}

// escapeTemplate writes what Terraform reads as a template.
func escapeTemplate(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(text)
}

// hcl writes a value in Terraform's language.
func (h *hand) hcl(v *value, margin, colon string, quoted, commas, flat bool) string {
	if v.kind == 's' {
		return escapeTemplate(v.scalar)
	}
	flat = flat || h.r.IntN(10) < h.chance
	var parts []string
	for _, c := range v.children {
		text := h.hcl(c, margin+h.unit, colon, quoted, commas, flat)
		if v.kind == '{' {
			name := quote(c.name)
			if word := strings.IndexFunc(c.name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0; word && !quoted {
				name = c.name
			}
			text = name + colon + text
		}
		parts = append(parts, text)
	}
	closing := map[byte]string{'{': "}", '[': "]"}[v.kind]
	switch {
	case len(parts) == 0:
		return string(v.kind) + closing
	case flat:
		return string(v.kind) + h.pad + strings.Join(parts, h.comma) + h.pad + closing
	}
	out := string(v.kind) + "\n"
	for i, part := range parts {
		comma := ","
		if v.kind == '{' && !commas || i == len(parts)-1 && h.r.IntN(2) == 0 {
			comma = ""
		}
		out += h.above(margin+h.unit) + margin + h.unit + part + comma + h.comment() + "\n"
	}
	return out + margin + closing
}

const (
	templateHead = "# ours\nResources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n"
	templateTail = "      Name: it  # kept\n"
)

func blockText(r *rand.Rand, v *value, head string) string {
	h := newHand(r, false)
	h.unit = "  "
	text := h.bracket(v, "        ", false)
	return templateHead + "      " + head + "\n        " + text + "\n" + templateTail
}
