package source

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

// definition is that of a machine.
func (m *modules) definition(machine terraform.Machine) *Definition {
	d := &Definition{ID: machine.Address, Form: FormTerraform}
	if machine.Condition != "" {
		d.ID += " if " + machine.Condition
	}
	d.Name = machine.Block.File + "#" + d.ID
	if kind := asl.ExecutionType(machine.Type); kind == asl.Standard || kind == asl.Express {
		d.Type = kind
	}
	w := &moduleWriter{modules: m, d: d, tokens: map[string]string{}}
	switch {
	case machine.Object != nil:
		w.object(machine.Object)
	case machine.Text != nil:
		w.definitionText(machine)
	default:
		d.File = machine.At.File
		w.tellUnknown(machine, machine.Missing)
	}
	if d.File != machine.Block.File {
		d.Template = machine.Block.File
	}
	m.findHome(d, machine)
	for _, at := range []terraform.Place{machine.Block, machine.At} {
		d.holders = append(d.holders, holder{file: m.fileOf(at.File), extent: extent{from: at.From}, block: true})
	}
	for _, p := range machine.Problems {
		d.Problems = append(d.Problems, m.problem(p, d))
	}
	return d
}

// findHome finds where a definition stands: in a file of its own, or in the module with its block.
func (m *modules) findHome(d *Definition, machine terraform.Machine) {
	switch {
	case isTerraform(d.File) || d.File == Stdin:
		if path.Dir(d.File) == path.Dir(machine.At.File) {
			d.home = &Home{d.File, machine.Local + strings.TrimPrefix(d.ID, machine.Address)}
		}
	case machine.Object != nil:
		m.liveAt(d, m.fileOf(d.File), machine.Object.At.From)
	case len(machine.Text) > 0 && machine.Text[0].At.File == d.File && machine.Text[len(machine.Text)-1].At.File == d.File:
		d.liveIn("")
	}
}

// moduleWriter makes a definition out of a module's values.
type moduleWriter struct {
	*modules

	d *Definition
	// tokens are the names of holes, by their expressions.
	tokens map[string]string
	// bare is the first hole of a text of JSON outside of strings.
	bare *terraform.Hole
}

// tellUnknown says that the definition is not known, and what to do.
func (w *moduleWriter) tellUnknown(machine terraform.Machine, source string) {
	if slices.ContainsFunc(machine.Problems, func(p terraform.Problem) bool { return p.Broken }) {
		return // which says why
	}
	p := w.fileOf(machine.At.File).problem(machine.At.From, "", fmt.Sprintf("the definition of %s is not checked: only Terraform knows %s. "+
		"Check its plan (terraform show -json PLAN >plan.json; jobpoller lint plan.json), "+
		"or the state machine that is deployed, by its ARN", machine.Address, source))
	p.Severity = diag.Note
	w.d.Problems = append(w.d.Problems, p)
}

// token is what stands for a hole: a placeholder, or what the user says of it.
func (w *moduleWriter) token(h *terraform.Hole) string {
	name := w.tokenName(h)
	if text, ok := w.Variable(name); ok {
		return text
	}
	return "${" + name + "}"
}

func (w *moduleWriter) tokenName(h *terraform.Hole) string {
	if name, ok := w.tokens[h.Source]; ok {
		return name
	}
	base := strings.Trim(notInName.ReplaceAllString(h.Source, ":"), ":.")
	if base == "" || base[0] >= '0' && base[0] <= '9' || base[0] == '-' {
		base = "_" + base
	}
	name := base
	for i := 2; slices.Contains(slices.Collect(maps.Values(w.tokens)), name); i++ {
		name = base + ":" + strconv.Itoa(i)
	}
	w.tokens[h.Source] = name
	if name != h.Source {
		if w.d.References == nil {
			w.d.References = map[string]string{}
		}
		w.d.References[name] = h.Source
	}
	return name
}

// pieces writes a text. What is unknown becomes a placeholder, with quotes outside of the
// strings of JSON.
func (w *moduleWriter) pieces(out *writer, t terraform.Text, json bool, note func(at int, p terraform.Piece, placeholder string)) {
	var quotes terraform.Quotes
	for _, p := range t {
		out.from = w.fileOf(p.At.File)
		at := len(out.out.bytes)
		if p.Hole != nil {
			token := w.token(p.Hole)
			if json && !quotes.Inside {
				token = `"` + token + `"`
				w.bare = cmp.Or(w.bare, p.Hole)
			}
			out.stand(token, p.At.From, p.At.To)
			note(at, p, token)
			continue
		}
		note(at, p, "")
		quotes.Read(p.Text)
		if p.Exact {
			out.follow([]byte(p.Text), p.At.From)
		} else {
			out.stand(p.Text, p.At.From, p.At.To)
		}
	}
}

