package jsonpath

// FilterKind says what a Filter asks.
type FilterKind uint8

// The kinds of filters.
const (
	FilterAll     FilterKind = iota // all Parts hold
	FilterAny                       // one of Parts holds
	FilterNot                       // Parts[0] does not hold
	FilterExists                    // the value has Member
	FilterCompare                   // Member stands by Operator to Literal
)

// Filter is what a StepFilter asks of each value that it looks at, for those who write it in another language.
type Filter struct {
	Kind     FilterKind
	Parts    []Filter
	Member   []string // of the value, by the names on the way
	Operator string   // such as "=="
	Literal  any
}

// Filter is what a StepFilter asks; not ok for another step, and for a filter that compares anything but a member of the value
// with a literal.
func (s Step) Filter() (f Filter, ok bool) {
	if s.filter == nil {
		return Filter{}, false
	}
	return filterOf(s.filter)
}

func filterOf(c condition) (f Filter, ok bool) {
	var parts []condition
	switch c := c.(type) {
	case all:
		f.Kind, parts = FilterAll, c
	case either:
		f.Kind, parts = FilterAny, c
	case not:
		f.Kind, parts = FilterNot, []condition{c.condition}
	case exists:
		f.Kind = FilterExists
		f.Member, ok = c.path.member()
		return f, ok
	case *comparison:
		path, isPath := c.left.(*filterPath)
		value, isLiteral := c.right.(literal)
		if !isPath || !isLiteral {
			return f, false
		}
		f.Kind, f.Operator, f.Literal = FilterCompare, c.operator, value.json
		f.Member, ok = path.member()
		return f, ok
	default:
		return f, false
	}
	for _, part := range parts {
		inner, ok := filterOf(part)
		if !ok {
			return f, false
		}
		f.Parts = append(f.Parts, inner)
	}
	return f, true
}

// member is the path as that of a member of the value that the filter looks at; not ok if it is another.
func (o *filterPath) member() (names []string, ok bool) {
	paths, ok := o.members()
	if !ok {
		return nil, false
	}
	return paths[0], true
}
