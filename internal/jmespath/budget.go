package jmespath

// What one evaluation may take. A response of AWS has some thousand values; an
// expression that doubles what it is given has as many as it likes.
const (
	maxSteps = 4_000_000 // values looked at
	maxBytes = 32 << 20  // of text that functions and results have
)

// step counts a value that is looked at, for the place at. It returns false
// after a failure, such as that of too many.
func (fr *frame) step(at int) bool {
	if fr.steps++; fr.steps > maxSteps {
		fr.fail(TooMuchWork, at, "the expression looks at more than %d values", maxSteps)
	}
	return fr.err == nil
}

// write counts bytes of text. It returns false after a failure, such as that of
// too much.
func (fr *frame) write(at, bytes int) bool {
	if fr.bytes += bytes; fr.bytes > maxBytes {
		fr.fail(TooMuchWork, at, "the expression makes more than %d MiB of text", maxBytes>>20)
	}
	return fr.err == nil
}
