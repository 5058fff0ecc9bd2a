package terraform

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// block is a block of a module: a resource, a module, a variable.
type block struct {
	kind       string
	labels     []string
	attributes map[string]hclsyntax.Expression
	at         Place // of what names it
}

// source keeps the files of a module that were read.
type source struct {
	blocks   []*block
	problems []Problem
}

// reader reads files.
type reader struct {
	Files

	units   units
	folders map[string]*source
	// templates are the files that templatefile names.
	templates map[string]hclsyntax.Expression
	// assigned are the values of variables, by the folders of root modules.
	assigned map[string]map[string]hclsyntax.Expression
}

// folder reads the files of a folder, once.
func (r *reader) folder(name string) (*source, error) {
	if read := r.folders[name]; read != nil {
		return read, nil
	}
	names, err := r.Modules(name)
	if err != nil {
		return nil, err
	}
	out, over := &source{}, &source{}
	r.folders[name] = out
	for _, name := range names {
		to := out
		if isOverride(name) {
			to = over
		}
		text, err := r.Read(name)
		switch {
		case err != nil:
			out.problems = append(out.problems, Problem{Place: Place{File: name}, Message: err.Error()})
		case strings.HasSuffix(name, ".json"):
			r.readJSON(to, name, text)
		default:
			r.readHCL(to, name, text)
		}
	}
	for _, b := range over.blocks {
		out.override(b)
	}
	out.problems = append(out.problems, over.problems...)
	return out, nil
}

// isOverride tells whether the blocks of a file change those of others.
func isOverride(name string) bool {
	name, _, _ = strings.Cut(path.Base(name), ".")
	return name == "override" || strings.HasSuffix(name, "_override")
}

// override puts the attributes of a block into the one of its name.
func (s *source) override(over *block) {
	for _, b := range s.blocks {
		if b.kind != over.kind || !slices.Equal(b.labels, over.labels) {
			continue
		}
		for name, x := range over.attributes {
			if b.kind != "locals" || b.attributes[name] != nil {
				b.attributes[name] = x
			}
		}
	}
}

// readHCL reads a file in Terraform's own syntax. A broken one still gives the blocks
// that are whole.
func (r *reader) readHCL(out *source, name string, text []byte) {
	u := &unit{file: name, bytes: text}
	key := r.units.add(u)
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		out.problems = append(out.problems, Problem{u.place(0, 0), "Terraform takes no byte order mark: remove the first three bytes", true})
		return
	}
	tokens, _ := hclsyntax.LexConfig(text, key, hcl.InitialPos)
	if at, message := refuse(tokens); message != "" {
		out.problems = append(out.problems, Problem{r.units.place(at), message, false})
		return
	}
	file, diagnostics := hclsyntax.ParseConfig(text, key, hcl.InitialPos)
	problems := r.problems(u, diagnostics)
	out.problems = append(out.problems, problems...)
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return
	}
	for _, b := range body.Blocks {
		made := &block{kind: b.Type, labels: b.Labels, attributes: map[string]hclsyntax.Expression{}}
		named := b.TypeRange
		if len(b.LabelRanges) > 0 {
			named = b.LabelRanges[len(b.LabelRanges)-1]
		}
		made.at = r.units.place(named)
		whole := r.units.place(hcl.RangeBetween(b.TypeRange, b.CloseBraceRange))
		if slices.ContainsFunc(problems, func(p Problem) bool { return p.From >= whole.From && p.From <= whole.To }) {
			continue
		}
		for name, a := range b.Body.Attributes {
			made.attributes[name] = a.Expr
		}
		out.blocks = append(out.blocks, made)
	}
}

// problems are what the parser says, in our words.
func (r *reader) problems(u *unit, diagnostics hcl.Diagnostics) []Problem {
	var out []Problem
	for _, d := range diagnostics {
		if d.Severity != hcl.DiagError || d.Subject == nil || len(out) == maxProblems {
			continue
		}
		at := min(d.Subject.Start.Byte, len(u.bytes))
		p := Problem{u.place(at, min(d.Subject.End.Byte, len(u.bytes))), "Terraform cannot read this: " + sentence(d.Summary, d.Detail), true}
		if from := directive(u.bytes, at); from >= 0 {
			p = Problem{
				u.place(from, from+len("{%{")),
				`"%{" starts a directive of Terraform's templates: write "{%%{", or "{% {", for JSONata that begins with an object`, true,
			}
		}
		if len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	return out
}

// maxProblems bounds the problems of a file that are told.
const maxProblems = 10

// directive is where a "{%{" stands whose directive has a byte in it; -1 if none does.
func directive(text []byte, at int) int {
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	i := bytes.LastIndex(text[begin:min(at+len("{%{"), end)], []byte("{%{"))
	if i < 0 {
		return -1
	}
	return begin + i
}

// sentence is the text of a diagnostic, on one line.
func sentence(summary, detail string) string {
	detail = strings.Join(strings.Fields(detail), " ")
	if detail == "" {
		return summary
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(detail, "."), strings.ToLower(summary[:1])+summary[1:])
}

// templateFile reads a file that templatefile names.
func (r *reader) templateFile(name string) (hclsyntax.Expression, error) { //nolint:ireturn // one of hcl's kinds
	if read, ok := r.templates[name]; ok {
		return read, nil
	}
	text, err := r.Read(name)
	if err != nil {
		return nil, err
	}
	return r.parseTemplate(&unit{file: name, bytes: text}, name)
}

// parseTemplate reads a text as a template. The name keeps it; empty for none.
func (r *reader) parseTemplate(u *unit, name string) (hclsyntax.Expression, error) { //nolint:ireturn // one of hcl's kinds
	key := r.units.add(u)
	tokens, _ := hclsyntax.LexTemplate(u.bytes, key, hcl.InitialPos)
	if at, message := refuse(tokens); message != "" {
		return nil, &templateError{Problem{r.units.place(at), message, false}}
	}
	parsed, diagnostics := hclsyntax.ParseTemplate(u.bytes, key, hcl.InitialPos)
	if problems := r.problems(u, diagnostics); len(problems) > 0 {
		return nil, &templateError{problems[0]}
	}
	if name != "" {
		r.templates[name] = parsed
	}
	return parsed, nil
}

// templateError is that of a text that is no template.
type templateError struct{ problem Problem }

func (e *templateError) Error() string { return e.problem.Message }

// join is the name of a file that a module names, as the files know it.
func join(root, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(root, name)
}
