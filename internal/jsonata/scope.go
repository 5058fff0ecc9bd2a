package jsonata

import "slices"

// scope is a stretch of the expression in which variables can be bound.
type scope struct {
	bound []string
	// late are the indexes in found of variables that functions read before
	// they are called: they may be bound further on.
	late     []int
	function bool
}

func (p *parser) push(function bool) { p.scopes = append(p.scopes, &scope{function: function}) }

// pop ends a scope. What functions in it read and it did not bind may still be
// bound by the scope around it.
func (p *parser) pop() {
	last := len(p.scopes) - 1
	ended := p.scopes[last]
	p.scopes = p.scopes[:last]
	for _, i := range ended.late {
		switch {
		case slices.Contains(ended.bound, p.found[i].Name):
			p.inside[i] = true
		case last > 0:
			p.scopes[last-1].late = append(p.scopes[last-1].late, i)
		}
	}
}

func (p *parser) bind(name string) {
	s := p.scopes[len(p.scopes)-1]
	s.bound = append(s.bound, name)
}

// read notes a variable, and gives its index in found, or -1 if the expression
// binds it.
func (p *parser) read(t token) int {
	var function *scope
	for _, s := range slices.Backward(p.scopes) {
		if slices.Contains(s.bound, t.value) {
			return -1
		}
		if s.function && function == nil {
			function = s
		}
	}
	i := len(p.found)
	if function != nil {
		function.late = append(function.late, i)
	}
	p.found = append(p.found, Reference{Name: t.value, Offset: t.offset})
	p.inside = append(p.inside, false)
	return i
}

// unread takes back that a variable was read: it is bound.
func (p *parser) unread(bound *node) {
	if bound.reference >= 0 {
		p.inside[bound.reference] = true
	}
}

// references are the variables that the expression reads and does not bind,
// without the functions of the language.
func (p *parser) references() []Reference {
	var out []Reference
	for i, r := range p.found {
		if !p.inside[i] && r.Name != "" && r.Name != "$" && !isFunction(r.Name) {
			out = append(out, r)
		}
	}
	return out
}
