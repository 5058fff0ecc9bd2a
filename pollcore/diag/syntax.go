package diag

// SyntaxError is the first place at which a text leaves the grammar of its
// language. It reads as a [Problem] does, and is one for errors.As.
type SyntaxError struct {
	Text    string
	Offset  int    // of the place, in bytes
	Code    string // that the language gives the error, if it does
	Message string // what was expected and what was found
	// Suggestion is the nearest right word, if there is one near enough.
	Suggestion string
}

// Problem is the error with its line, column and source.
func (e *SyntaxError) Problem() Problem {
	p := At([]byte(e.Text), e.Offset, "", e.Message)
	p.Suggestion = e.Suggestion
	return p
}

// Error tells the place, the message and the suggestion, and shows the source
// with a caret.
func (e *SyntaxError) Error() string { return Problems{e.Problem()}.Error() }

// Unwrap gives errors.As the error as [Problems].
func (e *SyntaxError) Unwrap() error { return Problems{e.Problem()} }
