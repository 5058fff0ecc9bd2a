package cdkapp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// arguments are those of a call, whose model has their members. Nil stays nil: they
// are the machine's input.
func (p *polling) arguments(op *catalog.Operation, token string, strategy compile.Strategy) map[string]any {
	if p.Arguments == nil || *p.Arguments == nil {
		return nil
	}
	language := asl.JSONata
	if strategy.Language() == asl.JSONPath {
		language = asl.JSONPath
	}
	plain := argumentReader{p.where, language}.value("Arguments", reflect.ValueOf(*p.Arguments))
	text, err := json.Marshal(plain)
	if err != nil {
		p.refuseFor(err, "Arguments", "%v", err)
	}
	if op.Input != nil && op.Input.Type == catalog.Document { // of a driver, which reads them
		var arguments map[string]any
		if err := json.Unmarshal(text, &arguments); err != nil {
			p.refuseFor(err, "Arguments", "%v", err)
		}
		return arguments
	}
	arguments, err := typecheck.FitArguments(text, op, token, language)
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		problems = slices.Clone(problems)
		for i := range problems {
			problems[i].Line = 0 // of a text that the user has not written
		}
		p.refuseFor(err, "Arguments", "%s", problems.Brief())
	} else if err != nil {
		p.refuseFor(err, "Arguments", "%v", err)
	}
	return arguments
}

// argumentReader makes JSON of arguments with pointers and tokens of the CDK.
type argumentReader struct {
	where

	language asl.QueryLanguage
}

// value follows the pointers of a value of JSON. A string may have tokens in it,
// which are filled in when the stack is deployed.
func (r argumentReader) value(path string, v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		if resolvable, ok := reflect.TypeAssert[awscdk.IResolvable](v); ok {
			if of := r.pathToken(path, resolvable); of != "" {
				return r.field(path, of)
			}
			r.refuse("Arguments", "%s is a token that is not a string: convert it with awscdk.Token_AsString", path)
		}
		v = v.Elem()
	}
	switch v.Kind() { //nolint:exhaustive // the rest is not JSON
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			return r.object(path, v)
		}
	case reflect.Slice, reflect.Array:
		return r.list(path, v)
	case reflect.String:
		return r.text(path, v.String())
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return r.number(path, v.Float())
	}
	r.refuse("Arguments", "%s is %s, which JSON does not have: use maps, lists, strings, numbers and booleans", path, v.Type())
	return nil
}

func (r argumentReader) object(path string, v reflect.Value) map[string]any {
	object := make(map[string]any, v.Len())
	for _, key := range v.MapKeys() {
		value := r.value(path+"."+key.String(), v.MapIndex(key))
		if of, ok := value.(aslPath); ok {
			object[key.String()+".$"] = string(of)
		} else {
			object[key.String()] = value
		}
	}
	return object
}

func (r argumentReader) list(path string, v reflect.Value) any {
	list := make([]any, v.Len())
	texts := make([]string, 0, v.Len())
	for i := range list {
		if text := reflect.Indirect(v.Index(i)); text.Kind() == reflect.String {
			texts = append(texts, text.String())
		}
	}
	if len(list) == 1 && len(texts) == 1 && isToken(texts) {
		if of := r.pathToken(path, texts); of != "" {
			return r.field(path, of)
		}
		r.refuse("Arguments", "%s is a list that is known only at deployment: "+
			"join it to a string, and in a JSONata strategy write %q", path, "{% $split('…', ',') %}")
	}
	for i := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		list[i] = r.value(at, v.Index(i))
		if of, ok := list[i].(aslPath); ok {
			r.refuse("Arguments", "%s is the path %s, and JSONPath allows no path in a list: let a path lead to the whole list", at, string(of))
		}
	}
	return list
}

