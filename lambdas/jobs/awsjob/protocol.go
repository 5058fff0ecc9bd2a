package awsjob

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"
	"github.com/aws/smithy-go/transport/http/protocol/ec2query"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"
	"github.com/aws/smithy-go/transport/http/protocol/restxml"
	"github.com/aws/smithy-go/transport/http/protocol/rpcv2"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// ErrUnsupported means that an operation cannot be called without the SDK's own
// client: see UnsupportedError.
var ErrUnsupported = errors.New("operation cannot be called")

// UnsupportedError is the ErrUnsupported of an operation.
type UnsupportedError struct {
	// Operation is the service's key in the catalogue and the operation's name,
	// as in "ec2:DescribeInstances".
	Operation string
	// Protocols are those that the service speaks, if that is the reason.
	Protocols []catalog.Protocol
	// Lack says what is missing, and Advice what can be done.
	Lack, Advice string
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s cannot be called: %s; %s", e.Operation, e.Lack, e.Advice)
}

// Unwrap returns ErrUnsupported.
func (*UnsupportedError) Unwrap() error { return ErrUnsupported }

const useTheSDK = "write a driver with the service's client of the AWS SDK (docs/guide/drivers.md)"

// operationName names an operation as IAM does.
func operationName(op *catalog.Operation) string { return op.Service.Key + ":" + op.Name }

// preferred are the protocols in the order in which one is chosen of those that a
// service speaks: JSON first, which people can read in a log, as botocore does.
var preferred = []catalog.Protocol{catalog.AWSJSON, catalog.RESTJSON, catalog.RESTXML, catalog.CBOR, catalog.AWSQuery, catalog.EC2Query}

// chooseProtocol returns the protocol in which a service is called, empty if it
// speaks none that is known.
func chooseProtocol(service *catalog.Service) catalog.Protocol {
	for _, p := range preferred {
		if slices.Contains(service.Protocols, p) {
			return p
		}
	}
	return ""
}

// newProtocol returns the SDK's code for the protocol of the service.
func newProtocol(op *catalog.Operation) (smithyhttp.ClientProtocol, error) { //nolint:ireturn // which one is for the service to say
	service := op.Service
	id := smithy.ShapeID{Namespace: namespace(service), Name: service.TargetPrefix}
	var all []smithy.Trait
	if service.QueryCompatible {
		all = append(all, &traits.AWSQueryCompatible{})
	}
	if service.Namespace != "" {
		all = append(all, &traits.XMLNamespace{URI: service.Namespace})
	}
	schema := smithy.NewServiceSchema(smithy.NewSchema(id, smithy.ShapeTypeService, 0, all...), service.APIVersion)
	switch chooseProtocol(service) {
	case catalog.AWSJSON:
		if service.JSONVersion == "1.0" {
			return awsjson.New10(schema), nil
		}
		return awsjson.New11(schema), nil
	case catalog.RESTJSON:
		return restjson1.New(schema), nil
	case catalog.RESTXML:
		return restxml.New(schema), nil
	case catalog.CBOR:
		return rpcv2.NewCBOR(schema), nil
	case catalog.AWSQuery:
		return awsquery.New(schema), nil
	case catalog.EC2Query:
		return ec2query.New(schema), nil
	}
	return nil, &UnsupportedError{
		Operation: operationName(op), Protocols: slices.Clone(service.Protocols),
		Lack: fmt.Sprintf("%s speaks %v, which this package does not know", service.Name, service.Protocols), Advice: useTheSDK,
	}
}

func namespace(s *catalog.Service) string { return "com.amazonaws." + s.Key }

// newSchema describes the operation to the SDK's protocols.
func newSchema(op *catalog.Operation) *smithy.OperationSchema {
	s := schemas{op: op, of: map[*catalog.Shape]*smithy.Schema{}, json: speaksJSON(op.Service)}
	id := smithy.ShapeID{Namespace: namespace(op.Service), Name: op.Name}
	http := &traits.HTTP{Method: op.Method, URI: s.path(), Code: 200}
	return smithy.NewOperationSchema(smithy.NewSchema(id, smithy.ShapeTypeOperation, 0, http), s.schema(op.Input), s.schema(op.Output))
}

// schemas are those of an operation's shapes, which may contain themselves.
type schemas struct {
	op *catalog.Operation
	of map[*catalog.Shape]*smithy.Schema
	// json tells that bodies are JSON, and no XML, queries or CBOR.
	json bool
}

// speaksJSON reports whether a service is called in JSON.
func speaksJSON(service *catalog.Service) bool {
	p := chooseProtocol(service)
	return p == catalog.AWSJSON || p == catalog.RESTJSON
}

