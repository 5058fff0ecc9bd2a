package catalogimport

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// xmlNames keeps the names that XML and queries need. Nil keeps none: other
// protocols do not name what a list or map holds.
type xmlNames struct {
	// ec2 tells that names of items are not read, and the case of a first letter
	// is not either.
	ec2 bool
}

func newXMLNames(protocols []catalog.Protocol) *xmlNames {
	ec2 := slices.Contains(protocols, catalog.EC2Query)
	if !ec2 && !slices.Contains(protocols, catalog.AWSQuery) && !slices.Contains(protocols, catalog.RESTXML) {
		return nil
	}
	return &xmlNames{ec2}
}

// element is the XML name of the elements of a list or the values of a map; empty if the protocol gives it.
func (x *xmlNames) element(of, name string) string {
	if x == nil || x.ec2 || of == "list" && name == "member" || of == "map" && name == "value" {
		return ""
	}
	return name
}

// key is the name of a map's keys, empty if it is the usual one.
func (x *xmlNames) key(name string) string {
	if x == nil || name == "key" {
		return ""
	}
	return name
}

// member is the name of a structure's member in a body, empty if it need not be
// told.
func (x *xmlNames) member(name, wire string) string {
	if x != nil && x.ec2 && wire != "" && name[1:] == wire[1:] && name[0]|0x20 == wire[0]|0x20 {
		return ""
	}
	return wire
}

// addXML adds to a member of a structure what XML and queries need.
func (f *botocoreModel) addXML(m *catalog.Member, from botocoreMember) {
	if f.xml == nil || m.In != "" && m.In != catalog.InPayload {
		return
	}
	target := f.Shapes[from.Shape]
	if target == nil {
		return // which is reported where the shape is asked for
	}
	m.Query, m.Attribute = from.QueryName, from.Attribute
	m.Flat = from.Flattened || target.Flattened
	if m.Flat && target.Member != nil && target.Member.LocationName != "" {
		m.Wire = target.Member.LocationName
	}
	m.Wire = f.xml.member(m.Name, m.Wire)
}

// namespace is the one that requests in XML declare.
func (f *botocoreModel) namespace() (string, error) {
	found := ""
	for _, name := range namesOf(f.Operations) {
		in := f.Operations[name].Input
		if f.xml == nil || in == nil {
			continue
		}
		declared := []*catalog.Namespace{in.Namespace}
		if shape := f.Shapes[in.Shape]; shape != nil && shape.Payload != "" {
			declared = append(declared, shape.Members[shape.Payload].Namespace)
		}
		for _, d := range declared {
			if d == nil || d.URI == found {
				continue
			}
			if found != "" {
				return "", fmt.Errorf("operation %s declares the namespace %q, and others %q", name, d.URI, found)
			}
			found = d.URI
		}
	}
	return found, nil
}
