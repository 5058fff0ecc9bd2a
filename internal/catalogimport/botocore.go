package catalogimport

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// maxModel is how large a file of a model may be, unpacked. The largest of
// AWS's is a twentieth of it.
const maxModel = 256 << 20

// botocoreFolder is botocore's data: <key>/<date>/service-2.json and
// waiters-2.json and endpoint-rule-set-1.json, each perhaps packed with gzip,
// and partitions.json. What stands in files sdk-extras is about the Python
// client and has no bearing here.
type botocoreFolder struct {
	files fs.FS
	// versions are the latest dates that have a model, by key.
	versions   map[string]string
	partitions []*partition
}

const (
	serviceFile = "service-2.json"
	waitersFile = "waiters-2.json"
)

// openBotocore lists what is in a data folder.
func openBotocore(files fs.FS) (*botocoreFolder, error) {
	b := &botocoreFolder{files: files, versions: map[string]string{}}
	keys, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !key.IsDir() {
			continue
		}
		dates, err := fs.ReadDir(files, key.Name())
		if err != nil {
			return nil, err
		}
		for _, date := range dates {
			if date.IsDir() && b.has(path.Join(key.Name(), date.Name(), serviceFile)) {
				b.versions[key.Name()] = max(b.versions[key.Name()], date.Name())
			}
		}
	}
	if len(b.versions) == 0 {
		return nil, &FileError{".", ErrModel, fmt.Errorf("there is no <service>/<date>/%s in it; expected the folder botocore/data", serviceFile)}
	}
	return b, b.readPartitions()
}

func (b *botocoreFolder) has(name string) bool {
	for _, suffix := range []string{"", ".gz"} {
		if info, err := fs.Stat(b.files, name+suffix); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// read returns a file that may be packed, and its name as it stands there.
// Without the file its error is fs.ErrNotExist.
func (b *botocoreFolder) read(name string) (text []byte, as string, err error) {
	text, err = fs.ReadFile(b.files, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, name, err
	}
	as = name + ".gz"
	f, err := b.files.Open(as)
	if err != nil {
		return nil, name, err
	}
	defer f.Close() //nolint:errcheck // what was only read is not lost
	if text, err = unpack(f); err != nil {
		return nil, as, &FileError{as, ErrModel, err}
	}
	return text, as, nil
}

// unpack reads what gzip packed.
func unpack(packed io.Reader) ([]byte, error) {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, maxModel+1))
	if err == nil && len(text) > maxModel {
		err = fmt.Errorf("unpacked it has more than %d bytes", maxModel)
	}
	return text, err
}

