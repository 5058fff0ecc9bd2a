package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

// Service is an AWS service: the names that it has in several places, how it is
// called, and what the catalogue knows to wait for. It is never changed after
// it was read, and safe for concurrent use.
type Service struct {
	// Name is what the SDKs call the service (sdkId): "Auto Scaling".
	Name string `json:"name"`
	// Key is what the AWS CLI calls it: "autoscaling", "stepfunctions". It is
	// the service's name in the catalogue.
	Key string `json:"key"`
	// ARNName names it in the ARN of a Step Functions SDK integration:
	// arn:aws:states:::aws-sdk:<ARNName>:<action>.
	ARNName string `json:"arnName"`
	// ErrorPrefix is what the names of its errors start with in Step Functions,
	// without the dot: "DynamoDb".
	ErrorPrefix string `json:"errorPrefix"`
	// IAMPrefix is what its IAM actions start with, without the colon.
	IAMPrefix string `json:"iamPrefix"`
	// APIVersion is the date in the service's model.
	APIVersion string `json:"apiVersion"`
	// Protocols are those that the service speaks, the preferred one first.
	Protocols []Protocol `json:"protocols"`
	// JSONVersion is that of the awsJson content type, "1.0" or "1.1", and
	// TargetPrefix what the X-Amz-Target header starts with, without the dot, and
	// the service's name in paths of [CBOR].
	JSONVersion  string `json:"jsonVersion,omitempty"`
	TargetPrefix string `json:"targetPrefix,omitempty"`
	// QueryCompatible tells that the service spoke the AWS query protocol once
	// and names errors by their codes of then, too (awsQueryCompatible).
	QueryCompatible bool `json:"queryCompatible,omitempty"`
	// Namespace is that of the XML in requests, for a service that speaks
	// [RESTXML].
	Namespace string   `json:"namespace,omitempty"`
	Endpoint  Endpoint `json:"endpoint"`
	// Throttled is the service's own exception of the code by which AWS denies calls that are too
	// frequent, if one of its operations declares it. See [Operation.Throttling].
	Throttled *Error `json:"throttled,omitempty"`

	// Operations are the ones that waiters and jobs of the catalogue call, by
	// name.
	Operations map[string]*Operation `json:"operations"`
	// Shapes are the types of their inputs and outputs, by name.
	Shapes map[string]*Shape `json:"shapes"`
	// Waiters and Jobs are the data behind [Lookup], by name; a job's name is
	// that of the operation that starts it.
	Waiters map[string]*WaiterData `json:"waiters,omitempty"`
	Jobs    map[string]*Job        `json:"jobs,omitempty"`
}

// ErrorName is what Step Functions calls an error that the service's model declares: the
// class that the AWS SDK for Java has for its shape.
func (s *Service) ErrorName(shape string) string {
	return s.ErrorPrefix + "." + javasdk.ExceptionName(s.Name, shape)
}

// UnmodeledErrorName is what Step Functions calls all errors that the service's model
// does not declare.
func (s *Service) UnmodeledErrorName() string {
	return s.ErrorPrefix + "." + javasdk.ServiceException(s.Name)
}

// Protocol is how requests and responses are written, by the names of service
// models.
type Protocol string

// The protocols.
const (
	AWSJSON  Protocol = "json" // Smithy's awsJson1_0 and awsJson1_1
	RESTJSON Protocol = "rest-json"
	RESTXML  Protocol = "rest-xml"
	AWSQuery Protocol = "query"
	EC2Query Protocol = "ec2"
	CBOR     Protocol = "smithy-rpc-v2-cbor"
)

