package catalog

import "strings"

// scanShape reads a shape as the importer writes it, without white space and
// escapes, an order of magnitude faster than encoding/json. What is written in
// another way it does not read.
func scanShape(text string) (*Shape, bool) {
	s := &scanner{rest: text}
	shape := &Shape{}
	s.object(func(name string) {
		switch name {
		case "type":
			shape.Type = ShapeType(s.text())
		case "members":
			s.object(func(name string) {
				m := s.member()
				if n := len(shape.Members); n > 0 && shape.Members[n-1].Name >= name {
					s.failed = true
				}
				m.Name = name
				shape.Members = append(shape.Members, m)
			})
		case "element":
			m := s.member()
			shape.Element = &m
		case "key":
			shape.Key = s.text()
		case "enum":
			s.list(func() { shape.Enum = append(shape.Enum, s.text()) })
		default:
			s.failed = true
		}
	})
	return shape, !s.failed && s.rest == ""
}

// scanner reads a subset of JSON. After a failure it reads on, and what it gives is
// not to be used.
type scanner struct {
	rest   string
	failed bool
}

// take reads a punctuation mark, if it is next.
func (s *scanner) take(mark byte) bool {
	if s.rest == "" || s.rest[0] != mark {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) must(found bool) {
	if !found {
		s.failed = true
	}
}

// text reads a string without escapes.
func (s *scanner) text() string {
	s.must(s.take('"'))
	text, rest, found := strings.Cut(s.rest, `"`)
	if !found || strings.ContainsRune(text, '\\') {
		s.failed = true
		return ""
	}
	s.rest = rest
	return text
}

// truth reads true or false.
func (s *scanner) truth() bool {
	if rest, found := strings.CutPrefix(s.rest, "true"); found {
		s.rest = rest
		return true
	}
	rest, found := strings.CutPrefix(s.rest, "false")
	s.must(found)
	s.rest = rest
	return false
}

// object reads an object, whose values member reads.
func (s *scanner) object(member func(name string)) {
	s.must(s.take('{'))
	if s.take('}') {
		return
	}
	for !s.failed {
		name := s.text()
		s.must(s.take(':'))
		if s.failed {
			return
		}
		member(name)
		if s.take('}') {
			return
		}
		s.must(s.take(','))
	}
}

// list reads an array, whose elements element reads.
func (s *scanner) list(element func()) {
	s.must(s.take('['))
	if s.take(']') {
		return
	}
	for !s.failed {
		element()
		if s.take(']') {
			return
		}
		s.must(s.take(','))
	}
}

// member reads a member in its short or its long form.
func (s *scanner) member() (m Member) {
	if strings.HasPrefix(s.rest, `"`) {
		m.Target, m.Required = strings.CutSuffix(s.text(), mustHave)
		return m
	}
	s.object(func(name string) {
		switch name {
		case "target":
			m.Target = s.text()
		case "required":
			m.Required = s.truth()
		case "token":
			m.Token = s.truth()
		case "in":
			m.In = Location(s.text())
		case "wire":
			m.Wire = s.text()
		case "query":
			m.Query = s.text()
		case "flat":
			m.Flat = s.truth()
		case "attribute":
			m.Attribute = s.truth()
		case "format":
			m.Format = s.text()
		default:
			s.failed = true
		}
	})
	return m
}
