package catalogimport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// smithyModel is what counts of a model in the JSON AST
// (https://smithy.io/2.0/spec/json-ast.html). The waiters are read by package
// catalog, which is strict about the rest of the text too.
type smithyModel struct {
	Shapes map[string]*smithyShape `json:"shapes"`

	service string            // shape ID
	rename  map[string]string // shape IDs to names in the service
	names   map[string]string // names in the service to shape IDs
	clashes map[string]string // names that two shapes have, to the second
	xml     *xmlNames         // as of botocoreModel
}

type smithyShape struct {
	Type                 string            `json:"type"`
	Traits               traits            `json:"traits"`
	Mixins               []smithyReference `json:"mixins"`
	Members              orderedMembers    `json:"members"`
	Member               *smithyMember     `json:"member"`
	Key                  *smithyMember     `json:"key"`
	Value                *smithyMember     `json:"value"`
	Version              string            `json:"version"`
	Input                *smithyReference  `json:"input"`
	Output               *smithyReference  `json:"output"`
	Errors               []smithyReference `json:"errors"`
	Rename               map[string]string `json:"rename"`
	Operations           []smithyReference `json:"operations"`
	CollectionOperations []smithyReference `json:"collectionOperations"`
	Resources            []smithyReference `json:"resources"`
	Create               *smithyReference  `json:"create"`
	Put                  *smithyReference  `json:"put"`
	Read                 *smithyReference  `json:"read"`
	Update               *smithyReference  `json:"update"`
	Delete               *smithyReference  `json:"delete"`
	List                 *smithyReference  `json:"list"`
}

type smithyReference struct {
	Target string `json:"target"`
}

type smithyMember struct {
	Name   string `json:"-"`
	Target string `json:"target"`
	Traits traits `json:"traits"`
}

// orderedMembers are members in the order of the text, which is that of the
// values of an enum.
type orderedMembers []smithyMember

// UnmarshalJSON implements json.Unmarshaler.
func (o *orderedMembers) UnmarshalJSON(text []byte) error {
	var members map[string]smithyMember
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		m := members[name.(string)]
		m.Name = name.(string)
		*o = append(*o, m)
	}
	return nil
}

// readSmithy reads the services of a model.
func readSmithy(file File) ([]*model, error) {
	fail := func(err error) ([]*model, error) { return nil, &FileError{file.Name, ErrModel, err} }
	definitions, err := catalog.ReadSmithy(file.Text)
	if err != nil {
		return fail(err)
	}
	var ids struct {
		Shapes map[string]*smithyShape `json:"shapes"`
	}
	if err := json.Unmarshal(file.Text, &ids); err != nil {
		return fail(err)
	}
	applyTraits(ids.Shapes)
	var models []*model
	for _, id := range namesOf(ids.Shapes) {
		if ids.Shapes[id].Type != "service" {
			continue
		}
		f := &smithyModel{Shapes: ids.Shapes, service: id, rename: ids.Shapes[id].Rename}
		m, err := f.model(file.Name)
		if err != nil {
			return fail(fmt.Errorf("service %s: %w", id, err))
		}
		m.waiters = slices.DeleteFunc(slices.Clone(definitions), func(d catalog.Definition) bool { return d.Service != m.service.Name })
		models = append(models, m)
	}
	for _, d := range definitions {
		if d.Service == "" {
			return fail(fmt.Errorf("the waiter %s of %s belongs to no service; the model needs the service shape", d.Waiter.Name, d.OperationID))
		}
	}
	return models, nil
}

// applyTraits adds the traits of apply statements to what they are about.
func applyTraits(shapes map[string]*smithyShape) {
	for _, id := range namesOf(shapes) {
		statement := shapes[id]
		if statement == nil {
			shapes[id] = &smithyShape{}
			continue
		}
		if statement.Type != "apply" {
			continue
		}
		owner, member, _ := strings.Cut(id, "$")
		to := shapes[owner]
		if to == nil {
			continue
		}
		if member == "" {
			to.Traits = to.Traits.with(statement.Traits)
			continue
		}
		for _, m := range to.parts() {
			if m.Name == member {
				m.Traits = m.Traits.with(statement.Traits)
			}
		}
	}
}

// parts are the members of a shape of any type, by their names in shape IDs.
func (s *smithyShape) parts() []*smithyMember {
	var all []*smithyMember
	for i := range s.Members {
		all = append(all, &s.Members[i])
	}
	if s.Member != nil {
		s.Member.Name = "member"
		all = append(all, s.Member)
	}
	if s.Value != nil {
		s.Value.Name = "value"
		all = append(all, s.Value)
	}
	return all
}

