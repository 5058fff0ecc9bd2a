package source

import (
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// renderer writes a value as JSON, a member a line.
type renderer struct {
	writer

	full, deep bool
	written    map[*value]bool // objects and arrays
	aliased    int             // values that aliases repeat
}

// render returns a value as JSON that knows where it comes from. Aliases stand in
// it as often as they are used, so its size has a bound.
func render(v *value) (*text, diag.Problems) {
	r := renderer{written: map[*value]bool{}}
	r.value(v, 0, false)
	switch {
	case r.deep:
		return nil, diag.Problems{v.in.problem(v.start, "", fmt.Sprintf("the definition nests deeper than %d values", jsontree.MaxDepth))}
	case r.aliased > maxAliased:
		return nil, diag.Problems{v.in.problem(v.start, "", fmt.Sprintf("aliases repeat more than %d values in this definition: write fewer", maxAliased))}
	case r.full:
		return nil, diag.Problems{v.in.problem(v.start, "",
			fmt.Sprintf("a definition has at most %d bytes; with its aliases put in, this one has more", asl.MaxDefinitionBytes))}
	}
	return r.text(v.in.file), nil
}

// value writes a value. It is repeated where an alias gives it, or what it stands in.
func (r *renderer) value(v *value, depth int, repeated bool) {
	r.full = r.full || len(r.out.bytes) > asl.MaxDefinitionBytes
	r.deep = r.deep || depth > jsontree.MaxDepth
	if repeated = repeated || r.written[v]; repeated {
		r.aliased++
	}
	if r.full || r.deep || r.aliased > maxAliased {
		return
	}
	if v.kind >= jsontree.Array {
		r.written[v] = true
	}
	switch v.kind {
	case jsontree.Object:
		r.write("{", v)
		for i, m := range v.members {
			if i > 0 {
				r.write(",", v)
			}
			r.write("\n", v)
			r.quote(m.name)
			r.write(": ", m.name)
			r.value(m.value, depth+1, repeated)
		}
		r.write("}", v)
	case jsontree.Array:
		r.write("[", v)
		for i, item := range v.items {
			if i > 0 {
				r.write(",\n", v)
			}
			r.value(item, depth+1, repeated)
		}
		r.write("]", v)
	case jsontree.String:
		r.quote(v)
	case jsontree.Null:
		r.write("null", v)
	default:
		r.write(v.text, v)
	}
}

// write writes bytes that come from where a value stands.
func (r *renderer) write(s string, v *value) {
	r.from = v.in.file
	r.put(s, v.origin())
}

// quote writes a string. What JSON escapes stays at its character's place.
func (r *renderer) quote(v *value) {
	chars := v.chars()
	r.write(`"`, v)
	r.from = chars.file
	from := 0
	for i, b := range chars.bytes {
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		r.copy(chars, from, i)
		escaped := jsontree.Quote(string(b))
		f, origin := chars.originFile(i)
		r.from = f
		r.put(string(escaped[1:len(escaped)-1]), origin)
		r.from = chars.file
		from = i + 1
	}
	r.copy(chars, from, len(chars.bytes))
	r.write(`"`, v)
}
