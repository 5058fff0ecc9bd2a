package wire

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// xmlWriter writes values as XML.
type xmlWriter struct {
	protocol catalog.Protocol
	b        strings.Builder
}

func (x *xmlWriter) raw(text string) { x.b.WriteString(text) }

// name is what XML calls a member: EC2's begin with a small letter.
func (x *xmlWriter) name(m catalog.Member) string {
	if m.Wire == "" && x.protocol == catalog.EC2Query {
		letters := []rune(m.Name)
		letters[0] = unicode.ToLower(letters[0])
		return string(letters)
	}
	return m.WireName()
}

func (x *xmlWriter) tag(name, attributes string, content func()) {
	x.raw("<" + name + attributes + ">")
	content()
	x.raw("</" + name + ">")
}

func (x *xmlWriter) text(text string) { _ = xml.EscapeText(&x.b, []byte(text)) } // which takes all

// element writes a value in an element of the name.
func (x *xmlWriter) element(name string, m catalog.Member, v any) {
	switch s := m.Shape; s.Type {
	case catalog.Structure, catalog.Union:
		object := v.(map[string]any)
		x.tag(name, x.attributes(s, object), func() { x.members(m, object) })
	case catalog.List:
		if m.Flat {
			x.items(name, s, v.([]any))
			return
		}
		item := s.Element.Wire
		if item == "" {
			item = "member"
			if x.protocol == catalog.EC2Query {
				item = "item"
			}
		}
		x.tag(name, "", func() { x.items(item, s, v.([]any)) })
	case catalog.Map:
		if m.Flat {
			x.entries(name, s, v.(map[string]any))
			return
		}
		x.tag(name, "", func() { x.entries("entry", s, v.(map[string]any)) })
	default:
		x.tag(name, "", func() { x.text(plainText(x.protocol, m, v)) })
	}
}

func (x *xmlWriter) items(name string, s *catalog.Shape, list []any) {
	for _, item := range list {
		x.element(name, *s.Element, item)
	}
}

func (x *xmlWriter) entries(name string, s *catalog.Shape, object map[string]any) {
	key, value := "key", "value"
	if s.Key != "" {
		key = s.Key
	}
	if s.Element.Wire != "" {
		value = s.Element.Wire
	}
	for _, k := range slices.Sorted(maps.Keys(object)) {
		x.tag(name, "", func() {
			x.tag(key, "", func() { x.text(k) })
			x.element(value, *s.Element, object[k])
		})
	}
}

// attributes are the members that stand in the tag of a structure.
func (x *xmlWriter) attributes(s *catalog.Shape, object map[string]any) string {
	var all xmlWriter
	if s.Namespace != nil {
		all.raw(` xmlns:` + s.Namespace.Prefix + `="` + s.Namespace.URI + `"`)
	}
	for _, m := range s.Members {
		if v, has := object[m.Name]; has && m.Attribute {
			all.raw(" " + m.WireName() + `="`)
			all.text(plainText(x.protocol, m, v))
			all.raw(`"`)
		}
	}
	return all.b.String()
}

// members writes those of a structure that are elements.
func (x *xmlWriter) members(m catalog.Member, object map[string]any) {
	for _, in := range m.Shape.Members {
		if v, has := object[in.Name]; has && !in.Attribute {
			x.element(x.name(in), in, v)
		}
	}
}
