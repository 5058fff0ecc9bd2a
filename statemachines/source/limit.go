package source

import (
	"bytes"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// What is read has bounds, so that no file fills the memory.
const (
	// maxFileBytes bounds a file: a template of the CDK, a plan or a state can be large.
	maxFileBytes = 50 << 20
	// maxDefinitionFile bounds a file that is a definition.
	maxDefinitionFile = 2 << 20
	// maxValues bounds the values of a file.
	maxValues = 1_000_000
	// maxMerged bounds the members that merge keys add to a file.
	maxMerged = 100_000
	// maxAliased bounds the values that aliases repeat in a definition.
	maxAliased = 50_000
	// maxRendered and renderedPerByte bound the definitions that aliases and variables give
	// to several state machines.
	maxRendered     = 1 << 20
	renderedPerByte = 16
	// maxComposed bounds the bytes of all strings that functions put together.
	maxComposed = 64 << 20
)

// checkSize refuses a text with more values than are read.
func checkSize(t *text, yaml bool) diag.Problems {
	about, n := "", countJSON(t.bytes)
	if yaml {
		about, n = "about ", countYAML(t.bytes)
	}
	if n <= maxValues {
		return nil
	}
	return diag.Problems{t.problem(0, "", fmt.Sprintf(
		"this text has %s%d values, and at most %d are read: give the part with the state machines a file of its own", about, n, maxValues))}
}

// renders tells whether the definitions stay within bounds with one of so many bytes more.
func (l *loader) renders(size int) bool {
	l.rendered += size
	return l.rendered <= maxRendered+renderedPerByte*l.bytes
}

// countBytes notes the size of a file.
func (l *loader) countBytes(name string, size int) {
	if !l.sized[name] {
		l.sized[name] = true
		l.bytes += size
	}
}

// countJSON returns how many values a text of JSON has: each is the root, the first of a
// container or behind a comma.
func countJSON(text []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// countYAML returns about how many values a text of YAML has, and never too few for what
// each needs: it counts the characters that begin one, those within strings, too.
func countYAML(text []byte) int {
	n := 1
	for _, c := range []byte(",:-[{?\n") {
		n += bytes.Count(text, []byte{c})
	}
	return n
}