// Endpoint is where a service is reached: at
// https://<Prefix>.<region>.<suffix of the partition>, unless it is global.
type Endpoint struct {
	Prefix string `json:"prefix"`
	// SigningName is the service in the scope of a signature.
	SigningName string `json:"signingName,omitempty"`
	// Global are the endpoints of a service without regions, by the name of
	// the partition ("aws", "aws-cn", "aws-us-gov").
	Global map[string]GlobalEndpoint `json:"global,omitempty"`
	// DualStack tells that the service is under the partition's suffix for
	// dual-stack endpoints alone, such as api.aws.
	DualStack bool `json:"dualStack,omitempty"`
	// Hosts are the host names of regions where the service has another than
	// the rule gives, by the name of the region.
	Hosts map[string]string `json:"hosts,omitempty"`
	// Without are the names of the partitions that have no such endpoint.
	Without []string `json:"without,omitempty"`
	// FIPS, Dual and FIPSDual are the endpoints for FIPS, for dual-stack and for
	// both, with no more than where they are; nil if there are none.
	FIPS     *Endpoint `json:"fips,omitempty"`
	Dual     *Endpoint `json:"dual,omitempty"`
	FIPSDual *Endpoint `json:"fipsDual,omitempty"`
}

// GlobalEndpoint is the one endpoint of a service in a partition.
type GlobalEndpoint struct {
	Hostname string `json:"hostname"`
	Region   string `json:"region"` // for the signature
}

// Operation is an operation of a service.
type Operation struct {
	Name    string   `json:"-"`
	Service *Service `json:"-"`
	// Input and Output are nil if the operation has none.
	Input  *Shape `json:"-"`
	Output *Shape `json:"-"`
	// Method and Path are the HTTP binding: the path has labels such as
	// {jobId}, or {key+} for one that may hold slashes. A service that does not
	// speak REST has POST and / for all, which are left out.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	// HostPrefix stands before the host name of the endpoint, such as "api." or
	// "{AccountId}.", which holds the value of a member of the input.
	HostPrefix string `json:"hostPrefix,omitempty"`
	// Endpoint is the operation's own, if it is not the service's.
	Endpoint *Endpoint `json:"endpoint,omitempty"`
	// Discovered tells that the operation has endpoints of its own, which the
	// service has to be asked for first, by its [EndpointOperation].
	Discovered bool `json:"discovered,omitempty"`
	// Errors are those that the model declares for the operation, and behind
	// them those that are known by their HTTP status alone.
	Errors []Error `json:"errors,omitempty"`
	// Actions are the IAM actions that a caller needs. They are the service's
	// prefix and the operation's name, where the tables say nothing else.
	Actions []string `json:"actions,omitempty"`
	// Resources are the ARNs that the actions are on, with placeholders such as
	// ${Partition} and ${TableName}; empty where the tables do not say, or an
	// action knows no resource.
	Resources []string `json:"resources,omitempty"`

	// Presence says when members of the output are there, by their paths, where that is
	// not always. See [Operation.Later].
	Presence map[string]Presence `json:"presence,omitempty"`

	InputShape  string `json:"input,omitempty"`
	OutputShape string `json:"output,omitempty"`
}

// EndpointOperation is the operation that gives the endpoints of operations that are
// Discovered.
const EndpointOperation = "DescribeEndpoints"

// On returns the ARNs that the actions are on: the Resources, or an asterisk
// where they are not known.
func (o *Operation) On() []string {
	if len(o.Resources) == 0 {
		return []string{"*"}
	}
	return o.Resources
}

// Missing are the members that an input of the operation needs and does not have.
func (o *Operation) Missing(input map[string]any) []string {
	if o.Input == nil {
		return nil
	}
	var missing []string
	for _, m := range o.Input.Members {
		if _, has := input[m.Name]; !has && (m.Required || m.In == InPath) {
			missing = append(missing, m.Name)
		}
	}
	return missing
}

// Error is an error of an operation.
type Error struct {
	// Shape is the name of the error's shape, Code what the service sends, if
	// that differs (the AWS query protocol). Shape is empty if the model does
	// not declare the error: then Code is what SDKs make of the status of an
	// answer that names no error.
	Shape string `json:"shape,omitempty"`
	Code  string `json:"code,omitempty"`
	// Status is the HTTP status, 0 if the model does not say.
	Status int `json:"status,omitempty"`
}

