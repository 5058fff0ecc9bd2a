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
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"

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

// newProtocol returns the first protocol of the service that this package
// speaks.
func newProtocol(op *catalog.Operation) (smithyhttp.ClientProtocol, error) { //nolint:ireturn // which one is for the service to say
	service := op.Service
	id := smithy.ShapeID{Namespace: namespace(service), Name: service.TargetPrefix}
	var compatible []smithy.Trait
	if service.QueryCompatible {
		compatible = append(compatible, &traits.AWSQueryCompatible{})
	}
	schema := smithy.NewServiceSchema(smithy.NewSchema(id, smithy.ShapeTypeService, 0, compatible...), service.APIVersion)
	for _, p := range service.Protocols {
		switch {
		case p == catalog.AWSJSON && service.JSONVersion == "1.0":
			return awsjson.New10(schema), nil
		case p == catalog.AWSJSON:
			return awsjson.New11(schema), nil
		case p == catalog.RESTJSON:
			return restjson1.New(schema), nil
		}
	}
	names := make([]string, len(service.Protocols))
	for i, p := range service.Protocols {
		names[i] = string(p)
	}
	return nil, &UnsupportedError{
		Operation: operationName(op), Protocols: slices.Clone(service.Protocols),
		Lack:   fmt.Sprintf("%s speaks %s, and this driver supports only awsJson and restJson1", service.Name, strings.Join(names, ", ")),
		Advice: useTheSDK,
	}
}

func namespace(s *catalog.Service) string { return "com.amazonaws." + s.Key }

// newSchema describes the operation to the SDK's protocols.
func newSchema(op *catalog.Operation) *smithy.OperationSchema {
	s := schemas{op: op, of: map[*catalog.Shape]*smithy.Schema{}}
	id := smithy.ShapeID{Namespace: namespace(op.Service), Name: op.Name}
	http := &traits.HTTP{Method: op.Method, URI: s.path(), Code: 200}
	return smithy.NewOperationSchema(smithy.NewSchema(id, smithy.ShapeTypeOperation, 0, http), s.schema(op.Input), s.schema(op.Output))
}

// schemas are those of an operation's shapes, which may contain themselves.
type schemas struct {
	op *catalog.Operation
	of map[*catalog.Shape]*smithy.Schema
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
		schema.AddMember(m.Name, s.schema(m.Shape), memberTraits(m)...)
	}
	if shape.Type == catalog.List {
		schema.AddMember("member", s.schema(shape.Element.Shape), memberTraits(*shape.Element)...)
	}
	if shape.Type == catalog.Map {
		schema.AddMember("key", smithy.NewSchema(smithy.ShapeID{Namespace: "smithy.api", Name: "String"}, smithy.ShapeTypeString, 0))
		schema.AddMember("value", s.schema(shape.Element.Shape), memberTraits(*shape.Element)...)
	}
	return schema
}

// timestampFormats are Smithy's names of the formats.
var timestampFormats = map[string]string{"iso8601": "date-time", "rfc822": "http-date", "unixTimestamp": "epoch-seconds"}

func memberTraits(m catalog.Member) []smithy.Trait {
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
	default:
		if m.Wire != "" {
			all = append(all, &traits.JSONName{Name: m.Wire})
		}
	}
	if m.Format != "" {
		all = append(all, &traits.TimestampFormat{Format: timestampFormats[m.Format]})
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