func (r argumentReader) number(path string, n float64) any {
	if n >= 0 || !isToken(n) {
		return n
	}
	if of := r.pathToken(path, n); of != "" {
		return r.field(path, of)
	}
	r.refuse("Arguments", "%s is a number that is known only at deployment: "+
		"make it a string with awscdk.Token_AsString, and in a JSONata strategy write %q", path, "{% $number('…') %}")
	return nil
}

func (r argumentReader) text(path, text string) any {
	if strings.Contains(text, "${Token[") {
		if of := r.pathToken(path, text); of != "" {
			return r.field(path, of)
		}
	}
	if r.language == asl.JSONata {
		r.checkMembers("Arguments", path, text)
	}
	return text
}

// aslPath is a path or an intrinsic function of JSONPath.
type aslPath string

// pathToken is the path that a token of sfn.JsonPath stands for; "" if it is none.
func (r argumentReader) pathToken(path string, token any) string {
	return r.pathOf("Arguments", path, token)
}

// pathOf asks the CDK for the path that a token of sfn.JsonPath stands for, and
// refuses one that is joined to other text.
func (p where) pathOf(prop, path string, token any) string {
	rendered := func() (found *map[string]any) {
		defer func() {
			if failed := recover(); failed != nil {
				p.refuse(prop, "%s joins a path of sfn.JsonPath to other text: write an expression, such as %q", path, "{% 'text' & $states.input.name %}")
			}
		}()
		return sfn.FieldUtils_RenderObject(&map[string]any{"token": token})
	}()
	of, _ := (*rendered)["token.$"].(string)
	return of
}

// field is a path in the query language of the state machine.
func (r argumentReader) field(path, of string) any {
	if r.language == asl.JSONPath {
		return aslPath(of)
	}
	return r.inJSONata("Arguments", path, of)
}

// simplePath is a path of names and indices, which JSONata has, too.
var simplePath = regexp.MustCompile(`^\$\$?(\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]+\])*$`)

// inJSONata writes a path as an expression.
func (p where) inJSONata(prop, path, of string) string {
	switch {
	case !simplePath.MatchString(of):
		p.refuse(prop, "%s is %s, but the strategy uses JSONata: write an expression, such as %q", path, of, "{% $states.input.name %}")
	case strings.HasPrefix(of, "$$.Task"):
		p.refuse(prop, "%s is %s, but no state of a poller waits for a token: leave it out", path, of)
	}
	root, rest := "$states.input", strings.TrimPrefix(of, "$")
	if inContext, ok := strings.CutPrefix(rest, "$"); ok {
		root, rest = "$states.context", inContext
	}
	steps := strings.Split(rest, ".")
	for i, step := range steps[1:] {
		name, index, isIndexed := strings.Cut(step, "[")
		if isIndexed {
			index = "[" + index
		}
		if slices.Contains([]string{"and", "or", "in", "true", "false", "null", "function"}, name) {
			name = "`" + name + "`"
		}
		steps[i+1] = name + index
	}
	return "{% " + root + strings.Join(steps, ".") + " %}"
}

// checkMembers refuses an expression that reads a member of $states that is not there
// where the argument is evaluated. Step Functions would find nothing in its place.
func (p where) checkMembers(prop, path, text string) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{%") || !strings.HasSuffix(trimmed, "%}") {
		return
	}
	expression, err := jsonata.Compile(strings.TrimSuffix(strings.TrimPrefix(trimmed, "{%"), "%}"))
	if err != nil {
		return // asl says it better
	}
	known := []string{"input", "context"}
	for _, reference := range expression.Variables() {
		if reference.Name == "states" && len(reference.Path) > 0 && !slices.Contains(known, reference.Path[0]) {
			p.refuse(prop, "%s reads $states.%s, which does not exist there: %s has $states.input and $states.context%s",
				path, reference.Path[0], prop, nearest.DidYouMean(reference.Path[0], known))
		}
	}
}

// isToken asks the CDK.
func isToken(v any) bool { return *awscdk.Token_IsUnresolved(v) }
