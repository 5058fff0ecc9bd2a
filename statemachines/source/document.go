package source

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// definitionNames are the members that have definitions, in the documents of all tools.
var definitionNames = []string{"definition", "Definition", "DefinitionString", "definitionString", "definition_string"}

// isAnswer tells whether an object is an answer that describes a state machine. The input of
// an update has its ARN, too.
func isAnswer(v *value) bool {
	return v.get("stateMachineArn") != nil && slices.ContainsFunc([]string{"name", "type", "status", "creationDate", "updateDate"}, func(name string) bool {
		return v.get(name) != nil
	})
}

// isCopy tells whether an object is made by a program from what people wrote.
func isCopy(root *value) bool {
	if isAnswer(root) {
		return true
	}
	for _, name := range []string{"TemplateBody", "configurationItems", "configurationItem", "configurationStateId"} {
		if root.get(name) != nil {
			return true
		}
	}
	if root.get("deployment").get("resources") != nil { // of Pulumi
		return true
	}
	steps := root.get("steps")
	return steps != nil && slices.ContainsFunc(steps.items, func(s *value) bool { return s.get("newState") != nil || s.get("oldState") != nil })
}

// isConstructTree tells whether a document is the CDK's list of constructs (tree.json), which
// repeats the templates beside it.
func isConstructTree(root *value) bool {
	version := root.get("version")
	return version != nil && strings.HasPrefix(version.text, "tree-") && root.get("tree") != nil
}

// walk looks at a value and what stands in it.
func (d *document) walk(v *value) {
	if v == nil || v.kind < jsontree.Array || d.seen[v] {
		return
	}
	d.seen[v] = true
	defer func(copied bool) { d.copied = copied }(d.copied)
	d.copied = d.copied || isCopy(v)
	for i, item := range v.items {
		d.path = append(d.path, step{in: v, item: i})
		d.walk(item)
		d.path = d.path[:len(d.path)-1]
	}
	if isTemplate(v) {
		t := &template{loader: d.loader, file: d.file, yaml: d.yaml, root: v, copied: d.copied}
		for _, found := range t.machines(v.get("Resources"), d.pointer()+"/Resources") {
			found.pointer = d.inFile(found.pointer)
			d.found = append(d.found, found)
		}
		return
	}
	d.checkEncrypted(v)
	for _, m := range v.members {
		d.path = append(d.path, step{in: v, name: m.name.text})
		d.member(v, m)
		d.path = d.path[:len(d.path)-1]
	}
}

func (d *document) member(v *value, m member) {
	name := m.name.text
	switch {
	case slices.Contains(definitionNames, name) && d.definition(m.value):
	case name == "oldState", name == "outputs" && v.get("inputs") != nil: // of Pulumi, beside the new ones
	case slices.Contains(embeddingNames, name) && m.value.kind == jsontree.String:
		d.embedded(m.value)
	default:
		d.walk(m.value)
	}
}

// embeddingNames are members with the text of another document.
var embeddingNames = []string{"TemplateBody", "configuration", "templateBody", "template_body"}

// embedded looks into the text of a string.
func (d *document) embedded(v *value) {
	if !mayHold([]byte(v.text)) {
		return
	}
	chars := v.chars()
	root, problems := readJSON(chars)
	roots := []*value{root}
	if problems != nil { // YAML has braces, too
		if again, others := readDocuments(chars); others == nil || !startsAsJSON(chars.bytes) {
			roots, problems = again, others
		}
	}
	if problems != nil {
		if holdsTemplate(chars.bytes) {
			d.found = append(d.found, &Definition{Name: d.file.name, File: d.file.name, Problems: problems, Form: FormText, Copied: true})
		}
		return
	}
	copied := d.copied
	d.copied = true // a text in a text is not edited
	for i, root := range roots {
		if len(roots) == 1 {
			d.walk(root)
			break
		}
		d.path = append(d.path, step{in: &value{kind: jsontree.Array}, item: i})
		d.walk(root)
		d.path = d.path[:len(d.path)-1]
	}
	d.copied = copied
}

// definition reads the value of a member, if that is a definition.
func (d *document) definition(v *value) bool {
	function, _ := intrinsic(v)
	text := v.kind == jsontree.String && v.tag == ""
	switch {
	case isFlow(v), function != "" && mentions(v, "StartAt"):
		r := d.machine()
		switch {
		case isFlow(v):
			r.object(d.expand(v), d.pointer())
		case r.resolve(v).kind == jsontree.Object:
			r.object(v, d.pointer())
		default:
			r.string(v, d.pointer())
		}
		d.add(r, v)
	case text && d.lookup(v):
	case text && strings.TrimSpace(v.text) == pulumiUnknown:
		d.unknown(v, "the definition of %s is known only when it is deployed, so it is not checked: deploy it, and pass the answer of "+
			"aws stepfunctions describe-state-machine")
	case text && isDefinitionText(v.text):
		r := d.machine()
		r.d.Form, r.d.writing = FormText, writingOf(v)
		chars := v.chars()
		if d.isBraced() {
			chars = nameBraces(chars)
		}
		r.text(v, chars, d.pointer())
		switch {
		case d.isBraced():
			r.refuseStatements(chars)
		case len(d.path) > 0 && isAnswer(d.path[len(d.path)-1].in):
			r.d.warnOfPlaceholders()
		}
		d.add(r, v)
	default:
		return false
	}
	return true
}

// mentions tells whether the text of a value has a word.
func mentions(v *value, word string) bool {
	return bytes.Contains(v.in.bytes[v.start:v.end()], []byte(word))
}

// isDefinitionText tells whether a text is a definition, maybe with a slip of the pen.
func isDefinitionText(text string) bool {
	if !strings.Contains(text, "StartAt") || !strings.Contains(text, "States") {
		return false
	}
	return startsAsJSON([]byte(text)) && strings.Contains(text, `"StartAt"`) || isFlowText([]byte(text))
}

// pulumiMachine is Pulumi's type of a state machine, and pulumiUnknown what stands for an
// output that is not known before a deployment.
const (
	pulumiMachine = "sfn/stateMachine:StateMachine"
	pulumiUnknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
)

// expand puts variables into a definition: those of the Serverless Framework, whose values
// serverless.yml has, which is not known, and the braces of Ansible and Helm.
func (d *document) expand(v *value) *value {
	if d.copied || !d.renders(0) {
		return v
	}
	if d.vars == nil {
		d.vars = newVariables(d.loader, d.file, nil)
		d.vars.braced = d.isBraced()
	}
	return d.vars.expand(v)
}

// checkEncrypted tells of an answer that has no definition. The input of an update may have
// none, too.
func (d *document) checkEncrypted(v *value) {
	arn, known := v.textOf("stateMachineArn")
	key, encrypted := v.get("encryptionConfiguration").textOf("kmsKeyId")
	definition := v.get("definition")
	if !known || !encrypted || !isAnswer(v) || definition != nil && (definition.text != "" || definition.kind >= jsontree.Array) {
		return
	}
	d.path = append(d.path, step{in: v, name: "definition"})
	r := d.machine()
	r.report(diag.Warning, v.get("encryptionConfiguration"), "",
		"the definition is encrypted, so it is not in this answer: whoever asks needs kms:Decrypt on the key %s. Then run: "+
			"aws stepfunctions describe-state-machine --state-machine-arn %s", key, arn)
	d.found = append(d.found, r.d)
	d.path = d.path[:len(d.path)-1]
}
