package schema

import (
	"encoding"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// modulePath is how the import paths of this module begin.
const modulePath = "github.com/jobpoller/jobpoller"

// Root is the folder of the module.
func Root() (string, error) {
	folder, err := filepath.Abs(".")
	for err == nil {
		if _, there := os.Stat(filepath.Join(folder, "go.mod")); there == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			err = errors.New("there is no go.mod above the working folder")
		}
		folder = filepath.Dir(folder)
	}
	return "", err
}

// wordsOf are the texts that the constants of a type have; nil if it has no constants.
func wordsOf(t reflect.Type) ([]any, error) {
	files, err := sourceOf(t)
	if err != nil {
		return nil, err
	}
	var words []any
	number := 0
	for _, spec := range constants(files, t.Name()) {
		switch {
		case t.Kind() != reflect.String: // one of an enumeration from 0
			value := reflect.New(t).Elem()
			value.SetUint(uint64(number))
			number++
			text, err := value.Interface().(encoding.TextMarshaler).MarshalText()
			if err != nil {
				return nil, err
			}
			words = append(words, string(text))
		default:
			for _, value := range spec.Values {
				literal, ok := value.(*ast.BasicLit)
				if !ok {
					return nil, fmt.Errorf("a constant of %v is no literal", t)
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					return nil, err
				}
				if text != "" { // what JSON leaves out
					words = append(words, text)
				}
			}
		}
	}
	return words, nil
}

// constants are those of a type, and those below one in an enumeration.
func constants(files []*ast.File, name string) []*ast.ValueSpec {
	var found []*ast.ValueSpec
	for _, file := range files {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			counts := false
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				if of, ok := spec.Type.(*ast.Ident); ok || spec.Values != nil {
					counts = ok && of.Name == name
				}
				if counts {
					found = append(found, spec)
				}
			}
		}
	}
	return found
}

// commentOf is the comment of a field as a description: without the name of the field.
func commentOf(t reflect.Type, field string) (string, error) {
	files, err := sourceOf(t)
	if err != nil {
		return "", err
	}
	var comment string
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			form, ok := spec.Type.(*ast.StructType)
			if !ok || spec.Name.Name != t.Name() {
				return false
			}
			for _, f := range form.Fields.List {
				for _, name := range f.Names {
					if name.Name == field {
						comment = f.Doc.Text()
					}
				}
			}
			return false
		})
	}
	text := strings.TrimPrefix(strings.Join(strings.Fields(comment), " "), field+" ")
	for _, verb := range []string{"is ", "are "} {
		text = strings.TrimPrefix(text, verb)
	}
	return strings.TrimSuffix(text, "."), nil
}

// sources are the files that have been read, by their package.
var sources sync.Map // string to []*ast.File

// sourceOf are the files of a type's package, with tests.
func sourceOf(t reflect.Type) ([]*ast.File, error) {
	if known, ok := sources.Load(t.PkgPath()); ok {
		return known.([]*ast.File), nil
	}
	below, ok := strings.CutPrefix(strings.TrimSuffix(t.PkgPath(), "_test"), modulePath)
	if !ok {
		return nil, fmt.Errorf("%v is of another module: give its schema", t)
	}
	root, err := Root()
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(below), "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	sources.Store(t.PkgPath(), files)
	return files, nil
}
