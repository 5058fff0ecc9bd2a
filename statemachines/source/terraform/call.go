package terraform

import (
	"crypto/md5"  //nolint:gosec // a function of Terraform's
	"crypto/sha1" //nolint:gosec // a function of Terraform's
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// standard are functions that are called with values that are known.
var standard = sync.OnceValue(func() map[string]function.Function {
	return map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "chunklist": stdlib.ChunklistFunc, "coalescelist": stdlib.CoalesceListFunc,
		"compact": stdlib.CompactFunc, "contains": stdlib.ContainsFunc, "csvdecode": stdlib.CSVDecodeFunc, "floor": stdlib.FloorFunc,
		"formatdate": stdlib.FormatDateFunc, "formatlist": stdlib.FormatListFunc, "log": stdlib.LogFunc, "lower": stdlib.LowerFunc,
		"max": stdlib.MaxFunc, "min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc, "range": stdlib.RangeFunc,
		"regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc, "setintersection": stdlib.SetIntersectionFunc,
		"setproduct": stdlib.SetProductFunc, "setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc, "signum": stdlib.SignumFunc,
		"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc, "strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc,
		"timeadd": stdlib.TimeAddFunc, "title": stdlib.TitleFunc, "upper": stdlib.UpperFunc, "zipmap": stdlib.ZipmapFunc,
		"base64encode": ofText(func(s string) (string, bool) { return base64.StdEncoding.EncodeToString([]byte(s)), true }),
		"base64decode": ofText(func(s string) (string, bool) {
			b, err := base64.StdEncoding.DecodeString(s)
			return string(b), err == nil
		}),
		"urlencode": ofText(func(s string) (string, bool) { return url.QueryEscape(s), true }),
		"basename":  ofText(func(s string) (string, bool) { return path.Base(s), true }),
		"dirname":   ofText(func(s string) (string, bool) { return path.Dir(s), true }),
		"md5": ofText(func(s string) (string, bool) {
			sum := md5.Sum([]byte(s)) //nolint:gosec // a function of Terraform's
			return hex.EncodeToString(sum[:]), true
		}),
		"sha1": ofText(func(s string) (string, bool) {
			sum := sha1.Sum([]byte(s)) //nolint:gosec // a function of Terraform's
			return hex.EncodeToString(sum[:]), true
		}),
		"sha256": ofText(func(s string) (string, bool) {
			sum := sha256.Sum256([]byte(s))
			return hex.EncodeToString(sum[:]), true
		}),
		"startswith": ofTexts(strings.HasPrefix), "endswith": ofTexts(strings.HasSuffix), "strcontains": ofTexts(strings.Contains),
		"tonumber": stdlib.MakeToFunc(cty.Number), "tobool": stdlib.MakeToFunc(cty.Bool),
		"alltrue": ofBooleans(true), "anytrue": ofBooleans(false), "sum": sumFunc(),
	}
})

func ofText(f func(string) (string, bool)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, ok := f(args[0].AsString())
			if !ok {
				return cty.NilVal, function.NewArgErrorf(0, "not taken")
			}
			return cty.StringVal(text), nil
		},
	})
}

func ofTexts(f func(text, other string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "other", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// ofBooleans tells whether all items of a list are true, or whether any is.
func ofBooleans(all bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}}, Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, item := range args[0].AsValueSlice() {
				if item.IsNull() || item.True() != all {
					return cty.BoolVal(!all), nil
				}
			}
			return cty.BoolVal(all), nil
		},
	})
}

func sumFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Number)}}, Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			sum := cty.Zero
			for _, item := range args[0].AsValueSlice() {
				if item.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "not a number")
				}
				sum = sum.Add(item)
			}
			return sum, nil
		},
	})
}

