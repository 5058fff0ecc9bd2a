package catalog

import "github.com/jobpoller/jobpoller/pollcore"

// Describe describes the shape to pollcore. Equal shapes of one description
// are the same, so a shape may contain itself.
func (s *Shape) Describe() *pollcore.Shape {
	return describe(s, map[*Shape]*pollcore.Shape{})
}

var kinds = map[ShapeType]pollcore.Kind{
	Structure: pollcore.KindObject, Union: pollcore.KindObject, Map: pollcore.KindObject, List: pollcore.KindArray,
	Boolean: pollcore.KindBoolean, String: pollcore.KindString, Blob: pollcore.KindString, Document: pollcore.KindUnknown,
	Integer: pollcore.KindNumber, Long: pollcore.KindNumber, Float: pollcore.KindNumber, Double: pollcore.KindNumber,
	Timestamp: pollcore.KindNumber,
}

func describe(s *Shape, known map[*Shape]*pollcore.Shape) *pollcore.Shape {
	if s == nil {
		return &pollcore.Shape{Kind: pollcore.KindObject} // of no members
	}
	if d := known[s]; d != nil {
		return d
	}
	d := &pollcore.Shape{Name: s.Name, Kind: kinds[s.Type], Values: s.Enum, Timestamp: s.Type == Timestamp}
	known[s] = d
	if len(s.Members) > 0 {
		d.Members = map[string]*pollcore.Shape{}
	}
	for _, m := range s.Members {
		d.Members[m.Name] = describe(m.Shape, known)
	}
	if s.Element != nil {
		d.Elem = describe(s.Element.Shape, known)
	}
	return d
}
