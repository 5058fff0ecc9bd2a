// Package source finds state machine definitions where people keep them: in JSON and
// YAML, in templates of SAM, CloudFormation and the CDK, in serverless.yml, in modules,
// plans and states of Terraform, in answers of AWS, in folders. It makes of each the JSON
// that asl.Parse reads, and places problems in the file that the user wrote.
//
//	definitions, err := source.Load(ctx, []string{"template.yaml"}, source.Options{})
//	for _, d := range definitions {
//		machine, err := d.Parse() // its problems stand in template.yaml
//	}
//
// What AWS fills in at a deployment, such as the ARN of a function, stays a
// placeholder "${Name}", for which package asl takes any value.
package source

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Options say how definitions are read.
type Options struct {
	// Values are put in for placeholders "${Name}", for parameters of a template
	// and for pseudo parameters such as AWS::Region.
	Values map[string]string
	// ValuesOf are other values, which count in a file where Values have none. No definition
	// needs to have their placeholders.
	ValuesOf func(file string) map[string]string
	// PassOver is asked about what a folder or a glob gives: a folder or file for which it
	// returns true is not read.
	PassOver func(name string, folder bool) bool
	// Unresolved leaves what a template gives as placeholders, even where the template
	// says the value.
	Unresolved bool
	// FS is what files are read from, by paths with slashes. Nil stands for the
	// disk.
	FS fs.FS
	// Fetch reads what an ARN names: the definition of a state machine, a version or an
	// execution, or those of an alias. Nil: a name that looks like an ARN is a file.
	Fetch func(ctx context.Context, arn string) ([]Deployed, error)
	// Stdin is what the name "-" reads.
	Stdin io.Reader
	// Skip is asked about each file that a name or a glob gives, not about those
	// of a folder. If it returns true, the file is something else.
	Skip func(name string, text []byte) bool
	// Passed is told each file of a folder or a glob that has no definition, of
	// those whose names say that they may.
	Passed func(name string)
}

// Form says how a definition stands in its file.
type Form string

// The forms.
const (
	// FormFile is a file of its own.
	FormFile Form = "file"
	// FormInline is an object in a template.
	FormInline Form = "inline"
	// FormText is a text in a string of a template.
	FormText Form = "text"
	// FormComposed is a text that Fn::Sub or Fn::Join makes.
	FormComposed Form = "composed"
	// FormDeployed is a definition that AWS has, without a file.
	FormDeployed Form = "deployed"
	// FormTerraform is a definition that an expression of Terraform makes.
	FormTerraform Form = "terraform"
)

// Definition is a state machine definition and where it stands. It serves one
// goroutine.
type Definition struct {
	// Name is what Load takes for this definition alone: a file, or a template and
	// the resource, as in "template.yaml#Poller".
	Name string
	// ID is the logical ID of the resource in a template, and in another document the
	// nearest name or the address. It is empty where none is.
	ID string
	// File has the definition. If a template names this file, Template is the
	// template.
	File, Template string
	// Type is that of the template's state machine; empty where nothing says it.
	Type asl.ExecutionType
	Form Form
	// Weight is the share of an alias's executions that a version gets, in percent; 0
	// without an alias.
	Weight int
	// YAML is set if the definition is written in YAML, else it is in JSON.
	YAML bool
	// Copied tells that a program wrote File from what people keep elsewhere: it is an
	// answer of AWS, or a plan or state of a tool.
	Copied bool
	// Literal tells that AWS has the Text: what looks like a placeholder in it is a text.
	Literal bool
	// Text is the definition as asl.Parse reads it, with values put in. Nil if it
	// could not be read: then Problems say why.
	Text []byte
	// References are what a template puts in for a placeholder at a deployment, by the
	// placeholder's name, where it says the name alone: "Function.Arn" for the ARN of
	// the resource Function.
	References map[string]string
	// Problems are those of reading.
	Problems diag.Problems

	text    *text          // with its places
	root    *value         // of a definition whose Text was rendered
	tree    *jsontree.Node // of Text; nil until it is asked for
	quoted  []quotedValue
	writing Writing
	pieces  []piece // of a text that a module of Terraform puts together
	holders []holder
	origin  *template // nil without one
	pointer string    // into a document that is no template
	at      int       // byte of File where it begins, of one in a document
	home    *Home     // nil: as Home says by File and ID
	title   string    // the name at AWS of what ID is an address of; empty if it is not known
	// functions are those of the template; nil until they are asked for.
	functions map[string]Function
}