// call is the value of a function's call.
func (e *evaluator) call(x *hclsyntax.FunctionCallExpr, s scope, at Place, source string) *Value {
	if x.Name == "try" {
		return e.try(x, s, at, source)
	}
	args, ok := e.arguments(x, s)
	if !ok || len(args) == 0 {
		return unknownValue(source, at)
	}
	name := strings.TrimPrefix(x.Name, "core::")
	if tree := treeCalls[name]; tree != nil {
		if v := tree(args, at); v != nil && e.budget.spend(len(v.Items)+len(v.Members), 0) {
			return v
		}
		return unknownValue(source, at)
	}
	if text := textCalls[name]; text != nil {
		if len(args) < textArguments[name] {
			return failedValue(source, at)
		}
		t, ok := text(args, e.budget)
		if !ok {
			return unknownValue(source, at)
		}
		return &Value{Kind: String, Text: t, At: at}
	}
	if v := e.read(name, args, s, at, source); v != nil {
		return v
	}
	f, known := standard()[name]
	if !known {
		return unknownValue(source, at)
	}
	return e.callStandard(name, f, args, source, at)
}

// callStandard calls a function if all that it is called with is known.
func (e *evaluator) callStandard(name string, f function.Function, args []*Value, source string, at Place) *Value {
	product := 1
	known := make([]cty.Value, len(args))
	for i, v := range args {
		var ok bool
		if known[i], ok = v.toCty(e.budget); !ok {
			return unknownValue(source, at)
		}
		product *= 1 + len(v.Items)
		isWide := name == "formatlist" && (product > maxProduct || strings.Contains(joinText(v.Text).whole, "%") && hasWidth(v.Text))
		if size := v.Text.size(); isWide || !e.budget.take(size) {
			return unknownValue(source, at)
		}
		if v.Kind == List && (name == "contains" || name == "sort" || name == "compact" || name == "coalescelist") {
			known[i] = asList(known[i])
		}
	}
	if name == "setproduct" && product > maxProduct {
		return unknownValue(source, at)
	}
	return callStandard(f, known, source, at, e.budget)
}

// maxProduct bounds what lists make together.
const maxProduct = 10_000

// hasWidth tells whether a format has a number, which may ask for many blanks.
func hasWidth(t Text) bool { return strings.ContainsAny(joinText(t).whole, "0123456789") }

// asList is a list of values of one type, if they have one.
func asList(v cty.Value) cty.Value {
	if list, err := convert.Convert(v, cty.List(cty.DynamicPseudoType)); err == nil {
		return list
	}
	return v
}

// arguments are what a function is called with.
func (e *evaluator) arguments(x *hclsyntax.FunctionCallExpr, s scope) ([]*Value, bool) {
	args := make([]*Value, 0, len(x.Args))
	for _, arg := range x.Args {
		args = append(args, e.eval(arg, s))
	}
	if !x.ExpandFinal || len(args) == 0 {
		return args, true
	}
	last := args[len(args)-1]
	return append(args[:len(args)-1], last.Items...), last.Kind == List
}

// try is the first argument that Terraform does not refuse.
func (e *evaluator) try(x *hclsyntax.FunctionCallExpr, s scope, at Place, source string) *Value {
	args, _ := e.arguments(x, s)
	for _, v := range args {
		if v.Kind != Unknown {
			return v
		}
		if !v.Hole.failed {
			break
		}
	}
	return unknownValue(source, at)
}

// read is the value of a function that reads or writes a file, JSON or YAML; nil of any
// other.
func (e *evaluator) read(name string, args []*Value, s scope, at Place, source string) *Value {
	switch name {
	case "jsonencode", "yamlencode":
		text, ok := encode(args[0], e.budget)
		if !ok {
			return unknownValue(source, at)
		}
		return &Value{Kind: String, Text: text, At: at, encodes: args[0]}
	case "jsondecode", "yamldecode":
		return e.decode(args[0], name == "yamldecode", at, source)
	case "abspath", "pathexpand":
		return args[0]
	case "file", "templatefile":
		text, ok := args[0].text()
		relative, known := text.known()
		if !ok || !known {
			return unknownValue(source, at)
		}
		file := join(s.rootFolder(), relative)
		if name == "file" {
			return e.file(file, at, source)
		}
		return e.fromTemplate(file, args[1:], s, at, source)
	case "templatestring":
		return e.renderText(args[0], args[1:], s, at, source)
	}
	return nil
}

