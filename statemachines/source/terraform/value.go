package terraform

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Kind says whether a value is a text, a number or another.
type Kind uint8

// The kinds.
const (
	Unknown Kind = iota
	Null
	Bool
	Number
	String
	List
	Object
)

// Value is a value of Terraform's language, with what is unknown inside of it, and with
// places. Values may share others, and do not change.
type Value struct {
	Kind Kind
	// Literal is a number or a boolean as JSON has it.
	Literal string
	// Text is that of a string.
	Text    Text
	Items   []*Value
	Members []Member
	// Hole is what an unknown value is, or an object of which some members are known.
	Hole *Hole
	// At is where the value stands. Written tells that it stands there as it is: no
	// reference, function or condition gives it.
	At      Place
	Written bool
	// Site is where the expression stands that gives the value, if that is elsewhere.
	Site *Place

	open bool // an object that may have more members
	// encodes is the value that a string is the JSON of, and decodes the text that a value
	// was read from; nil if there is none.
	encodes *Value
	decodes *decoded
}

// decoded is a text of JSON or YAML.
type decoded struct {
	text Text
	yaml bool
}

// Member is a member of an object.
type Member struct {
	Name *Value // a string
	// Key is what stands before the "=" or ":".
	Key   Place
	Value *Value
}

// Hole is something unknown.
type Hole struct {
	// Source is the expression.
	Source string
	// Problem is why it is unknown, if there is more to say; nil if there is not.
	Problem *Problem

	failed bool // Terraform refuses the expression
}

// Text is a text in pieces.
type Text []Piece

// Piece is a part of a text, or a hole in it.
type Piece struct {
	Text string
	Hole *Hole // nil if the text is known
	At   Place
	// Exact tells that each byte stands in the file as it does here, from At.From on. Else
	// all come from the bytes of At, which are an escape of them if Escaped is set.
	Exact, Escaped bool
	Spelling       Spelling
}

// Spelling is how text stands in its file.
type Spelling uint8

// The spellings.
const (
	// Computed is text that stands in no file as it is.
	Computed Spelling = iota
	// Plain is the text of a file that Terraform takes as it is.
	Plain
	// Template is that of a heredoc, or of a file that is a template.
	Template
	// Quoted is that of a string in quotes, which is a template.
	Quoted
	// InJSON is that of a template in a string of JSON.
	InJSON
)

func (v *Value) get(name string) *Value {
	for _, m := range slices.Backward(v.Members) {
		if text, ok := m.Name.Text.known(); ok && text == name {
			return m.Value
		}
	}
	return nil
}