// errorJSON is the long form of an Error in the data; the short one is the name
// of its shape.
type errorJSON Error

// MarshalJSON implements json.Marshaler.
func (e Error) MarshalJSON() ([]byte, error) {
	if e == (Error{Shape: e.Shape}) {
		return json.Marshal(e.Shape)
	}
	return json.Marshal(errorJSON(e))
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Error) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &e.Shape)
	}
	return json.Unmarshal(text, (*errorJSON)(e))
}

// WaiterData is a waiter of AWS's, as it is stored.
type WaiterData struct {
	// Operation is polled.
	Operation string `json:"operation"`
	// TotalWait is how long botocore polls at most, in seconds; 0 if the
	// waiter comes from a Smithy model, which leaves it to the caller.
	TotalWait int `json:"totalWait,omitempty"`
	// Waiter has the Smithy form, the JSON value of the waitable trait.
	Waiter json.RawMessage `json:"waiter"`
	// Ends are statuses that the waiter does not know for ends.
	Ends []WaiterEnd `json:"ends,omitempty"`
}

// Link connects the operations and shapes of a service that was read or
// built: it sets their names and resolves references. Its error names the first
// part that is missing, of no known type, or refers to a shape that is not
// there.
func (s *Service) Link() error {
	if err := s.whole(); err != nil {
		return fmt.Errorf("service %s: %w", s.Key, err)
	}
	for name, shape := range s.Shapes {
		shape.Name = name
	}
	for _, name := range slices.Sorted(maps.Keys(s.Shapes)) {
		shape := s.Shapes[name]
		for i := range shape.Members {
			if err := s.resolve(&shape.Members[i]); err != nil {
				return fmt.Errorf("service %s: shape %s: %w", s.Key, name, err)
			}
		}
		if shape.Element != nil {
			if err := s.resolve(shape.Element); err != nil {
				return fmt.Errorf("service %s: shape %s: %w", s.Key, name, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Operations)) {
		o := s.Operations[name]
		o.Name, o.Service = name, s
		for _, side := range []struct {
			name  string
			shape **Shape
		}{{o.InputShape, &o.Input}, {o.OutputShape, &o.Output}} {
			if side.name == "" {
				continue
			}
			if *side.shape = s.Shapes[side.name]; *side.shape == nil {
				return fmt.Errorf("service %s: operation %s: there is no shape %q", s.Key, name, side.name)
			}
		}
	}
	return nil
}

// whole refuses what a file can say and nothing can be done with, so that those
// who use a service need not ask.
func (s *Service) whole() error {
	for _, name := range slices.Sorted(maps.Keys(s.Shapes)) {
		switch shape := s.Shapes[name]; {
		case shape == nil:
			return fmt.Errorf("shape %s is null", name)
		case shape.Type == List || shape.Type == Map:
			if shape.Element == nil {
				return fmt.Errorf("shape %s: a %s needs an element", name, shape.Type)
			}
		case shape.Type == Structure || shape.Type == Union:
		case simple[shape.Type] == nil:
			return fmt.Errorf("shape %s: the type %q is not known", name, shape.Type)
		}
	}
	return errors.Join(present("operation", s.Operations), present("waiter", s.Waiters), present("job", s.Jobs))
}

// present refuses parts that are null.
func present[V any](what string, parts map[string]*V) error {
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if parts[name] == nil {
			return fmt.Errorf("%s %s is null", what, name)
		}
	}
	return nil
}

func (s *Service) resolve(m *Member) error {
	if m.Shape = simple[ShapeType(m.Target)]; m.Shape != nil {
		return nil
	}
	if m.Shape = s.Shapes[m.Target]; m.Shape == nil {
		return fmt.Errorf("member %s: there is no shape %q", m.Name, m.Target)
	}
	return nil
}
