package startrecord

import "fmt"

// StoreError is an error of a store that says what to do about it.
type StoreError struct {
	Kind     error  // ErrUnavailable or ErrConfiguration
	Location string // of the record
	Remedy   string // what to do, quoting nothing but names of the store; empty for what may pass by itself
	Err      error  // what the store's client said
}

// Error implements error.
func (f *StoreError) Error() string {
	if f.Remedy == "" {
		return fmt.Sprintf("%v: %s: %v", f.Kind, f.Location, f.Err)
	}
	return fmt.Sprintf("%v: %s: %s: %v", f.Kind, f.Location, f.Remedy, f.Err)
}

// OwnWords is the error without what the client said, for logs.
func (f *StoreError) OwnWords() string {
	if f.Remedy == "" {
		return f.Kind.Error()
	}
	return f.Kind.Error() + ": " + f.Remedy
}

// Unwrap returns the kind and the client's error.
func (f *StoreError) Unwrap() []error { return []error{f.Kind, f.Err} }