// piece is a part of the definition's text.
func (w *moduleWriter) piece(at int, p terraform.Piece, placeholder string) piece {
	own := p.At.File == w.d.File
	made := piece{at: at, spelling: p.Spelling, written: own && (p.Exact || p.Escaped), placeholder: placeholder}
	if own && placeholder != "" {
		made.site = string(w.fileOf(p.At.File).bytes[p.At.From:p.At.To])
	}
	return made
}

// mainFile is the file that most bytes of a text come from.
func (w *moduleWriter) mainFile(t terraform.Text) *file {
	sizes := map[string]int{}
	best := ""
	for _, p := range t {
		if sizes[p.At.File] += len(p.Text); best == "" || sizes[p.At.File] > sizes[best] {
			best = p.At.File
		}
	}
	return w.fileOf(best)
}

// definitionText reads a definition that is a text.
func (w *moduleWriter) definitionText(machine terraform.Machine) {
	var out writer
	f := w.mainFile(machine.Text)
	w.d.File = f.name
	w.pieces(&out, machine.Text, !machine.YAML, func(at int, p terraform.Piece, placeholder string) {
		w.d.pieces = append(w.d.pieces, w.piece(at, p, placeholder))
	})
	t := out.text(f)
	if machine.YAML {
		w.d.YAML = true
		w.d.readYAML(t)
	} else {
		w.d.text, w.d.Text = t, t.bytes
		if _, err := jsontree.Parse(t.bytes); err != nil && w.bare != nil {
			w.d.text, w.d.Text = nil, nil
			w.tellUnknown(machine, w.bare.Source)
		}
	}
	w.d.writing.Template = true
	if kind := w.d.Spelling(0); w.d.YAML && kind != terraform.Plain && kind != terraform.Template {
		w.d.writing.Pieces = true
	}
	if t.isFile() && len(w.d.pieces) == 1 && w.d.pieces[0].spelling == terraform.Plain {
		w.d.Form, w.d.writing.Template = FormFile, false
	}
}

// object reads a definition that Terraform encodes as JSON.
func (w *moduleWriter) object(v *terraform.Value) {
	w.d.File = v.At.File
	root := (&valueMaker{w, map[*terraform.Value]*value{}}).value(v)
	t, problems := render(root)
	if problems != nil {
		w.d.Problems = append(w.d.Problems, problems...)
		return
	}
	w.d.root, w.d.text, w.d.Text = root, t, t.bytes
	w.d.writing.HCL = strings.HasSuffix(w.d.File, ".tf") || strings.HasSuffix(w.d.File, ".tofu") || w.d.File == Stdin
	w.d.writing.Pieces = !w.d.writing.HCL
}

// valueMaker makes values of those of a module. They share what those share.
type valueMaker struct {
	*moduleWriter

	made map[*terraform.Value]*value
}

func (m *valueMaker) value(v *terraform.Value) *value {
	if made := m.made[v]; made != nil {
		return made
	}
	out := m.placed(v.At)
	m.made[v] = out
	out.written = v.Written
	if v.Hole != nil {
		m.text(out, terraform.Text{{Hole: v.Hole, At: v.At}})
		return out
	}
	switch v.Kind {
	case terraform.Unknown:
	case terraform.Null:
		out.kind = jsontree.Null
	case terraform.Bool:
		out.kind, out.text = jsontree.Bool, v.Literal
	case terraform.Number:
		out.kind, out.text = jsontree.Number, v.Literal
	case terraform.String:
		m.text(out, v.Text)
	case terraform.List:
		out.kind, out.nested = jsontree.Array, true
		for _, item := range v.Items {
			out.items = append(out.items, m.value(item))
		}
	case terraform.Object:
		out.kind, out.nested = jsontree.Object, true
		at := map[string]int{}
		for _, inner := range v.Members {
			name := m.placed(inner.Key)
			m.text(name, inner.Name.Text)
			if i, has := at[name.text]; has { // the last counts
				out.members[i].value = m.value(inner.Value)
				continue
			}
			at[name.text] = len(out.members)
			out.members = append(out.members, member{name, m.value(inner.Value)})
		}
	}
	if v.Site != nil {
		out.function = m.placed(*v.Site)
	} else if !v.Written {
		out.function = m.placed(v.At)
	}
	return out
}

func (m *valueMaker) placed(at terraform.Place) *value {
	return &value{in: m.fileOf(at.File).whole(), start: at.From, after: max(at.To, 1), spelt: jsonString}
}

func (m *valueMaker) text(v *value, t terraform.Text) {
	var out writer
	m.pieces(&out, t, false, func(_ int, p terraform.Piece, placeholder string) {
		if placeholder != "" {
			m.d.pieces = append(m.d.pieces, m.piece(0, p, placeholder))
		}
	})
	v.kind = jsontree.String
	v.parts = out.text(v.in.file)
	v.text = string(v.parts.bytes)
}
