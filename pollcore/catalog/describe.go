package catalog

import "github.com/jobpoller/jobpoller/pollcore/jsontype"

// Describe describes the shape to pollcore. Equal shapes of one description
// are the same, so a shape may contain itself.
func (s *Shape) Describe() *jsontype.Type {
	return describe(s, map[*Shape]*jsontype.Type{})
}

var kinds = map[ShapeType]jsontype.Kind{
	Structure: jsontype.Object, Union: jsontype.Object, Map: jsontype.Object, List: jsontype.Array,
	Boolean: jsontype.Boolean, String: jsontype.String, Blob: jsontype.String, Document: jsontype.Unknown,
	Integer: jsontype.Number, Long: jsontype.Number, Float: jsontype.Number, Double: jsontype.Number,
	Timestamp: jsontype.Number,
}

func describe(s *Shape, known map[*Shape]*jsontype.Type) *jsontype.Type {
	if s == nil {
		return &jsontype.Type{Kind: jsontype.Object} // of no members
	}
	if d := known[s]; d != nil {
		return d
	}
	d := &jsontype.Type{Name: s.Name, Kind: kinds[s.Type], Values: s.Enum, Timestamp: s.Type == Timestamp}
	known[s] = d
	if len(s.Members) > 0 {
		d.Members = map[string]*jsontype.Type{}
	}
	for _, m := range s.Members {
		d.Members[m.Name] = describe(m.Shape, known)
	}
	if s.Element != nil {
		d.Elem = describe(s.Element.Shape, known)
	}
	return d
}