// decode reads a text of JSON or YAML.
func (e *evaluator) decode(v *Value, yaml bool, at Place, source string) *Value {
	text, ok := v.text()
	switch {
	case v.encodes != nil:
		return v.encodes
	case !ok || v.Kind == Unknown || !e.budget.take(text.size()):
		return unknownValue(source, at)
	}
	whole, parts := marked(text, yaml)
	data, err := e.Decode(whole, yaml)
	if err != nil {
		return failedValue(source, at)
	}
	d := &decoder{parts: parts, made: map[*Data]*Value{}, budget: e.budget}
	out := *d.value(data)
	out.decodes = &decoded{text, yaml}
	return &out
}

// file is the text of a file.
func (e *evaluator) file(name string, at Place, source string) *Value {
	text, err := e.Read(name)
	if err != nil {
		return unreadable(err, at, source)
	}
	if !e.budget.take(len(text)) {
		return unknownValue(source, at)
	}
	whole := Place{name, 0, len(text)}
	v := &Value{Kind: String, At: whole, Written: true}
	if len(text) > 0 {
		v.Text = Text{{Text: string(text), At: whole, Exact: true, Spelling: Plain}}
	}
	return v
}

// unreadable is the value that a file would have given.
func unreadable(err error, at Place, source string) *Value {
	v := failedValue(source, at)
	v.Hole.Problem = &Problem{at, err.Error(), false}
	if broken, ok := err.(*templateError); ok { //nolint:errorlint // what template returns
		v.Hole.Problem = &broken.problem
	}
	return v
}

// fromTemplate is the text that a template gives.
func (e *evaluator) fromTemplate(name string, args []*Value, s scope, at Place, source string) *Value {
	parsed, err := e.templateFile(name)
	if err != nil {
		return unreadable(err, at, source)
	}
	return e.render(parsed, args, s, at)
}

// render is the text of a template with the variables that objects say.
func (e *evaluator) render(parsed hclsyntax.Expression, args []*Value, s scope, at Place) *Value {
	values := map[string]*Value{}
	for _, v := range args {
		for _, m := range v.Members {
			if variable, known := m.Name.Text.known(); known {
				values[variable] = m.Value
			}
		}
	}
	v := e.eval(parsed, &bindings{scope: s, values: values, only: true})
	if text, ok := v.text(); ok && v.Kind != String && v.Kind != Unknown {
		return &Value{Kind: String, Text: text, At: at}
	}
	return v
}

// renderText is the text of a template that another text is.
func (e *evaluator) renderText(v *Value, args []*Value, s scope, at Place, source string) *Value {
	text, ok := v.text()
	if ok && len(text) == 1 && text[0].Exact && text[0].At.From == 0 {
		return e.fromTemplate(text[0].At.File, args, s, at, source)
	}
	u := &unit{mixed: true}
	for _, p := range text {
		if ok = ok && p.Hole == nil && (u.file == "" || u.file == p.At.File); !ok {
			break
		}
		u.file = p.At.File
		for i := range len(p.Text) {
			origin := p.At.From
			if p.Exact {
				origin += i
			}
			u.bytes, u.origins = append(u.bytes, p.Text[i]), append(u.origins, origin)
		}
	}
	if !ok || len(text) == 0 || !e.budget.take(len(u.bytes)) {
		return unknownValue(source, at)
	}
	u.origins = append(u.origins, text[len(text)-1].At.To)
	parsed, err := e.parseTemplate(u, "")
	if err != nil {
		return unreadable(err, at, source)
	}
	return e.render(parsed, args, s, at)
}
