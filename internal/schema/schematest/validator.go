package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validator tells whether JSON is as a schema says. It is another maker's than the schemas are
// made with.
type Validator struct{ compiled *jsonschema.Schema }

// NewValidator reads the schema of a name in the module at root. A strict one refuses members that
// the schema does not have, though it lets them pass for what comes later: what a command prints
// now is all there.
func NewValidator(root, name string, strict bool) (*Validator, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(Folder), name+suffix)) //nolint:gosec // of the module
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema %s: %w", name, err)
	}
	if strict {
		closeObjects(document)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(name+suffix, document); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(name + suffix)
	return &Validator{compiled}, err
}

// closeObjects lets all objects of a schema have the members alone that it lists.
func closeObjects(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			closeObjects(item)
		}
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, member := range v {
			closeObjects(member)
		}
	}
}

// Check says what of a document is not as the schema says.
func (v *Validator) Check(text []byte) error {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return v.compiled.Validate(document)
}

// CheckLines is Check of each of several documents.
func (v *Validator) CheckLines(text []byte) error {
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var line json.RawMessage
		err := decoder.Decode(&line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := v.Check(line); err != nil {
			return err
		}
	}
}
