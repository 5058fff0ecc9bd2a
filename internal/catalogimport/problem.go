package catalogimport

import "errors"

// What an error of [Import] is about.
var (
	// ErrModel means that a model cannot be read, or has what the catalogue
	// has no form for.
	ErrModel = errors.New("a service model is wrong or not supported")
	// ErrTable means that a table is wrong, or does not fit the models.
	ErrTable = errors.New("a table is wrong")
)

// FileError is an error of one file. Err is a [diag.Problems] where the
// places in the file are known.
type FileError struct {
	File string
	Kind error // ErrModel or ErrTable
	Err  error
}

func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns both, so that either can be asked for.
func (e *FileError) Unwrap() []error { return []error{e.Kind, e.Err} }