// Machine is a state machine, and the definition that it was parsed from.
type Machine struct {
	*asl.StateMachine

	Definition *Definition
}

// Title names the state machine for people: by its resource, else by its file or its ARN.
func (d *Definition) Title() string {
	switch {
	case d.title != "":
		return d.title
	case d.ID != "":
		return d.ID
	}
	if d.Form == FormDeployed {
		parts := strings.SplitN(d.File, ":", 7) //nolint:mnd // arn:PARTITION:states:REGION:ACCOUNT:KIND:NAME
		return parts[len(parts)-1]
	}
	name := filepath.Base(d.File)
	return strings.TrimSuffix(strings.TrimSuffix(name, filepath.Ext(name)), ".asl")
}

// IsOfModule tells whether a module of Terraform makes the state machine: others may have
// the same text.
func (d *Definition) IsOfModule() bool { return isTerraform(cmp.Or(d.Template, d.File)) }

// Reference is what a template puts in for a placeholder at a deployment, such as
// Function.Arn; else the placeholder's own name.
func (d *Definition) Reference(placeholder string) string {
	if name, ok := d.References[placeholder]; ok {
		return name
	}
	return placeholder
}

// Parse reads the definition as asl.Parse does. Its problems stand in File.
func (d *Definition) Parse(newer ...string) (*asl.StateMachine, error) {
	if d.Text == nil {
		return nil, d.Problems
	}
	parse := asl.Parse
	if d.Literal {
		parse = asl.ParseDeployed
	}
	m, err := parse(d.Text, newer...)
	return m, d.LocateError(err)
}

// Validate returns everything that is wrong or suspicious, as asl.Validate does.
// A template that says what type the state machine has wins over as.
func (d *Definition) Validate(as asl.ExecutionType, newer ...string) diag.Problems {
	problems := append(diag.Problems{}, d.Problems...)
	if d.Text == nil {
		return problems
	}
	validate := asl.Validate
	if d.Literal {
		validate = asl.ValidateDeployed
	}
	for _, p := range validate(d.Text, as, newer...) {
		problems = append(problems, d.Locate(p))
	}
	return problems
}

// Locate returns a problem of the Text at its place in File. The pointer stays
// that of the definition.
func (d *Definition) Locate(p diag.Problem) diag.Problem {
	if d.text == nil {
		return p
	}
	return d.text.move(p)
}

// LocateError returns an error of asl or sim with its places those in File. Any
// other error it returns as it is.
func (d *Definition) LocateError(err error) error {
	if d.text == nil {
		return err
	}
	switch err := err.(type) { //nolint:errorlint // what asl and sim return
	case diag.Problems:
		return d.text.moveAll(err)
	case interface {
		Place(where func(asl.Position) asl.Position) error
	}:
		return err.Place(d.LocatePosition)
	default:
		return err
	}
}

// LocatePosition returns a position in Text as one in File. What another file gives stands
// where File uses it.
func (d *Definition) LocatePosition(p asl.Position) asl.Position {
	moved := d.Locate(diag.Problem{Line: p.Line, Column: p.Column})
	if moved.File != "" {
		moved = d.text.problem(new(ruler).offset(d.text.bytes, p.Line, p.Column), "", "")
	}
	p.Line, p.Column = moved.Line, moved.Column
	return p
}
