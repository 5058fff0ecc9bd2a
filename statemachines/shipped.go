package statemachines

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:generate go test -run ^TestShippedDefinitionsAreCompiled$ -update .

//go:embed *.asl.json
var definitions embed.FS

const definitionSuffix = ".asl.json"

// ErrNoDefinition means that no shipped definition has the name.
var ErrNoDefinition = errors.New("no such shipped definition")

// Names are the names of the shipped definitions, sorted: their files without
// ".asl.json".
func Names() []string {
	files, err := fs.Glob(definitions, "*"+definitionSuffix)
	if err != nil {
		panic(err) // the pattern is a valid one
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, definitionSuffix)
	}
	return files
}

// Definition returns a shipped definition by its name. Its error matches
// [ErrNoDefinition].
func Definition(name string) ([]byte, error) {
	text, err := definitions.ReadFile(path.Base(name) + definitionSuffix)
	if err != nil {
		return nil, fmt.Errorf("%w: %q; there are %s", ErrNoDefinition, name, strings.Join(Names(), ", "))
	}
	return text, nil
}
