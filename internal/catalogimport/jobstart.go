package catalogimport

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

func (t *table) refusal(to *catalog.StopCall) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		r := &catalog.StopRefusal{}
		t.Object(n, "how a stop call refuses", map[string]func(*jsontree.Node){
			"when": t.word(&r.When), "code": t.word(&r.Code), "message": t.word(&r.Message),
		}, "when")
		to.Refused = r
	}
}

func (t *table) naturalKey(to *catalog.Job) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		k := &catalog.NaturalKey{}
		t.Object(n, "a natural key", map[string]func(*jsontree.Node){
			"member": t.word(&k.Member), "exists": t.words(&k.Exists), "arguments": t.templates(&k.Arguments),
			"notFound": t.List(func(n *jsontree.Node) {
				var e catalog.ErrorText
				t.Object(n, "an error", map[string]func(*jsontree.Node){"code": t.word(&e.Code), "message": t.word(&e.Message)}, "code")
				k.NotFound = append(k.NotFound, e)
			}),
		}, "member", "exists", "notFound", "arguments")
		to.NaturalKey = k
	}
}

func (t *table) precondition(to *catalog.Job) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		p := &catalog.Precondition{}
		t.Object(n, "a precondition", map[string]func(*jsontree.Node){
			"operation": t.word(&p.Operation), "arguments": t.templates(&p.Arguments), "path": t.word(&p.Path),
			"refused": t.word(&p.Refused), "reason": t.word(&p.Reason),
		}, "operation", "arguments", "path", "refused", "reason")
		to.Precondition = p
	}
}

func (t *table) forms(to *catalog.Job) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		to.Forms = map[string]catalog.Form{}
		t.object(n, "forms by members of the input", func(member string, n *jsontree.Node) {
			var f catalog.Form
			t.Object(n, "a form", map[string]func(*jsontree.Node){
				"pattern": func(n *jsontree.Node) {
					t.word(&f.Pattern)(n)
					if _, err := regexp.Compile(f.Pattern); err != nil {
						t.Report(n.Problem("%s", err))
					}
				},
				"expected": t.word(&f.Expected),
			}, "pattern", "expected")
			to.Forms[member] = f
		})
	}
}

// templates reads templates by members of an input.
func (t *table) templates(to *map[string]string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		*to = map[string]string{}
		t.object(n, "templates by members of the input", func(member string, n *jsontree.Node) {
			var template string
			t.word(&template)(n)
			(*to)[member] = template
		})
	}
}

// checkStart reports facts on the start call that do not fit its model.
func (j *tableJob) checkStart(start, describe, before *catalog.Operation, token string) {
	if token == "" && j.job.TokenWindow > 0 {
		j.report("tokenWindow", "%s takes no token", start.Name)
	}
	if j.job.UniqueName != "" {
		j.checkText("uniqueName", j.job.UniqueName, start)
	}
	for _, member := range j.job.JSONText {
		j.checkText("jsonText", member, start)
	}
	for _, member := range namesOf(j.job.Forms) {
		j.checkText("forms/"+member, member, start)
	}
	if k := j.job.NaturalKey; k != nil {
		if token != "" {
			j.report("naturalKey", "%s takes the token %s, so it needs no natural key", start.Name, token)
		}
		j.checkText("naturalKey/member", k.Member, start)
		for _, code := range k.Exists {
			j.checkError("naturalKey/exists", code, start)
		}
		for _, e := range k.NotFound {
			j.checkError("naturalKey/notFound", e.Code, describe)
		}
		j.checkTemplates("naturalKey/arguments", k.Arguments, describe, start)
		for _, name := range namesOf(j.job.Arguments) {
			if k.Arguments[name] == "" {
				j.report("naturalKey/arguments", "the argument %s of %s is missing", name, describe.Name)
			}
		}
	}
	if p := j.job.Precondition; p != nil {
		j.checkTemplates("precondition/arguments", p.Arguments, before, start)
		t, ok := j.checkExpression("precondition/path", p.Path, before.Output.Describe())
		switch values := t.Enum(); {
		case !ok:
		case t.Kind != jsontype.String:
			j.report("precondition/path", "the path must give a string, and it gives %s", t)
		case len(values) > 0 && !slices.Contains(values, p.Refused):
			j.suggest("precondition/refused", p.Refused, values, "%s never is %q", p.Path, p.Refused)
		}
	}
}

// checkText reports a name that is not a string of the start call's input.
func (j *tableJob) checkText(pointer, name string, start *catalog.Operation) {
	var texts []string
	if start.Input != nil {
		for _, m := range start.Input.Members {
			if m.Shape.Type == catalog.String {
				texts = append(texts, m.Name)
			}
		}
	}
	if !slices.Contains(texts, name) {
		j.suggest(pointer, name, texts, "the input of %s has no string %q", start.Name, name)
	}
}

