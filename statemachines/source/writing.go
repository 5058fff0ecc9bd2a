package source

import (
	"sort"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

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

// piece is a part of a text that a module of Terraform puts together.
type piece struct {
	at       int // byte of the text
	spelling terraform.Spelling
	// written tells that it stands in File, but for escapes.
	written bool
	// placeholder stands in the text for what File says: site.
	placeholder, site string
}

// piecesIn are the parts that bytes of Text come from.
func (d *Definition) piecesIn(from, to int) []piece {
	i := max(0, sort.Search(len(d.pieces), func(i int) bool { return d.pieces[i].at > from })-1)
	end := i
	for end < len(d.pieces) && (d.pieces[end].at < to || end == i) {
		end++
	}
	return d.pieces[i:end]
}

// Spelling says how the text around a byte of Text stands in File, of a text that Terraform
// puts together.
func (d *Definition) Spelling(at int) terraform.Spelling {
	if d.root != nil {
		at = 0 // a text of YAML has one
	}
	for _, p := range d.piecesIn(at, at+1) {
		return p.spelling
	}
	return terraform.Computed
}

// IsWritten tells whether bytes of Text stand in File, but for escapes of Terraform's.
func (d *Definition) IsWritten(from, to int) bool {
	for _, p := range d.piecesIn(from, to) {
		if !p.written {
			return false
		}
	}
	return len(d.pieces) > 0
}

// Sites are what File says for placeholders of a module's definition, such as "${var.queue}";
// one that stands outside of strings has quotes around it. The site is empty if another file
// has the expression.
func (d *Definition) Sites() map[string]string {
	sites := map[string]string{}
	for _, p := range d.pieces {
		if p.placeholder != "" && sites[p.placeholder] == "" {
			sites[p.placeholder] = p.site
		}
	}
	return sites
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
