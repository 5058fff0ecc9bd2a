package typecheck

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// httpCode is the member of httpMetadata with the code of the response.
const httpCode = "HttpStatusCode"

// codesOfInvoke are the codes of the calls of Lambda's Invoke that succeed, by InvocationType: any other code fails the
// Task. A function that raises an error has the first, too.
var codesOfInvoke = map[string]float64{"RequestResponse": 200, "Event": 202, "DryRun": 204}

// withCodes is the result of a call that has succeeded, with the code of its response where that follows from the call.
func (a *API) withCodes(v Value, s *asl.State) Value {
	if !HasCode(s) || v.IsNothing() {
		return v
	}
	code, name := Value{}, HTTPStatus
	set := func(to Value) { v = update(v, namesOf([]string{name}), func(Value) Value { return to }) }
	switch {
	case isInvoke(s):
		code, v = codeOfInvoke(s), v.only(objects)
		set(code)
	case a.answers200():
		code = numberOf(200) //nolint:mnd // OK
	}
	if _, sdk := asl.ParseResource(s.Task.Resource).SDK(); sdk || code.IsUnknown() {
		return v
	}
	name = httpMetadata
	set(update(ofKinds(objects), namesOf([]string{httpCode}), func(Value) Value { return code }))
	return v
}

// HasCode tells whether the result of a state may have the code of a response by a name that AWS gives it.
func HasCode(s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	r := asl.ParseResource(s.Task.Resource)
	_, sdk := r.SDK()
	return r.Pattern == "" && (isInvoke(s) || !r.Direct && !sdk && optimized[r.Service].service != "")
}

// WithoutCodes finds the types of the same machine, where nobody knows the codes of calls that succeed.
func (c *Checker) WithoutCodes() (*Checker, error) {
	results := maps.Clone(c.results)
	if results == nil {
		results = map[*asl.State]Value{}
	}
	for s := range c.machine.All {
		if _, known := results[s]; known || !HasCode(s) {
			continue
		}
		if api := c.apis[s.Task.Resource]; api != nil {
			results[s] = api.result()
		}
	}
	return c.With(results)
}

// isInvoke tells whether a Task calls a Lambda function.
func isInvoke(s *asl.State) bool {
	r := asl.ParseResource(s.Task.Resource)
	name, sdk := r.SDK()
	return (r.Service == "lambda" || sdk && name == "lambda") && r.Action == "invoke"
}

// answers200 tells whether each call of the service that succeeds has the code 200: operations of the other protocols
// choose it.
func (a *API) answers200() bool {
	return a.Output != nil && a.service != nil && len(a.service.Protocols) > 0 && !slices.ContainsFunc(a.service.Protocols, func(p catalog.Protocol) bool {
		return p != catalog.AWSJSON && p != catalog.AWSQuery && p != catalog.CBOR
	})
}

// codeOfInvoke is the code of a call of Lambda's Invoke that succeeds.
func codeOfInvoke(s *asl.State) Value {
	t := s.Parameters
	if s.QueryLanguage == asl.JSONata {
		t = s.Arguments
	}
	if kind, known := kindOfInvoke(t); known {
		if code, known := codesOfInvoke[kind]; known {
			return numberOf(code)
		}
	}
	code := Nothing()
	for _, kind := range slices.Sorted(maps.Keys(codesOfInvoke)) {
		code = join(code, numberOf(codesOfInvoke[kind]))
	}
	return code
}

// kindOfInvoke is the InvocationType that a template of arguments gives, if it is written.
func kindOfInvoke(t *asl.Template) (kind string, known bool) {
	const name, usual = "InvocationType", "RequestResponse"
	switch {
	case t == nil:
		return "", false
	case t.Kind == asl.TemplateLiteral:
		object, known := t.Literal.(map[string]any)
		if kind, isGiven := object[name]; isGiven {
			text, isText := kind.(string)
			return text, isText
		}
		return usual, known
	case t.Kind != asl.TemplateObject:
		return "", false
	}
	i := slices.IndexFunc(t.Object, func(m asl.TemplateMember) bool { return m.Name == name })
	if i < 0 {
		return usual, true
	}
	kind, known = t.Object[i].Value.Literal.(string)
	return kind, known
}
