package jsonata

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Symbols of the types that a signature has: s string, n number, b boolean,
// l null, a array, o object, f function, m undefined.
const (
	anySymbols  = "asnblfom"
	jsonSymbols = "asnblom"
)

// signature is what a function takes. Its text is described at
// https://docs.jsonata.org/programming#function-signatures.
type signature struct {
	params []parameter
}

// parameter is one of a signature.
type parameter struct {
	symbols string // of the types that it takes
	array   bool   // another value becomes an array of one
	item    string // type of the items of an array, if it is told
	context bool   // if it is missing, the context takes its place
	option  bool   // may be missing
	many    bool   // may be repeated
}

// parseSignature reads a signature with its angle brackets.
func parseSignature(text string) (*signature, *diag.SyntaxError) {
	s := &signature{}
	if len(text) < 2 || text[0] != '<' || text[len(text)-1] != '>' {
		return nil, &diag.SyntaxError{Code: "S0202", Message: fmt.Sprintf("the signature %s is not in angle brackets", text)}
	}
	text = text[1 : len(text)-1]
	for i := 0; i < len(text) && text[i] != ':'; i++ {
		if len(s.params) > maxParameters {
			return nil, &diag.SyntaxError{Code: "S0402", Message: fmt.Sprintf("a signature has more than %d parameters", maxParameters)}
		}
		switch c := text[i]; c {
		case 's', 'n', 'b', 'l', 'o':
			s.params = append(s.params, parameter{symbols: string(c) + "m"})
		case 'a':
			s.params = append(s.params, parameter{symbols: anySymbols, array: true})
		case 'f':
			s.params = append(s.params, parameter{symbols: "f"})
		case 'j':
			s.params = append(s.params, parameter{symbols: jsonSymbols})
		case 'x':
			s.params = append(s.params, parameter{symbols: anySymbols})
		case '(':
			length := strings.IndexByte(text[i:], ')')
			if length < 0 {
				return nil, &diag.SyntaxError{Code: "S0402", Message: "a choice of types in a signature has no closing )"}
			}
			choice := text[i+1 : i+length]
			if strings.ContainsAny(choice, "<(") {
				return nil, &diag.SyntaxError{Code: "S0402", Message: "a choice of types in a signature cannot tell types of items"}
			}
			s.params = append(s.params, parameter{symbols: choice + "m"})
			i += length
		case '-', '?', '+':
			if len(s.params) == 0 {
				continue
			}
			last := &s.params[len(s.params)-1]
			last.context = last.context || c == '-'
			last.option = last.option || c != '+'
			last.many = last.many || c == '+'
		case '<':
			end := closing(text, i)
			if end < 0 {
				return nil, &diag.SyntaxError{Code: "S0401", Message: "the types of items in a signature have no closing >"}
			}
			if len(s.params) == 0 || !s.params[len(s.params)-1].array && s.params[len(s.params)-1].symbols != "f" {
				return nil, &diag.SyntaxError{Code: "S0401", Message: "only an array or a function in a signature has types of its own"}
			}
			s.params[len(s.params)-1].item = text[i+1 : end]
			i = end
		}
	}
	return s, nil
}

// closing is the place of the > that closes the < at a place, or -1.
func closing(text string, start int) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// mustSignature is for the functions of the language.
func mustSignature(text string) *signature {
	s, err := parseSignature(text)
	if err != nil {
		panic(err)
	}
	return s
}

// symbolOf is the symbol of a value's type.
func symbolOf(v any) byte {
	switch kindOf(v) {
	case kindUndefined:
		return 'm'
	case kindNull:
		return 'l'
	case kindBoolean:
		return 'b'
	case kindNumber:
		return 'n'
	case kindString:
		return 's'
	case kindArray:
		return 'a'
	case kindObject:
		return 'o'
	default:
		return 'f'
	}
}

// assign says how many arguments each parameter takes, from a parameter and an
// argument on. Parameters take as many as they can.
func (s *signature) assign(m *machine, counts []int, args []any, param int) bool {
	m.step(1)
	if param == len(s.params) {
		return len(args) == 0
	}
	p := s.params[param]
	longest, shortest := 0, 1
	if p.option {
		shortest = 0
	}
	for longest < len(args) && (longest == 0 || p.many) && strings.IndexByte(p.symbols, symbolOf(args[longest])) >= 0 {
		longest++
	}
	m.step(longest / 4)
	for n := longest; n >= shortest; n-- {
		counts[param] = n
		if s.assign(m, counts, args[n:], param+1) {
			return true
		}
	}
	return false
}

// mismatch is the index of the argument that does not fit.
func (s *signature) mismatch(m *machine, args []any) int {
	good := 0
	for n := 1; n <= len(s.params); n++ {
		begun := signature{params: append(s.params[:n-1:n-1], s.params[n-1])}
		counts := make([]int, n)
		fits := -1
		for length := len(args); length >= 0; length-- {
			if begun.assign(m, counts, args[:length], 0) {
				fits = length
				break
			}
		}
		if fits < 0 {
			return good
		}
		good = fits
	}
	return good
}

// apply checks the arguments of a call, puts the context in the place of a
// missing one, and makes arrays where the signature wants them.
func (s *signature) apply(m *machine, name string, args []any, context any) []any {
	if s.direct(args) {
		return args
	}
	counts := make([]int, len(s.params))
	if len(args) > maxArguments || !s.assign(m, counts, args, 0) {
		m.throw(badArgument(s.mismatch(m, args[:min(len(args), maxArguments)])+1, name))
	}
	out := make([]any, 0, len(s.params))
	next := 0
	for i, p := range s.params {
		if counts[i] == 0 {
			switch {
			case p.context:
				if strings.IndexByte(p.symbols, symbolOf(context)) < 0 {
					m.throw(&Error{Code: "T0411", Message: fmt.Sprintf(
						"Context value is not a compatible type with argument %d of function %q", next+1, name)})
				}
				out = append(out, context)
			case next < len(args):
				out = append(out, args[next])
				next++
			default:
				out = append(out, undefined)
			}
			continue
		}
		for range counts[i] {
			arg := args[next]
			next++
			if p.array {
				arg = p.arrayOf(m, name, arg, next)
			}
			out = append(out, arg)
		}
	}
	return out
}

// Bounds of a signature, and of a call of a function that has one.
const (
	maxParameters = 100
	maxArguments  = 1_000
)

// direct says that the arguments fit as they are, one to a parameter.
func (s *signature) direct(args []any) bool {
	if len(args) != len(s.params) {
		return false
	}
	for i := range s.params {
		p := &s.params[i]
		if p.array || p.many || strings.IndexByte(p.symbols, symbolOf(args[i])) < 0 {
			return false
		}
	}
	return true
}

// arrayOf makes an argument the array that a parameter takes.
func (p *parameter) arrayOf(m *machine, name string, arg any, index int) any {
	if arg == undefined {
		return arg
	}
	items, isArray := itemsOf(arg)
	if p.item != "" {
		fits := isArray || string(symbolOf(arg)) == p.item
		for _, item := range items {
			m.step(1)
			fits = fits && symbolOf(item) == p.item[0]
		}
		if !fits {
			m.throw(&Error{Code: "T0412", Message: fmt.Sprintf(
				"Argument %d of function %q must be an array of %q", index, name, itemNames[p.item[0]])})
		}
	}
	if isArray {
		return arg
	}
	return m.newList(arg)
}

var itemNames = map[byte]string{
	'a': "arrays", 'b': "booleans", 'f': "functions", 'n': "numbers", 'o': "objects", 's': "strings",
}