func (f *smithyModel) model(origin string) (*model, error) {
	s := f.Shapes[f.service]
	t := s.Traits
	api, err := read[struct {
		SDKID          string `json:"sdkId"`
		ARNNamespace   string `json:"arnNamespace"`
		EndpointPrefix string `json:"endpointPrefix"`
	}](t, "aws.api#service")
	if err != nil {
		return nil, err
	}
	signing, err := read[struct {
		Name string `json:"name"`
	}](t, "aws.auth#sigv4")
	if err != nil {
		return nil, err
	}
	name := api.SDKID
	if name == "" {
		name = smithy.ShapeName(f.service)
	}
	lower := strings.ToLower(strings.ReplaceAll(name, " ", ""))
	arn := firstOf(api.ARNNamespace, lower)
	prefix := firstOf(api.EndpointPrefix, arn)
	m := &model{
		origin: origin,
		service: catalog.Service{
			Name: name, Key: keyOf(name), APIVersion: s.Version,
			Endpoint: catalog.Endpoint{Prefix: prefix, SigningName: firstOf(signing.Name, prefix)},
		},
		operation: f.operation,
		shape:     f.shape,
	}
	m.signing = firstOf(signing.Name, arn)
	m.service.Protocols = t.protocols()
	m.service.QueryCompatible = t.has("aws.protocols#awsQueryCompatible")
	f.xml = newXMLNames(m.service.Protocols)
	if slices.Contains(m.service.Protocols, catalog.RESTXML) {
		namespace, err := read[catalog.Namespace](t, xmlNamespace)
		if err != nil {
			return nil, err
		}
		m.service.Namespace = namespace.URI
	}
	if slices.Contains(m.service.Protocols, catalog.CBOR) {
		m.service.TargetPrefix = smithy.ShapeName(f.service)
	}
	if slices.Contains(m.service.Protocols, catalog.AWSJSON) {
		m.service.JSONVersion, m.service.TargetPrefix = "1.1", smithy.ShapeName(f.service)
		if t.has("aws.protocols#awsJson1_0") {
			m.service.JSONVersion = "1.0"
		}
	}
	f.nameShapes()
	for _, id := range f.closure() {
		if f.Shapes[id] != nil && f.Shapes[id].Type == "operation" {
			m.operations = append(m.operations, f.name(id))
		}
	}
	slices.Sort(m.operations)
	return m, nil
}

func firstOf(words ...string) string {
	for _, word := range words {
		if word != "" {
			return word
		}
	}
	return ""
}

// name is what the service calls a shape. One that every model has keeps its
// whole ID, for the service may have another of the name; but for the unit, it
// is a type and has no name in the catalogue.
func (f *smithyModel) name(id string) string {
	if name := f.rename[id]; name != "" {
		return name
	}
	if preludeTypes[id] != "" && id != unit {
		return id
	}
	return smithy.ShapeName(id)
}

// has tells whether the model has a shape, or every model does.
func (f *smithyModel) has(id string) bool { return f.Shapes[id] != nil || preludeTypes[id] != "" }

// nameShapes finds the shapes by their names in the service. Within what a
// service reaches Smithy allows a name once; elsewhere it may stand again.
func (f *smithyModel) nameShapes() {
	f.names, f.clashes = map[string]string{}, map[string]string{}
	reached := map[string]bool{}
	pending := f.closure()
	for len(pending) > 0 {
		id := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if reached[id] {
			continue
		}
		reached[id] = true
		s := f.Shapes[id]
		if s == nil {
			continue
		}
		for _, m := range f.members(s) {
			pending = append(pending, m.Target)
		}
		for _, r := range []*smithyReference{s.Input, s.Output} {
			if r != nil {
				pending = append(pending, r.Target)
			}
		}
		for _, r := range s.Errors {
			pending = append(pending, r.Target)
		}
	}
	for _, id := range namesOf(reached) {
		name := f.name(id)
		if other, taken := f.names[name]; taken && f.has(id) && f.has(other) {
			f.clashes[name] = id
		} else if !taken || f.has(id) {
			f.names[name] = id
		}
	}
}

// closure lists the operations and resources that the service binds.
func (f *smithyModel) closure() []string {
	found := []string{f.service}
	for i := 0; i < len(found); i++ {
		s := f.Shapes[found[i]]
		if s == nil || s.Type != "service" && s.Type != "resource" {
			continue
		}
		bound := slices.Concat(s.Operations, s.CollectionOperations, s.Resources)
		for _, r := range []*smithyReference{s.Create, s.Put, s.Read, s.Update, s.Delete, s.List} {
			if r != nil {
				bound = append(bound, *r)
			}
		}
		for _, r := range bound {
			if !slices.Contains(found, r.Target) {
				found = append(found, r.Target)
			}
		}
	}
	return found
}

