// Package terraform finds state machine definitions in modules of Terraform and
// OpenTofu, as their files say them: nothing is planned, and no provider is asked.
//
//	machines, err := terraform.New(files).Machines("infra")
//	for _, m := range machines {
//		// m.Text or m.Object is the definition, and each part knows its place
//	}
//
// What only Terraform or AWS can say, such as the ARN of a function, is a hole in the
// definition, which has the expression as its name.
package terraform

// Place is where something stands in a file, in bytes.
type Place struct {
	File     string
	From, To int
}

// Files are what a module is read from. Names have slashes.
type Files interface {
	// Modules are the names of the .tf and .tf.json files of a folder, in their order.
	// It fails for a folder that must not be read.
	Modules(folder string) ([]string, error)
	// Values are the names of the files of a folder that say values of a root module's
	// variables, the strongest last.
	Values(folder string) ([]string, error)
	// Read returns the text of a file. It fails for one that must not be read.
	Read(name string) ([]byte, error)
	// Decode reads a text of JSON or YAML.
	Decode(text []byte, yaml bool) (*Data, error)
	// Variable is what the user says of a variable, or of a value that stays unknown.
	Variable(name string) (string, bool)
}

// Data is a value of JSON or YAML, with the bytes of the text that it comes from. Values
// may share others.
type Data struct {
	Kind Kind
	// Text is a string, or a literal of JSON.
	Text string
	// Origins are the bytes of the text that those of a string come from.
	Origins  []int
	From, To int
	Items    []*Data
	Members  []DataMember
}

// DataMember is a member of an object.
type DataMember struct{ Name, Value *Data }

// Machine is a state machine that a module makes.
type Machine struct {
	// Address is what Terraform calls it: module.nightly.aws_sfn_state_machine.this["a"].
	Address string
	// Local is the address in the module that has the block.
	Local string
	// Condition is what an unknown condition of the module must be for the definition to
	// be this one, such as "var.fast"; empty without one.
	Condition string
	// Block is where the name of its block stands in the module that was opened.
	Block Place
	// Type is STANDARD or EXPRESS; empty if nothing says it.
	Type string
	// Text is the definition, in YAML or in JSON, and Object the value that Terraform
	// encodes as JSON. Without both the definition is unknown: Missing is the expression.
	Text    Text
	YAML    bool
	Object  *Value
	Missing string
	// At is where the definition is given.
	At Place
	// Problems are those of files that the definition needs.
	Problems []Problem
}

// Problem says why a file cannot be read.
type Problem struct {
	Place

	Message string
	// Broken tells that Terraform refuses the file. Else it may be one that is not there yet.
	Broken bool
}
