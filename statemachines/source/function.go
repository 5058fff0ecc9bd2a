package source

import (
	"slices"
)

// Function is a Lambda function of a template.
type Function struct {
	// ID is its logical ID.
	ID string
	// Handler is its handler setting; empty where only a deployment knows it.
	Handler string
	// Environment has the variables whose values the template says. Those that only a
	// deployment knows, such as the name of a bucket that it makes, are missing.
	Environment map[string]string
}

// functionTypes are the types of resource that are Lambda functions.
var functionTypes = []string{"AWS::Serverless::Function", "AWS::Lambda::Function"}

// qualifierTypes are those of versions and aliases of functions.
var qualifierTypes = []string{"AWS::Lambda::Version", "AWS::Lambda::Alias"}

// Functions returns the Lambda functions of the definition's template by their logical
// IDs, and by those of their versions and aliases. A definition without a template has
// none.
func (d *Definition) Functions() map[string]Function {
	if d.functions == nil && d.origin != nil {
		d.functions = d.origin.functions()
	}
	return d.functions
}

func (t *template) functions() map[string]Function {
	r := &resolver{root: t.root, given: t.valuesIn(t.file.name), made: map[*value]*value{}}
	functions, qualifiers := map[string]Function{}, map[string]string{}
	for _, resource := range t.root.get("Resources").members {
		kind, _ := resource.value.textOf("Type")
		if slices.Contains(qualifierTypes, kind) {
			if name, argument := intrinsic(resource.value.get("Properties").get("FunctionName")); name == "Ref" {
				qualifiers[resource.name.text], _ = argument.literal()
			}
		}
		if !slices.Contains(functionTypes, kind) {
			continue
		}
		f := Function{ID: resource.name.text, Environment: map[string]string{}}
		if kind == functionTypes[0] {
			f.add(r, t.root.get("Globals").get("Function"))
		}
		f.add(r, resource.value.get("Properties"))
		functions[f.ID] = f
	}
	for id, of := range qualifiers {
		if f, ok := functions[of]; ok {
			functions[id] = f
		}
	}
	return functions
}

// add adds what the properties of a function say.
func (f *Function) add(r *resolver, properties *value) {
	if handler := properties.get("Handler"); handler != nil {
		f.Handler, _ = r.literalOf(handler)
	}
	variables := properties.get("Environment").get("Variables")
	if variables == nil {
		return
	}
	for _, variable := range variables.members {
		name := variable.name.text
		if text, ok := r.literalOf(variable.value); ok {
			f.Environment[name] = text
		} else {
			delete(f.Environment, name)
		}
	}
}

// literalOf returns the text of a value; false where a part of it is known at deployment
// only.
func (r *resolver) literalOf(v *value) (string, bool) {
	made := r.resolve(v)
	text, ok := made.literal()
	if !ok || made.open || subForm.MatchString(text) && made.parts != nil {
		return "", false
	}
	return text, true
}