// waiters returns the waiters of a service, with their file. Statuses are named
// by the function.
func (b *botocoreFolder) waiters(key string, named func(operation string, status int) []string) ([]catalog.Definition, error) {
	text, name, err := b.read(path.Join(key, b.versions[key], waitersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	definitions, err := catalog.ReadBotocore(text, catalog.ErrorsForStatus(named))
	if err != nil {
		return nil, &FileError{name, ErrModel, err}
	}
	return definitions, nil
}

// botocoreModel is what counts of a service-2.json.
type botocoreModel struct {
	Metadata struct {
		APIVersion      string             `json:"apiVersion"`
		EndpointPrefix  string             `json:"endpointPrefix"`
		JSONVersion     string             `json:"jsonVersion"`
		Protocol        catalog.Protocol   `json:"protocol"`
		Protocols       []catalog.Protocol `json:"protocols"`
		ServiceID       string             `json:"serviceId"`
		SigningName     string             `json:"signingName"`
		TargetPrefix    string             `json:"targetPrefix"`
		QueryCompatible json.RawMessage    `json:"awsQueryCompatible"`
	} `json:"metadata"`
	Operations map[string]botocoreOperation `json:"operations"`
	Shapes     map[string]*botocoreShape    `json:"shapes"`

	// xml is what the service writes in XML and queries, nil for a service that
	// speaks other protocols.
	xml *xmlNames
}

type botocoreOperation struct {
	HTTP struct {
		Method string `json:"method"`
		URI    string `json:"requestUri"`
	} `json:"http"`
	Endpoint struct {
		HostPrefix string `json:"hostPrefix"`
	} `json:"endpoint"`
	Discovery struct {
		Required bool `json:"required"`
	} `json:"endpointdiscovery"`
	StaticParameters map[string]staticParameter `json:"staticContextParams"`
	Input            *botocoreMember            `json:"input"`
	Output           *botocoreMember            `json:"output"`
	Errors           []botocoreMember           `json:"errors"`
}

type botocoreShape struct {
	Type            string                    `json:"type"`
	Union           bool                      `json:"union"`
	Document        bool                      `json:"document"`
	Members         map[string]botocoreMember `json:"members"`
	Member          *botocoreMember           `json:"member"`
	Key             *botocoreMember           `json:"key"`
	Value           *botocoreMember           `json:"value"`
	Required        []string                  `json:"required"`
	Payload         string                    `json:"payload"`
	Flattened       bool                      `json:"flattened"`
	Namespace       *catalog.Namespace        `json:"xmlNamespace"`
	Enum            []string                  `json:"enum"`
	Min             json.Number               `json:"min"`
	Max             json.Number               `json:"max"`
	Pattern         string                    `json:"pattern"`
	TimestampFormat string                    `json:"timestampFormat"`
	Error           struct {
		Code   string `json:"code"`
		Status int    `json:"httpStatusCode"`
	} `json:"error"`
}

type botocoreMember struct {
	Shape           string             `json:"shape"`
	Location        string             `json:"location"`
	LocationName    string             `json:"locationName"`
	QueryName       string             `json:"queryName"`
	Flattened       bool               `json:"flattened"`
	Attribute       bool               `json:"xmlAttribute"`
	Namespace       *catalog.Namespace `json:"xmlNamespace"`
	Token           bool               `json:"idempotencyToken"`
	TimestampFormat string             `json:"timestampFormat"`
}

// model reads the model of a service.
func (b *botocoreFolder) model(key string) (*model, error) {
	text, name, err := b.read(path.Join(key, b.versions[key], serviceFile))
	if err != nil {
		return nil, err
	}
	file := &botocoreModel{}
	if err := json.Unmarshal(text, file); err != nil {
		return nil, &FileError{name, ErrModel, err}
	}
	m, err := file.model(key, name)
	if err != nil {
		return nil, &FileError{name, ErrModel, err}
	}
	m.endpoint, err = b.endpoints(key, file, m.service.Endpoint)
	return m, err
}

func (f *botocoreModel) model(key, name string) (*model, error) {
	md := f.Metadata
	if md.ServiceID == "" || md.EndpointPrefix == "" || md.APIVersion == "" {
		return nil, errors.New("its metadata needs serviceId, endpointPrefix and apiVersion")
	}
	protocols := md.Protocols
	if len(protocols) == 0 {
		protocols = []catalog.Protocol{md.Protocol}
	}
	for _, p := range protocols {
		if !slices.Contains(protocolOrder, p) {
			return nil, fmt.Errorf("the protocol %q is not known; known are %s", p, wordList(protocolOrder))
		}
	}
	f.xml = newXMLNames(protocols)
	m := &model{
		origin: name,
		service: catalog.Service{
			Name: md.ServiceID, Key: key, APIVersion: md.APIVersion, Protocols: protocols,
			QueryCompatible: md.QueryCompatible != nil,
			Endpoint:        catalog.Endpoint{Prefix: md.EndpointPrefix, SigningName: md.SigningName},
		},
		operations: namesOf(f.Operations),
		operation:  f.operation,
		shape:      f.shape,
	}
	if m.service.Endpoint.SigningName == "" {
		m.service.Endpoint.SigningName = md.EndpointPrefix
	}
	m.signing = m.service.Endpoint.SigningName
	var err error
	if m.service.Namespace, err = f.namespace(); err != nil {
		return nil, err
	}
	if slices.Contains(protocols, catalog.CBOR) {
		if m.service.TargetPrefix = md.TargetPrefix; md.TargetPrefix == "" {
			return nil, errors.New("its metadata needs targetPrefix for the protocol smithy-rpc-v2-cbor")
		}
	}
	if slices.Contains(protocols, catalog.AWSJSON) {
		m.service.JSONVersion, m.service.TargetPrefix = md.JSONVersion, md.TargetPrefix
		if md.JSONVersion == "" || md.TargetPrefix == "" {
			return nil, errors.New("its metadata needs jsonVersion and targetPrefix for the protocol json")
		}
	}
	return m, nil
}

func (f *botocoreModel) operation(name string) (*catalog.Operation, error) {
	from := f.Operations[name]
	o := &catalog.Operation{Name: name, Method: from.HTTP.Method, Path: from.HTTP.URI, HostPrefix: from.Endpoint.HostPrefix, Discovered: from.Discovery.Required}
	if from.Input != nil {
		o.InputShape = from.Input.Shape
	}
	if from.Output != nil {
		o.OutputShape = from.Output.Shape
	}
	for _, e := range from.Errors {
		shape := f.Shapes[e.Shape]
		if shape == nil {
			return nil, fmt.Errorf("there is no shape %q, which its errors name", e.Shape)
		}
		declared := catalog.Error{Shape: e.Shape, Code: shape.Error.Code, Status: shape.Error.Status}
		if declared.Code == e.Shape {
			declared.Code = ""
		}
		o.Errors = append(o.Errors, declared)
	}
	return o, nil
}

// botocoreTypes are the types of shapes without parts that are not their own
// names in the catalogue.
var botocoreTypes = map[string]catalog.ShapeType{
	"byte": catalog.Integer, "short": catalog.Integer, "bigInteger": catalog.Long, "biginteger": catalog.Long,
	"bigDecimal": catalog.Double, "bigdecimal": catalog.Double, "character": catalog.String,
	"blob": catalog.Blob, "boolean": catalog.Boolean, "string": catalog.String, "integer": catalog.Integer, "long": catalog.Long,
	"float": catalog.Float, "double": catalog.Double, "timestamp": catalog.Timestamp,
}

func (f *botocoreModel) shape(name string) (rawShape, error) {
	from := f.Shapes[name]
	if from == nil {
		return rawShape{}, fmt.Errorf("there is no shape %q", name)
	}
	format, err := botocoreFormat(from.TimestampFormat)
	if err != nil {
		return rawShape{}, fmt.Errorf("shape %s: %w", name, err)
	}
	to := &catalog.Shape{Name: name, Min: from.Min, Max: from.Max, Pattern: from.Pattern}
	element := func(m *botocoreMember) (err error) {
		if m == nil {
			return fmt.Errorf("shape %s: it does not say what it holds", name)
		}
		var member catalog.Member
		if member, err = m.member(""); err != nil {
			return fmt.Errorf("shape %s: %w", name, err)
		}
		member.Wire = ""
		if !from.Flattened { // else it is the name of the list
			member.Wire = f.xml.element(from.Type, m.LocationName)
		}
		to.Element = &member
		return nil
	}
	switch from.Type {
	case "structure":
		switch to.Type = catalog.Structure; {
		case from.Document:
			to.Type = catalog.Document
			return rawShape{shape: to}, nil
		case from.Union:
			to.Type = catalog.Union
		}
		for _, member := range namesOf(from.Members) {
			m, err := from.member(member)
			if err != nil {
				return rawShape{}, fmt.Errorf("shape %s: member %s: %w", name, member, err)
			}
			f.addXML(&m, from.Members[member])
			to.Members = append(to.Members, m)
		}
		to.Namespace = from.Namespace
	case "list":
		to.Type = catalog.List
		err = element(from.Member)
	case "map":
		to.Type = catalog.Map
		err = element(from.Value)
		if from.Key != nil {
			to.Key = f.xml.key(from.Key.LocationName)
		}
	default:
		var known bool
		if to.Type, known = botocoreTypes[from.Type]; !known {
			err = fmt.Errorf("shape %s: the type %q is not known", name, from.Type)
		}
		if to.Type == catalog.String {
			to.Enum = from.Enum
		}
	}
	return rawShape{to, format}, err
}

// member converts a member of a structure.
func (s *botocoreShape) member(name string) (catalog.Member, error) {
	from := s.Members[name]
	m, err := from.member(name)
	if err != nil {
		return m, err
	}
	m.Required = slices.Contains(s.Required, name)
	if s.Payload == name {
		m.In = catalog.InPayload
	}
	return m, nil
}

// botocoreLocations are the parts of an HTTP message by their names in a model.
var botocoreLocations = map[string]catalog.Location{
	"": "", "uri": catalog.InPath, "querystring": catalog.InQuery, "header": catalog.InHeader, "headers": catalog.InHeaders,
	"statusCode": catalog.InStatus,
}

func (m *botocoreMember) member(name string) (catalog.Member, error) {
	in, known := botocoreLocations[m.Location]
	if !known {
		return catalog.Member{}, fmt.Errorf("the location %q is not known", m.Location)
	}
	format, err := botocoreFormat(m.TimestampFormat)
	if err != nil {
		return catalog.Member{}, err
	}
	to := catalog.Member{Name: name, Target: m.Shape, Token: m.Token, In: in, Wire: m.LocationName, Format: format}
	if in == catalog.InStatus || in == catalog.InQuery && m.LocationName == "" {
		to.Wire = ""
	}
	return to, nil
}

// botocoreFormat is the format of a timestamp by its name in a model.
func botocoreFormat(format string) (string, error) {
	switch strings.ToLower(format) {
	case "", "iso8601", "rfc822":
		return strings.ToLower(format), nil
	case "unixtimestamp":
		return "unixTimestamp", nil
	default:
		return "", fmt.Errorf("the timestamp format %q is not known", format)
	}
}
