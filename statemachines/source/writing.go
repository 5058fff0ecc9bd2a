package source

import "github.com/jobpoller/jobpoller/internal/jsontree"

// Writing says how a definition is written in File.
type Writing struct {
	// Tree tells that the definition is a part of what File says, in JSON or YAML:
	// Place finds its values. Else it is a text of JSON: Span finds them.
	Tree bool
	// Quote is the quotation mark of the string that has the text; 0 if the text stands
	// as it is.
	Quote byte
	// Template tells that Terraform reads the text as a template, and HCL that the
	// definition is an object in its language.
	Template, HCL bool
	// Sub tells that Fn::Sub reads the text.
	Sub bool
	// Pieces tells that a function puts the text together from several strings.
	Pieces bool
}

// Writing says how the definition is written.
func (d *Definition) Writing() Writing {
	w := d.writing
	w.Tree = d.root != nil
	return w
}

// Span returns where bytes of Text stand in File.
func (d *Definition) Span(from, to int) (start, end int) {
	start = d.text.origin(from)
	if to <= from {
		return start, start
	}
	return start, d.text.endOrigin(to)
}

// writingOf says how the text is written that a property of a template gives.
func writingOf(v *value) Writing {
	var w Writing
	switch name, argument := intrinsic(v); {
	case name == "":
	case name == "Fn::Sub" && argument.kind == jsontree.Array && len(argument.items) > 0:
		v, w.Sub = argument.items[0], true
	case name == "Fn::Sub":
		v, w.Sub = argument, true
	default:
		return Writing{Pieces: true}
	}
	switch v.spelt {
	case jsonString, doubleQuoted:
		w.Quote = '"'
	case singleQuoted:
		w.Quote = '\''
	case plainScalar, blockScalar:
	}
	w.Pieces = v.kind != jsontree.String
	return w
}
