package catalogimport

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ruleSet are the rules by which a client finds the endpoint of a service
// (https://smithy.io/2.0/additional-specs/rules-engine/specification.html), as
// far as they are about regions: what reads a bucket or an ARN is not known here.
type ruleSet struct {
	Parameters map[string]struct {
		Default any `json:"default"`
	} `json:"parameters"`
	Rules []rule `json:"rules"`

	partitions []*partition
}

type rule struct {
	Conditions []condition   `json:"conditions"`
	Rules      []rule        `json:"rules"`
	Endpoint   *ruleEndpoint `json:"endpoint"`
	Error      any           `json:"error"`
}

type condition struct {
	Function string `json:"fn"`
	Args     []any  `json:"argv"`
	Assign   string `json:"assign"`
}

type ruleEndpoint struct {
	URL        any `json:"url"`
	Properties struct {
		AuthSchemes []map[string]any `json:"authSchemes"`
	} `json:"properties"`
}

// errNoEndpoint means that the rules have no endpoint for a region.
var errNoEndpoint = errors.New("the rules have no endpoint")

// resolved is an endpoint whose texts are filled in.
type resolved struct {
	URL     string
	schemes []map[string]string
}

// host is the host of the URL, empty if that has more parts.
func (r *resolved) host() string {
	host, ok := strings.CutPrefix(r.URL, "https://")
	if !ok || strings.ContainsAny(host, "/?#@:") {
		return ""
	}
	return host
}

// signing is a property of the first scheme of authentication.
func (r *resolved) signing(name string) string {
	if len(r.schemes) == 0 {
		return ""
	}
	return r.schemes[0][name]
}

// resolve follows the rules for a region. Its error is errNoEndpoint, or tells
// what the rules have that is not known here.
func (r *ruleSet) resolve(region string, parameters map[string]any) (*resolved, error) {
	scope := map[string]any{}
	for name, p := range r.Parameters {
		if p.Default != nil {
			scope[name] = p.Default
		}
	}
	scope["UseFIPS"], scope["UseDualStack"] = false, false
	maps.Copy(scope, parameters)
	scope["Region"] = region
	to, err := r.follow(r.Rules, scope)
	if err == nil && to == nil {
		err = errNoEndpoint
	}
	return to, err
}

func (r *ruleSet) follow(rules []rule, outer map[string]any) (*resolved, error) {
	for i := range rules {
		scope := maps.Clone(outer)
		holds, err := r.hold(rules[i].Conditions, scope)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		switch to := rules[i].Endpoint; {
		case to != nil:
			return r.fill(to, scope)
		case rules[i].Error != nil:
			return nil, errNoEndpoint
		}
		if to, err := r.follow(rules[i].Rules, scope); to != nil || err != nil {
			return to, err
		}
	}
	return nil, nil //nolint:nilnil // no rule applies
}

// hold tells whether all conditions hold, and keeps what they assign.
func (r *ruleSet) hold(conditions []condition, scope map[string]any) (bool, error) {
	for _, c := range conditions {
		value, err := r.call(c.Function, c.Args, scope)
		if err != nil {
			return false, err
		}
		if value == nil || value == false {
			return false, nil
		}
		if c.Assign != "" {
			scope[c.Assign] = value
		}
	}
	return true, nil
}

func (r *ruleSet) fill(from *ruleEndpoint, scope map[string]any) (*resolved, error) {
	url, err := r.text(from.URL, scope)
	if err != nil {
		return nil, err
	}
	to := &resolved{URL: url}
	for _, scheme := range from.Properties.AuthSchemes {
		filled := map[string]string{}
		for _, name := range []string{"signingName", "signingRegion"} {
			if scheme[name] == nil {
				continue
			}
			if filled[name], err = r.text(scheme[name], scope); err != nil {
				return nil, err
			}
		}
		to.schemes = append(to.schemes, filled)
	}
	return to, nil
}

func (r *ruleSet) text(of any, scope map[string]any) (string, error) {
	value, err := r.value(of, scope)
	if err != nil {
		return "", err
	}
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("the rules give %v where a text is expected", value)
	}
	return text, nil
}

// placeholder is a reference within a text: {Region} or {Partition#dnsSuffix}.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// value evaluates an argument: a reference, a call, a text with references, or
// a constant.
func (r *ruleSet) value(of any, scope map[string]any) (any, error) {
	switch v := of.(type) {
	case string:
		var wrong error
		filled := placeholder.ReplaceAllStringFunc(v, func(reference string) string {
			name, attribute, has := strings.Cut(reference[1:len(reference)-1], "#")
			value := scope[name]
			if has {
				var err error
				if value, err = getAttribute(value, attribute); err != nil {
					wrong = err
				}
			}
			text, ok := value.(string)
			if !ok && wrong == nil {
				wrong = fmt.Errorf("the text %q has no value for %s", v, reference)
			}
			return text
		})
		return filled, wrong
	case map[string]any:
		if name, ok := v["ref"].(string); ok {
			return scope[name], nil
		}
		name, _ := v["fn"].(string)
		args, _ := v["argv"].([]any)
		return r.call(name, args, scope)
	default:
		return v, nil
	}
}

// functions are those that are known, with the number of their arguments.
var functions = map[string]int{
	"isSet": 1, "not": 1, "booleanEquals": 2, "stringEquals": 2, "getAttr": 2, "aws.partition": 1, "isValidHostLabel": 2,
}

// hostLabel is a part of a host name.
var hostLabel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)

// call evaluates a function.
func (r *ruleSet) call(name string, args []any, scope map[string]any) (any, error) {
	count, known := functions[name]
	if !known || len(args) != count {
		return nil, fmt.Errorf("the function %s with %d arguments is not supported", name, len(args))
	}
	values := make([]any, len(args))
	for i, arg := range args {
		var err error
		if values[i], err = r.value(arg, scope); err != nil {
			return nil, err
		}
	}
	switch first := values[0]; name {
	case "isSet":
		return first != nil, nil
	case "not":
		return first == nil || first == false, nil
	case "booleanEquals", "stringEquals":
		return equalConstants(first, values[1]), nil
	case "getAttr":
		attribute, _ := values[1].(string)
		return getAttribute(first, attribute)
	case "aws.partition":
		return r.partitionOf(first), nil
	default: // isValidHostLabel
		label, _ := first.(string)
		if values[1] == true {
			return !slices.ContainsFunc(strings.Split(label, "."), func(l string) bool { return !hostLabel.MatchString(l) }), nil
		}
		return hostLabel.MatchString(label), nil
	}
}

// equalConstants compares texts or booleans. Others have no equal.
func equalConstants(a, b any) bool {
	switch a := a.(type) {
	case string:
		return a == b
	case bool:
		return a == b
	default:
		return false
	}
}

// getAttribute reads a member of an object.
func getAttribute(of any, name string) (any, error) {
	object, ok := of.(map[string]any)
	if !ok || strings.ContainsAny(name, ".[") {
		return nil, fmt.Errorf("the attribute %s of %v is not supported", name, of)
	}
	return object[name], nil
}

// partitionOf is what rules read of a region's partition, nil if none has it.
func (r *ruleSet) partitionOf(region any) any {
	name, _ := region.(string)
	for _, p := range r.partitions {
		if _, ok := p.Regions[name]; ok {
			outputs := maps.Clone(p.Outputs)
			outputs["name"] = p.ID
			return outputs
		}
	}
	return nil
}

// staticParameter is the value of a parameter for one operation.
type staticParameter struct {
	Value any `json:"value"`
}
