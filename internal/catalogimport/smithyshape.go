package catalogimport

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// traits are those of a shape or member, by their IDs.
type traits map[string]json.RawMessage

func (t traits) has(id string) bool { _, ok := t[id]; return ok }

// with returns the traits with others, which count if both have one.
func (t traits) with(others traits) traits {
	all := maps.Clone(t)
	if all == nil {
		all = traits{}
	}
	maps.Copy(all, others)
	return all
}

// read returns the value of a trait; the zero value without it.
func read[T any](t traits, id string) (value T, err error) {
	if text, ok := t[id]; ok {
		if err = json.Unmarshal(text, &value); err != nil {
			err = fmt.Errorf("trait %s: %w", id, err)
		}
	}
	return value, err
}

// protocolTraits are the traits that tell the protocols of a service.
var protocolTraits = map[string]catalog.Protocol{
	"smithy.protocols#rpcv2Cbor": catalog.CBOR,
	"aws.protocols#awsJson1_0":   catalog.AWSJSON, "aws.protocols#awsJson1_1": catalog.AWSJSON,
	"aws.protocols#restJson1": catalog.RESTJSON, "aws.protocols#restXml": catalog.RESTXML,
	"aws.protocols#awsQuery": catalog.AWSQuery, "aws.protocols#ec2Query": catalog.EC2Query,
}

// protocols are those that the traits of a service tell, the preferred one
// first: Smithy leaves the choice to the client.
func (t traits) protocols() []catalog.Protocol {
	found := map[catalog.Protocol]bool{}
	for id, p := range protocolTraits {
		if t.has(id) {
			found[p] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(protocolOrder), func(p catalog.Protocol) bool { return !found[p] })
}

// preludeTypes are the shapes that every model has, by shape ID.
var preludeTypes = map[string]string{
	"smithy.api#String": "string", "smithy.api#Blob": "blob", "smithy.api#BigInteger": "bigInteger",
	"smithy.api#BigDecimal": "bigDecimal", "smithy.api#Timestamp": "timestamp", "smithy.api#Document": "document",
	"smithy.api#Boolean": "boolean", "smithy.api#PrimitiveBoolean": "boolean", "smithy.api#Byte": "byte",
	"smithy.api#PrimitiveByte": "byte", "smithy.api#Short": "short", "smithy.api#PrimitiveShort": "short",
	"smithy.api#Integer": "integer", "smithy.api#PrimitiveInteger": "integer", "smithy.api#Long": "long",
	"smithy.api#PrimitiveLong": "long", "smithy.api#Float": "float", "smithy.api#PrimitiveFloat": "float",
	"smithy.api#Double": "double", "smithy.api#PrimitiveDouble": "double", unit: "structure",
}

// smithyTypes are the types of shapes by their names in a model.
var smithyTypes = map[string]catalog.ShapeType{
	"structure": catalog.Structure, "union": catalog.Union, "list": catalog.List, "set": catalog.List, "map": catalog.Map,
	"blob": catalog.Blob, "boolean": catalog.Boolean, "string": catalog.String, "enum": catalog.String,
	"byte": catalog.Integer, "short": catalog.Integer, "integer": catalog.Integer, "intEnum": catalog.Integer,
	"long": catalog.Long, "bigInteger": catalog.Long, "float": catalog.Float, "double": catalog.Double, "bigDecimal": catalog.Double,
	"timestamp": catalog.Timestamp, "document": catalog.Document,
}

func (f *smithyModel) shape(name string) (rawShape, error) {
	s, id, err := f.find(name)
	if err != nil {
		return rawShape{}, err
	}
	to := &catalog.Shape{Name: name}
	var known bool
	if to.Type, known = smithyTypes[s.Type]; !known {
		return rawShape{}, fmt.Errorf("shape %s: the type %q is not one of data", id, s.Type)
	}
	own := s.Traits
	for _, mixin := range f.mixins(s) {
		own = mixin.Traits.with(own)
	}
	raw := rawShape{shape: to}
	if raw.format, err = own.format(); err != nil {
		return raw, fmt.Errorf("shape %s: %w", id, err)
	}
	switch to.Type {
	case catalog.Structure, catalog.Union:
		for _, from := range f.members(s) {
			m, err := f.member(from)
			if err != nil {
				return raw, fmt.Errorf("shape %s: member %s: %w", id, from.Name, err)
			}
			to.Members = append(to.Members, m)
		}
		if f.xml != nil {
			if to.Namespace, err = read[*catalog.Namespace](own, xmlNamespace); err != nil {
				return raw, fmt.Errorf("shape %s: %w", id, err)
			}
		}
		slices.SortFunc(to.Members, func(a, b catalog.Member) int { return strings.Compare(a.Name, b.Name) })
	case catalog.List, catalog.Map:
		for _, from := range f.members(s) { // a map's key is not among them
			m, err := f.member(from)
			if err != nil {
				return raw, fmt.Errorf("shape %s: %w", id, err)
			}
			name, err := read[string](from.Traits, xmlName)
			if err != nil {
				return raw, fmt.Errorf("shape %s: %w", id, err)
			}
			m.Name, m.Wire, m.Required = "", f.xml.element(string(to.Type), name), false
			to.Element = &m
		}
		if to.Key, err = f.key(s); err != nil {
			return raw, fmt.Errorf("shape %s: %w", id, err)
		}
		if to.Element == nil {
			return raw, fmt.Errorf("shape %s: %w", id, errNoElement)
		}
	case catalog.String:
		if to.Enum, err = f.enum(s, own); err != nil {
			return raw, fmt.Errorf("shape %s: %w", id, err)
		}
	default:
	}
	return raw, nil
}

// key is what XML calls the keys of a map, empty if it is the usual name or no map.
func (f *smithyModel) key(s *smithyShape) (string, error) {
	if s.Key == nil {
		return "", nil
	}
	name, err := read[string](s.Key.Traits, xmlName)
	return f.xml.key(name), err
}

// enum are the values of a string: of the trait of version 1, or of the type of
// version 2.
func (f *smithyModel) enum(s *smithyShape, own traits) ([]string, error) {
	listed, err := read[[]struct {
		Value string `json:"value"`
	}](own, "smithy.api#enum")
	if err != nil {
		return nil, err
	}
	var values []string
	for _, v := range listed {
		values = append(values, v.Value)
	}
	if s.Type != "enum" {
		return values, nil
	}
	for _, m := range f.members(s) {
		value, err := read[string](m.Traits, "smithy.api#enumValue")
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.Name, err)
		}
		values = append(values, firstOf(value, m.Name))
	}
	return values, nil
}

