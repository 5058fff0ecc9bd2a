package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a condition, or an operand of one, that counts no more.
type mutant struct {
	// name is stable where lines move: "fix/veto.go isMended: kind.Sort == trial.Never".
	name string
	// neutral is what it is replaced by: the condition then never holds, or the rest of
	// it decides alone.
	neutral  bool
	from, to int // bytes of the file
}

// source is a file with its mutants.
type source struct {
	path    string
	text    []byte
	mutants []mutant
}

// pkg is a package whose judging functions are looked for.
type pkg struct {
	files   *token.FileSet
	trees   map[string]*ast.File
	judging map[*ast.FuncDecl]bool
	whole   map[*ast.File]bool // files of which all conditions are tried
}

// list lists the mutants of a folder: the conditions of its judging functions. These are
// the functions that refuse or tell a difference, and those of the same folder that answer
// them yes or no. Of the files in whole, all conditions are listed.
func list(folder string, whole []string) ([]source, error) {
	p := &pkg{files: token.NewFileSet(), trees: map[string]*ast.File{}, judging: map[*ast.FuncDecl]bool{}, whole: map[*ast.File]bool{}}
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []source
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // the folder is the caller's
		if err != nil {
			return nil, err
		}
		if p.trees[path], err = parser.ParseFile(p.files, path, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		p.whole[p.trees[path]] = slices.Contains(whole, filepath.Base(folder)+"/"+filepath.Base(path))
		all = append(all, source{path: path, text: text})
	}
	p.findJudging()
	names := map[string]int{}
	for i := range all {
		s := &all[i]
		s.mutants = p.mutantsOf(p.trees[s.path])
		for j := range s.mutants {
			m := &s.mutants[j]
			m.name = filepath.Base(folder) + "/" + filepath.Base(s.path) + " " + m.name
			if names[m.name]++; names[m.name] > 1 {
				m.name += fmt.Sprintf(" (%d)", names[m.name])
			}
		}
	}
	return all, nil
}

// findJudging finds the functions that hold a verdict, and those that their conditions ask.
func (p *pkg) findJudging() {
	byName := map[string][]*ast.FuncDecl{}
	var queue []*ast.FuncDecl
	for _, tree := range p.trees {
		for _, d := range tree.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			byName[f.Name.Name] = append(byName[f.Name.Name], f)
			if holds(f.Body, func(n ast.Node) bool { return isVerdict(n, closures(f)) }) {
				queue = append(queue, f)
			}
		}
	}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		if p.judging[f] {
			continue
		}
		p.judging[f] = true
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				queue = append(queue, answering(byName[nameOf(call.Fun)], "bool")...)
			}
			for _, part := range asking(n) {
				ast.Inspect(part, func(n ast.Node) bool {
					if call, is := n.(*ast.CallExpr); is {
						queue = append(queue, answering(byName[nameOf(call.Fun)], "")...)
					}
					return true
				})
			}
			return true
		})
	}
}

// asking are the parts of a statement that ask.
func asking(n ast.Node) []ast.Node {
	var parts []ast.Node
	switch n := n.(type) {
	case *ast.IfStmt:
		if parts = append(parts, n.Cond); n.Init != nil {
			parts = append(parts, n.Init)
		}
	case *ast.RangeStmt:
		parts = append(parts, n.X)
	case *ast.CaseClause:
		for _, e := range n.List {
			parts = append(parts, e)
		}
	}
	return parts
}

// answering are the functions with one result, which is no error: that would be a verdict.
func answering(all []*ast.FuncDecl, result string) []*ast.FuncDecl {
	return slices.DeleteFunc(slices.Clone(all), func(f *ast.FuncDecl) bool {
		r := f.Type.Results
		if r == nil || len(r.List) != 1 {
			return true
		}
		name := nameOf(r.List[0].Type)
		return name == "error" || result != "" && name != result
	})
}

// nameOf is the last part of a name such as fmt.Errorf.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func holds(in ast.Node, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		return !found
	})
	return found
}

// closures are the variables of a function whose functions refuse.
func closures(f *ast.FuncDecl) []string {
	var names []string
	ast.Inspect(f.Body, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Lhs) != 1 {
			return true
		}
		if body, is := a.Rhs[0].(*ast.FuncLit); is && holds(body, func(n ast.Node) bool { return isVerdict(n, nil) }) {
			names = append(names, nameOf(a.Lhs[0]))
		}
		return true
	})
	return names
}

// isVerdict tells whether a node refuses: it returns an error that is made there, or the
// closure's. A difference of two runs, and an objection, are verdicts too.
func isVerdict(n ast.Node, closures []string) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return slices.Contains([]string{"Difference", "Objection"}, nameOf(n.Type)) && len(n.Elts) > 0
	case *ast.ReturnStmt:
		if len(n.Results) == 0 {
			return false
		}
		switch last := n.Results[len(n.Results)-1].(type) {
		case *ast.CallExpr:
			name := nameOf(last.Fun)
			if format, is := first(last.Args).(*ast.BasicLit); is && strings.Contains(format.Value, "%w") {
				return false // it hands on what another function says
			}
			return slices.Contains([]string{"refuse", "Errorf", "New"}, name) || slices.Contains(closures, name)
		case *ast.Ident:
			return strings.HasPrefix(last.Name, "err") && last.Name != "err"
		}
	}
	return false
}