// find returns a shape by what the service calls it.
func (f *smithyModel) find(name string) (*smithyShape, string, error) {
	id := f.names[name]
	if other, clash := f.clashes[name]; clash {
		return nil, "", fmt.Errorf("two shapes have the name %s in the service: %s and %s", name, id, other)
	}
	s := f.Shapes[id]
	if s == nil {
		if t, ok := preludeTypes[id]; ok {
			return &smithyShape{Type: t}, id, nil
		}
		return nil, "", fmt.Errorf("there is no shape %q", firstOf(id, name))
	}
	return s, id, nil
}

const unit = "smithy.api#Unit"

func (f *smithyModel) operation(name string) (*catalog.Operation, error) {
	s, _, err := f.find(name)
	if err != nil {
		return nil, err
	}
	o := &catalog.Operation{Name: name}
	for _, side := range []struct {
		from *smithyReference
		to   *string
	}{{s.Input, &o.InputShape}, {s.Output, &o.OutputShape}} {
		if side.from != nil && side.from.Target != unit {
			*side.to = f.name(side.from.Target)
		}
	}
	http, err := read[struct {
		Method string `json:"method"`
		URI    string `json:"uri"`
	}](s.Traits, "smithy.api#http")
	if err != nil {
		return nil, err
	}
	endpoint, err := read[struct {
		HostPrefix string `json:"hostPrefix"`
	}](s.Traits, "smithy.api#endpoint")
	if err != nil {
		return nil, err
	}
	discovery, err := read[struct {
		Required bool `json:"required"`
	}](s.Traits, "aws.api#clientDiscoveredEndpoint")
	if err != nil {
		return nil, err
	}
	o.Method, o.Path, o.HostPrefix, o.Discovered = http.Method, http.URI, endpoint.HostPrefix, discovery.Required
	for _, of := range []*smithyShape{s, f.Shapes[f.service]} {
		for _, e := range f.errors(of) {
			declared, err := f.errorOf(e.Target)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(o.Errors, declared) {
				o.Errors = append(o.Errors, declared)
			}
		}
	}
	return o, nil
}

// errors are those of a shape and of its mixins.
func (f *smithyModel) errors(s *smithyShape) []smithyReference {
	all := slices.Clone(s.Errors)
	for _, mixin := range f.mixins(s) {
		all = append(all, mixin.Errors...)
	}
	return all
}

// errorOf is an error that an operation declares.
func (f *smithyModel) errorOf(id string) (catalog.Error, error) {
	s := f.Shapes[id]
	if s == nil {
		return catalog.Error{}, fmt.Errorf("there is no shape %q, which its errors name", id)
	}
	e := catalog.Error{Shape: f.name(id)}
	query, err := read[struct {
		Code   string `json:"code"`
		Status int    `json:"httpResponseCode"`
	}](s.Traits, "aws.protocols#awsQueryError")
	if err != nil {
		return e, err
	}
	status, err := read[int](s.Traits, "smithy.api#httpError")
	if err != nil {
		return e, err
	}
	if query.Code != e.Shape {
		e.Code = query.Code
	}
	if e.Status = query.Status; e.Status == 0 {
		e.Status = status
	}
	return e, nil
}

// mixins are those of a shape and of its mixins, nearest first.
func (f *smithyModel) mixins(s *smithyShape) []*smithyShape {
	var found []*smithyShape
	seen := map[string]bool{}
	for pending := slices.Clone(s.Mixins); len(pending) > 0; {
		id := pending[0].Target
		pending = pending[1:]
		if m := f.Shapes[id]; m != nil && !seen[id] {
			seen[id] = true
			found = append(found, m)
			pending = append(pending, m.Mixins...)
		}
	}
	return found
}

// members are those of a shape, of its mixins too.
func (f *smithyModel) members(s *smithyShape) []smithyMember {
	var all []smithyMember
	for _, from := range append([]*smithyShape{s}, f.mixins(s)...) {
		for _, m := range from.parts() {
			i := slices.IndexFunc(all, func(o smithyMember) bool { return o.Name == m.Name })
			if i < 0 {
				all = append(all, *m)
				continue
			}
			all[i].Traits = m.Traits.with(all[i].Traits)
		}
	}
	return all
}

var errNoElement = errors.New("it does not say what it holds")