func (f *smithyModel) member(from smithyMember) (catalog.Member, error) {
	t := from.Traits
	m := catalog.Member{
		Name: from.Name, Target: f.name(from.Target), Required: t.has("smithy.api#required"), Token: t.has("smithy.api#idempotencyToken"),
	}
	var err error
	if m.Format, err = t.format(); err != nil {
		return m, err
	}
	// At most one of these traits is on a member, but jsonName may be beside
	// them: it is what other protocols call the member.
	for _, binding := range []struct {
		trait string
		in    catalog.Location
		named bool
	}{
		{"smithy.api#jsonName", "", true},
		{"smithy.api#httpLabel", catalog.InPath, false},
		{"smithy.api#httpQuery", catalog.InQuery, true},
		{"smithy.api#httpQueryParams", catalog.InQuery, false},
		{"smithy.api#httpHeader", catalog.InHeader, true},
		{"smithy.api#httpPrefixHeaders", catalog.InHeaders, true},
		{"smithy.api#httpResponseCode", catalog.InStatus, false},
		{"smithy.api#httpPayload", catalog.InPayload, false},
	} {
		if !t.has(binding.trait) {
			continue
		}
		m.In, m.Wire = binding.in, ""
		if binding.named {
			if m.Wire, err = read[string](t, binding.trait); err != nil {
				return m, err
			}
		}
	}
	return m, f.addXML(&m, t)
}

const (
	xmlName      = "smithy.api#xmlName"
	xmlNamespace = "smithy.api#xmlNamespace"
)

// addXML adds to a member of a structure what XML and queries need.
func (f *smithyModel) addXML(m *catalog.Member, t traits) error {
	if f.xml == nil || m.In != "" && m.In != catalog.InPayload {
		return nil
	}
	name, err := read[string](t, xmlName)
	if err != nil {
		return err
	}
	query, err := read[string](t, "aws.protocols#ec2QueryName")
	if err != nil {
		return err
	}
	m.Wire, m.Flat, m.Attribute = f.xml.member(m.Name, firstOf(name, m.Wire)), t.has("smithy.api#xmlFlattened"), t.has("smithy.api#xmlAttribute")
	if inQuery := firstOf(name, m.Name); query != "" && query != strings.ToUpper(inQuery[:1])+inQuery[1:] {
		m.Query = query
	}
	return nil
}

// format is that of a timestamp by its name in botocore's models.
func (t traits) format() (string, error) {
	format, err := read[string](t, "smithy.api#timestampFormat")
	if err != nil {
		return "", err
	}
	switch format {
	case "":
		return "", nil
	case "date-time":
		return "iso8601", nil
	case "http-date":
		return "rfc822", nil
	case "epoch-seconds":
		return "unixTimestamp", nil
	default:
		return "", fmt.Errorf("the timestamp format %q is not known", format)
	}
}