// known is the text if no part of it is a hole.
func (t Text) known() (string, bool) {
	switch len(t) {
	case 0:
		return "", true
	case 1:
		return t[0].Text, t[0].Hole == nil
	}
	var b strings.Builder
	for _, p := range t {
		if p.Hole != nil {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// size is how much a text needs.
func (t Text) size() int {
	size := 0
	for _, p := range t {
		size += len(p.Text) + pieceBytes
	}
	return size
}

// pieceBytes is about what a piece needs beside its text.
const pieceBytes = 16

func unknownValue(source string, at Place) *Value {
	return &Value{Kind: Unknown, Hole: &Hole{Source: source}, At: at}
}

func failedValue(source string, at Place) *Value {
	return &Value{Kind: Unknown, Hole: &Hole{Source: source, failed: true}, At: at}
}

func textValue(text string, at Place) *Value {
	v := &Value{Kind: String, At: at}
	if text != "" {
		v.Text = Text{{Text: text, At: at}}
	}
	return v
}

// text is the value in a text, as Terraform converts it; false if it has none.
func (v *Value) text() (Text, bool) {
	switch v.Kind {
	case String:
		return v.Text, true
	case Number, Bool:
		return Text{{Text: v.Literal, At: v.At}}, true
	case Unknown:
		return Text{{Hole: v.Hole, At: v.At}}, true
	case Null, List, Object:
	}
	return nil, false
}

// isShort tells whether a value is a scalar without lines or brackets: readers look for
// it where it is used, not where it comes from.
func (v *Value) isShort() bool {
	switch v.Kind {
	case Bool, Number, Null, Unknown:
		return true
	case String:
		size := 0
		for i, p := range v.Text {
			trimmed := strings.TrimLeft(p.Text, " \t\r\n")
			if size += len(p.Text); size > maxShort || strings.Contains(p.Text, "\n") || i == 0 && trimmed != "" && strings.ContainsAny(trimmed[:1], "{[") {
				return false
			}
		}
		return true
	case List, Object:
	}
	return false
}

const maxShort = 512

// standsAt returns the value as one that stands at a place, if it is short.
func (v *Value) standsAt(at Place) *Value {
	if !v.isShort() {
		return v
	}
	moved := *v
	moved.At, moved.Written, moved.encodes = at, false, nil
	moved.Text = slices.Clone(v.Text)
	for i := range moved.Text {
		moved.Text[i] = Piece{Text: moved.Text[i].Text, Hole: moved.Text[i].Hole, At: at}
	}
	return &moved
}

// toCty is the value as cty has it, if no part of it is unknown.
func (v *Value) toCty(b *budget) (cty.Value, bool) {
	if !b.step() {
		return cty.NilVal, false
	}
	switch v.Kind {
	case Null:
		return cty.NullVal(cty.DynamicPseudoType), true
	case Bool:
		return cty.BoolVal(v.Literal == "true"), true
	case Number:
		n, err := cty.ParseNumberVal(v.Literal)
		return n, err == nil
	case String:
		text, ok := v.Text.known()
		return cty.StringVal(text), ok
	case List:
		items := make([]cty.Value, len(v.Items))
		for i, item := range v.Items {
			var ok bool
			if items[i], ok = item.toCty(b); !ok {
				return cty.NilVal, false
			}
		}
		return cty.TupleVal(items), true
	case Object:
		members := map[string]cty.Value{}
		for _, m := range v.Members {
			name, known := m.Name.Text.known()
			inner, ok := m.Value.toCty(b)
			if !known || !ok {
				return cty.NilVal, false
			}
			members[name] = inner
		}
		return cty.ObjectVal(members), !v.open
	case Unknown:
	}
	return cty.NilVal, false
}

// fromCty is a value of cty that stands at a place.
func fromCty(v cty.Value, source string, at Place, b *budget) *Value {
	v, _ = v.Unmark()
	kind := v.Type()
	switch {
	case !b.step() || !v.IsKnown():
		return unknownValue(source, at)
	case v.IsNull():
		return &Value{Kind: Null, At: at}
	case kind == cty.String:
		if !b.take(len(v.AsString())) {
			return unknownValue(source, at)
		}
		return textValue(v.AsString(), at)
	case kind == cty.Bool:
		literal := "false"
		if v.True() {
			literal = "true"
		}
		return &Value{Kind: Bool, Literal: literal, At: at}
	case kind == cty.Number:
		return &Value{Kind: Number, Literal: numberText(v), At: at}
	case kind.IsTupleType() || kind.IsListType() || kind.IsSetType():
		out := &Value{Kind: List, At: at}
		for _, item := range v.AsValueSlice() {
			out.Items = append(out.Items, fromCty(item, source, at, b))
		}
		return out
	case kind.IsObjectType() || kind.IsMapType():
		out := &Value{Kind: Object, At: at}
		for it := v.ElementIterator(); it.Next(); {
			name, inner := it.Element()
			out.Members = append(out.Members, Member{Name: textValue(name.AsString(), at), Key: at, Value: fromCty(inner, source, at, b)})
		}
		return out
	}
	return unknownValue(source, at)
}

// sorted are the members of an object as Terraform goes through them: by name, the last
// of several with one name. It is false if a name is unknown.
func (v *Value) sorted() ([]Member, bool) {
	byName := map[string]Member{}
	names := []string{}
	for _, m := range v.Members {
		name, ok := m.Name.Text.known()
		if !ok {
			return nil, false
		}
		if _, has := byName[name]; !has {
			names = append(names, name)
		}
		byName[name] = m
	}
	slices.Sort(names)
	out := make([]Member, len(names))
	for i, name := range names {
		out[i] = byName[name]
	}
	return out, !v.open
}