var shapeTypes = map[catalog.ShapeType]smithy.ShapeType{
	catalog.Structure: smithy.ShapeTypeStructure,
	catalog.Union:     smithy.ShapeTypeUnion,
	catalog.List:      smithy.ShapeTypeList,
	catalog.Map:       smithy.ShapeTypeMap,
	catalog.Blob:      smithy.ShapeTypeBlob,
	catalog.Boolean:   smithy.ShapeTypeBoolean,
	catalog.String:    smithy.ShapeTypeString,
	catalog.Integer:   smithy.ShapeTypeInteger,
	catalog.Long:      smithy.ShapeTypeLong,
	catalog.Float:     smithy.ShapeTypeFloat,
	catalog.Double:    smithy.ShapeTypeDouble,
	catalog.Timestamp: smithy.ShapeTypeTimestamp,
	catalog.Document:  smithy.ShapeTypeDocument,
}

// schema returns nil for no shape.
func (s *schemas) schema(shape *catalog.Shape) *smithy.Schema {
	if shape == nil {
		return nil
	}
	if known := s.of[shape]; known != nil {
		return known
	}
	id := smithy.ShapeID{Namespace: namespace(s.op.Service), Name: shape.Name}
	schema := smithy.NewSchema(id, shapeTypes[shape.Type], len(shape.Members))
	s.of[shape] = schema
	for _, m := range shape.Members {
		schema.AddMember(m.Name, s.schema(m.Shape), s.memberTraits(m)...)
	}
	if shape.Type == catalog.List {
		schema.AddMember("member", s.schema(shape.Element.Shape), s.memberTraits(*shape.Element)...)
	}
	if shape.Type == catalog.Map {
		key := smithy.NewSchema(smithy.ShapeID{Namespace: "smithy.api", Name: "String"}, smithy.ShapeTypeString, 0)
		schema.AddMember("key", key, s.bodyTraits(catalog.Member{Wire: shape.Key})...)
		schema.AddMember("value", s.schema(shape.Element.Shape), s.memberTraits(*shape.Element)...)
	}
	return schema
}

// timestampFormats are Smithy's names of the formats.
var timestampFormats = map[string]string{"iso8601": "date-time", "rfc822": "http-date", "unixTimestamp": "epoch-seconds"}

func (s *schemas) memberTraits(m catalog.Member) []smithy.Trait {
	var all []smithy.Trait
	switch m.In {
	case catalog.InPath:
		all = append(all, &traits.HTTPLabel{})
	case catalog.InQuery:
		if m.Shape.Type == catalog.Map {
			all = append(all, &traits.HTTPQueryParams{})
		} else {
			all = append(all, &traits.HTTPQuery{Name: m.WireName()})
		}
	case catalog.InHeader:
		all = append(all, &traits.HTTPHeader{Name: m.WireName()})
	case catalog.InHeaders:
		all = append(all, &traits.HTTPPrefixHeaders{Prefix: m.Wire})
	case catalog.InStatus:
		all = append(all, &traits.HTTPResponseCode{})
	case catalog.InPayload:
		all = append(all, &traits.HTTPPayload{})
		all = append(all, s.bodyTraits(catalog.Member{Shape: m.Shape, Wire: m.WireName()})...)
	default:
		all = s.bodyTraits(m)
	}
	if m.Format != "" {
		all = append(all, &traits.TimestampFormat{Format: timestampFormats[m.Format]})
	}
	return all
}

// bodyTraits are those of a member in a body.
func (s *schemas) bodyTraits(m catalog.Member) []smithy.Trait {
	var all []smithy.Trait
	switch {
	case m.Wire == "":
	case s.json:
		all = append(all, &traits.JSONName{Name: m.Wire})
	default:
		all = append(all, &traits.XMLName{Name: m.Wire})
	}
	if m.Query != "" {
		all = append(all, &traits.EC2QueryName{Name: m.Query})
	}
	if m.Flat {
		all = append(all, &traits.XMLFlattened{})
	}
	if m.Attribute {
		all = append(all, &traits.XMLAttribute{})
	}
	if m.Shape != nil && m.Shape.Namespace != nil {
		all = append(all, &traits.XMLNamespace{URI: m.Shape.Namespace.URI, Prefix: m.Shape.Namespace.Prefix})
	}
	return all
}

// path is the operation's, with the names of members for labels.
func (s *schemas) path() string {
	path := s.op.Path
	if s.op.Input == nil {
		return path
	}
	for _, m := range s.op.Input.Members {
		if m.In == catalog.InPath && m.WireName() != m.Name {
			path = strings.ReplaceAll(path, "{"+m.Wire+"}", "{"+m.Name+"}")
			path = strings.ReplaceAll(path, "{"+m.Wire+"+}", "{"+m.Name+"+}")
		}
	}
	return path
}