func first(all []ast.Expr) ast.Expr {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// mutantsOf are the mutants of a file, in their order.
func (p *pkg) mutantsOf(tree *ast.File) []mutant {
	var all []mutant
	for _, d := range tree.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Body == nil || !p.judging[f] && !p.whole[tree] {
			continue
		}
		add := func(e ast.Expr, neutral bool) {
			at := p.files.Position(e.Pos()).Offset
			all = append(all, mutant{f.Name.Name + ": " + p.print(e), neutral, at, p.files.Position(e.End()).Offset})
		}
		refusing := closures(f)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			asked := judged(n, refusing)
			if p.whole[tree] {
				asked = asks(n)
			}
			for _, e := range asked {
				b, is := e.(*ast.BinaryExpr)
				conditions(e, is && b.Op == token.LAND, add)
			}
			return true
		})
	}
	return all
}

// judged are the conditions of a statement on which a verdict hangs.
func judged(n ast.Node, closures []string) []ast.Expr {
	var all []ast.Expr
	switch n := n.(type) {
	case *ast.IfStmt:
		if judges(n.Body.List, closures) && !passesOn(n) {
			all = append(all, n.Cond)
		}
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			if c := s.(*ast.CaseClause); n.Tag == nil && judges(c.Body, closures) { //nolint:forcetypeassert // all are
				all = append(all, c.List...)
			}
		}
	case *ast.ReturnStmt:
		if len(n.Results) != 1 {
			return nil
		}
		if b, is := n.Results[0].(*ast.BinaryExpr); is && (b.Op == token.LAND || b.Op == token.LOR) {
			all = append(all, b)
		}
	}
	return all
}

// asks are all conditions of a statement, and what it sets or hands on by one.
func asks(n ast.Node) []ast.Expr {
	var all []ast.Expr
	switch n := n.(type) {
	case *ast.IfStmt:
		if !passesOn(n) {
			all = append(all, n.Cond)
		}
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			if c := s.(*ast.CaseClause); n.Tag == nil { //nolint:forcetypeassert // all are
				all = append(all, c.List...)
			}
		}
	case *ast.ReturnStmt:
		all = append(all, n.Results...)
	case *ast.AssignStmt:
		all = append(all, n.Rhs...)
	}
	if _, is := n.(*ast.IfStmt); is {
		return all
	}
	return slices.DeleteFunc(all, func(e ast.Expr) bool { return !isTruth(e) })
}

// isTruth tells whether an expression says yes or no, by its form.
func isTruth(e ast.Expr) bool {
	b, is := e.(*ast.BinaryExpr)
	return is && slices.Contains([]token.Token{token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op)
}

// judges tells whether statements return, or tell a verdict.
func judges(body []ast.Stmt, closures []string) bool {
	if len(body) == 0 {
		return false
	}
	_, returns := body[len(body)-1].(*ast.ReturnStmt)
	return returns || slices.ContainsFunc(body, func(s ast.Stmt) bool {
		return holds(s, func(n ast.Node) bool { return isVerdict(n, closures) })
	})
}

// conditions adds the operands of a condition, each with what leaves the others to decide.
func conditions(e ast.Expr, neutral bool, add func(ast.Expr, bool)) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		conditions(x.X, neutral, add)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			conditions(x.X, x.Op == token.LAND, add)
			conditions(x.Y, x.Op == token.LAND, add)
			return
		}
		add(e, neutral)
	default:
		add(e, neutral)
	}
}

// passesOn tells whether an if hands on the error of a call, which judges by itself.
func passesOn(n *ast.IfStmt) bool {
	r, is := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt)
	return is && len(r.Results) > 0 && nameOf(r.Results[len(r.Results)-1]) == "err"
}

func (p *pkg) print(e ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, p.files, e); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// instrument writes the file with all its mutants in it, of which active chooses one.
func (s *source) instrument() []byte {
	type insert struct {
		at    int
		order int // among those at one place: ends of inner ones come first
		text  string
	}
	var inserts []insert
	for _, m := range s.mutants {
		inserts = append(inserts, insert{m.from, 1, fmt.Sprintf("mutated(%q, %t, ", m.name, m.neutral)}, insert{m.to, 0, ")"})
	}
	slices.SortStableFunc(inserts, func(a, b insert) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.order - b.order
	})
	var out []byte
	at := 0
	for _, i := range inserts {
		out = append(append(out, s.text[at:i.at]...), i.text...)
		at = i.at
	}
	return append(out, s.text[at:]...)
}