// checkError reports an error that the operation does not declare.
func (j *tableJob) checkError(pointer, code string, op *catalog.Operation) {
	var known []string
	for _, e := range op.Errors {
		known = append(known, firstOf(e.Code, e.Shape))
	}
	if !slices.Contains(known, code) {
		j.suggest(pointer, code, known, "%s declares no error %q", op.Name, code)
	}
}

// templatePart is a part of a template.
var templatePart = regexp.MustCompile(`\$\{([A-Za-z0-9_]*)(:[0-9]+)?\}`)

// checkTemplates reports templates that do not fit the call's input, or read what
// the start call's does not have.
func (j *tableJob) checkTemplates(pointer string, templates map[string]string, call, start *catalog.Operation) {
	var members []string
	if call.Input != nil {
		for _, m := range call.Input.Members {
			members = append(members, m.Name)
			if m.Required && templates[m.Name] == "" {
				j.report(pointer, "%s needs the argument %s", call.Name, m.Name)
			}
		}
	}
	for _, name := range namesOf(templates) {
		at := pointer + "/" + name
		if !slices.Contains(members, name) {
			j.suggest(at, name, members, "the input of %s has no member %q", call.Name, name)
		}
		for _, found := range templatePart.FindAllStringSubmatch(templates[name], -1) {
			j.checkText(at, found[1], start)
		}
		if strings.Contains(templatePart.ReplaceAllLiteralString(templates[name], ""), "${") {
			j.report(at, "a placeholder is ${member} or ${member:n}")
		}
	}
}

// timePath is a path of members. A list on the way stands for its first element.
var timePath = regexp.MustCompile(`^\w+(\[0\])?(\.\w+(\[0\])?)*$`)

// checkTimes reports times that the describe call does not have.
func (j *tableJob) checkTimes(describe *catalog.Operation) {
	for _, at := range []struct{ pointer, path string }{{"startTime", j.job.StartTime}, {"endTime", j.job.EndTime}} {
		if at.path == "" {
			continue
		}
		if !timePath.MatchString(at.path) {
			j.report(at.pointer, "expected a path of members such as JobRun.CompletedOn or tasks[0].stoppedAt")
			continue
		}
		j.checkTime(at.pointer, at.path, describe.Output)
	}
	if start, end := j.job.StartTime, j.job.EndTime; start != "" && end != "" {
		if from, to := shapeAt(describe.Output, start).Type, shapeAt(describe.Output, end).Type; from != to {
			j.report("endTime", "expected a %s as startTime is, and %s is a %s", from, end, to)
		}
	}
}

// checkTime reports a path in a value of the shape that does not lead to a time. Where the
// model has a string or a number, the table says where that is documented.
func (j *tableJob) checkTime(pointer, path string, of *catalog.Shape) {
	if _, ok := j.checkExpression(pointer, path, of.Describe()); !ok {
		return
	}
	switch shape := shapeAt(of, path); {
	case shape.Type == catalog.Timestamp:
	case j.node.Get("timesSource") == nil:
		j.report(pointer, "expected a timestamp, and %s is a %s; if it is documented to be a time, add timesSource", path, shape.Type)
	case shape.Type != catalog.String && shape.Type != catalog.Long:
		j.report(pointer, "expected a timestamp, a string or a long, and %s is a %s", path, shape.Type)
	}
}

// shapeAt is the shape that a path of members leads to.
func shapeAt(shape *catalog.Shape, path string) *catalog.Shape {
	for name := range strings.SplitSeq(path, ".") {
		name, first := strings.CutSuffix(name, "[0]")
		if member := shape.Member(name); member != nil {
			shape = member.Shape
		}
		if first && shape.Element != nil {
			shape = shape.Element.Shape
		}
	}
	return shape
}

// checkRefusal reports expressions that do not fit the stop call's answer.
func (j *tableJob) checkRefusal(stop *catalog.Operation) {
	r := j.job.Stop.Refused
	if r == nil {
		return
	}
	answer := stop.Output.Describe()
	j.checkExpression("stop/refused/when", r.When, answer)
	for _, at := range []struct{ name, expression string }{{"code", r.Code}, {"message", r.Message}} {
		if at.expression == "" {
			continue
		}
		t, ok := j.checkExpression("stop/refused/"+at.name, at.expression, answer)
		if ok && t.Kind != jsontype.String && t.Kind != jsontype.Unknown {
			j.report("stop/refused/"+at.name, "the %s must be a string, and the expression gives %s", at.name, t)
		}
	}
}
