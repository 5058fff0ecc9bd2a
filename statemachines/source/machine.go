package source

import (
	"fmt"
	"path"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// machineReader reads the definition of a state machine of a template.
type machineReader struct {
	*template
	*resolver

	d             *Definition
	substitutions *value
	looked        map[*value]bool // see checkPseudo
}

func (m *machineReader) report(severity diag.Severity, at *value, pointer, format string, args ...any) {
	p := at.in.problem(at.start, pointer, fmt.Sprintf(format, args...))
	p.Severity = severity
	m.d.Problems = append(m.d.Problems, p)
}

// value returns what is put in for a placeholder of the definition.
func (m *machineReader) value(name string) (string, bool) {
	if text, ok := m.valuesIn(m.file.name)(name); ok || m.Unresolved {
		return text, ok
	}
	substitution := m.substitutions.get(name)
	if substitution == nil {
		return "", false
	}
	made := m.resolve(substitution)
	text, ok := made.literal()
	if made.open && asl.IsPlaceholderText(text) {
		if m.d.References == nil {
			m.d.References = map[string]string{}
		}
		m.d.References[name] = text[len("${") : len(text)-len("}")]
	}
	return text, ok && !made.open
}

func (m *machineReader) read(p member, pointer string) {
	switch p.name.text {
	case "Definition":
		m.object(p.value, pointer)
		m.checkPseudo(p.value, pointer)
	case "DefinitionString":
		m.string(p.value, pointer)
		m.checkPseudo(p.value, pointer)
	default:
		m.location(p.value, pointer)
	}
	m.checkFull(p.name, pointer)
}

// checkFull refuses a definition that functions have made too large.
func (m *machineReader) checkFull(at *value, pointer string) {
	if m.full {
		m.d.Text = nil
		m.report(diag.Error, at, pointer, "a definition has at most %d bytes; with its functions called, this one has more", asl.MaxDefinitionBytes)
	}
}

// warn says that only a deployment knows the definition.
func (m *machineReader) warn(at *value, pointer, format string, args ...any) {
	m.report(diag.Warning, at, pointer, format, args...)
}

// object reads a definition that is an object of the template.
func (m *machineReader) object(v *value, pointer string) {
	m.d.Form = FormInline
	if !m.renders(0) {
		m.refuseMany(v, pointer)
		return
	}
	made := m.resolve(v)
	switch {
	case made.open:
		m.warn(v, pointer, "the definition of %s is known at deployment only, so it is not checked", m.d.Title())
		return
	case made.kind != jsontree.Object:
		m.report(diag.Error, v, pointer, "expected a definition, which is an object, found %s%s", made.kind, m.otherHome(made.kind))
		return
	}
	t, problems := render(made)
	if problems != nil {
		m.d.Problems = append(m.d.Problems, problems...)
		return
	}
	if !m.renders(len(t.bytes)) {
		m.refuseMany(v, pointer)
		return
	}
	m.d.root = made
	m.d.readJSON(t, m.value)
	m.d.quoted = nil // in a template all is in quotes
}

// string reads a definition that is a text in the template.
func (m *machineReader) string(v *value, pointer string) {
	m.d.Form = FormText
	if name, _ := intrinsic(v); name != "" {
		m.d.Form = FormComposed
	}
	m.d.writing = writingOf(v)
	made := m.resolve(v)
	switch {
	case made.open:
		m.warn(v, pointer, "the definition of %s is known at deployment only, so it is not checked", m.d.Title())
		return
	case made.kind != jsontree.String:
		m.report(diag.Error, v, pointer, "expected the text of a definition, found %s%s", made.kind, m.otherHome(made.kind))
		return
	}
	chars := made.chars()
	if text := strings.TrimSpace(made.text); asl.IsPlaceholderText(text) {
		if _, ok := m.value(text[len("${") : len(text)-len("}")]); !ok {
			m.warn(v, pointer, "the definition of %s is known at deployment only, so it is not checked", m.d.Title())
			return
		}
	}
	if m.isTemplate() && !startsAsJSON(chars.bytes) {
		m.report(diag.Error, v, pointer, "AWS reads a DefinitionString as JSON, and this one is not: write it as an object under Definition")
	}
	m.text(v, chars, pointer)
}

// isTemplate tells whether the definition is a property of a resource of CloudFormation.
func (m *machineReader) isTemplate() bool { return m.d.origin != nil }

// otherHome says which property takes a definition of another kind; empty where none does.
func (m *machineReader) otherHome(kind jsontree.Kind) string {
	switch {
	case !m.isTemplate():
	case kind == jsontree.Object:
		return "; an object goes to Definition"
	case kind == jsontree.String && m.numbers: // SAM has no DefinitionString
		return "; write it as an object"
	case kind == jsontree.String:
		return "; a text goes to DefinitionString"
	}
	return ""
}

// refuseMany refuses a definition that aliases and variables give to too many.
func (m *machineReader) refuseMany(at *value, pointer string) {
	m.warn(at, pointer, "aliases or variables repeat definitions until they have many times the bytes of their files, so that of %s is not checked", m.d.Title())
}

// text reads a definition from the characters of a string.
func (m *machineReader) text(at *value, chars *text, pointer string) {
	if !m.renders(len(chars.bytes)) {
		m.refuseMany(at, pointer)
		return
	}
	m.d.YAML = !startsAsJSON(chars.bytes)
	if m.d.YAML {
		m.d.readYAML(substituteYAML(chars, m.value))
		return
	}
	m.d.readJSON(chars, m.value)
}

// location reads a definition from the file that the template names.
func (m *machineReader) location(v *value, pointer string) {
	m.d.Form = FormFile
	made := m.resolve(v)
	name, ok := made.literal()
	if made.kind == jsontree.Object {
		key, known := made.textOf("Key")
		if name, ok = m.asset(key); !ok {
			bucket, _ := made.textOf("Bucket")
			if !known {
				key = "..."
			}
			m.warn(v, pointer, "the definition of %s is in S3 (s3://%s/%s), so it is not checked: check the file that is uploaded there", m.d.Title(), bucket, key)
			return
		}
	}
	switch {
	case !ok || made.open || strings.Contains(name, "${"):
		m.warn(v, pointer, "where the definition of %s lies is known at deployment only, so it is not checked", m.d.Title())
		return
	case strings.Contains(name, "://"):
		m.warn(v, pointer, "the definition of %s is at %s, so it is not checked: only local files are read", m.d.Title(), name)
		return
	}
	m.located(v, pointer, name)
}

// located reads a definition from a file that stands beside the template.
func (m *machineReader) located(v *value, pointer, name string) {
	if path.IsAbs(name) || strings.Contains(name, ":") || strings.Contains(name, `\`) {
		m.warn(v, pointer, "%q is not read: expected a path relative to the template, with slashes", name)
		return
	}
	located, ok := m.besides(m.file.name, name)
	if !ok {
		m.warn(v, pointer, "%q lies outside of the template's folder and of the working directory, so it is not read: "+
			"run jobpoller in a folder that has both", name)
		return
	}
	m.named[m.nameNow(located)] = true
	text, err := m.readRegular(m.file.name, located)
	if err != nil {
		m.report(diag.Error, v, pointer, "the file of the definition cannot be read: %v; expected a path relative to the template", err)
		return
	}
	if !m.renders(len(text)) {
		m.refuseMany(v, pointer)
		return
	}
	m.d.File, m.d.Template = located, m.file.name
	m.d.liveIn("")
	m.d.readFile(&file{name: located, bytes: text}, m.value)
}

// asset returns the file beside the template that the CDK uploads under a key.
func (m *machineReader) asset(key string) (string, bool) {
	if key == "" || strings.ContainsAny(key, `/\:`) {
		return "", false
	}
	name := "asset." + key
	if located, ok := m.besides(m.file.name, name); ok {
		if _, err := m.readRegular(m.file.name, located); err == nil {
			return name, true
		}
	}
	return "", false
}
