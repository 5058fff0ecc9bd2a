package fix

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// checkAnchors refuses changes that take away a value with an anchor (&name) which another place of
// a file of YAML names (*name).
func checkAnchors(file []byte, changes []change) error {
	var root yaml.Node
	_ = yaml.Unmarshal(file, &root) // it stays empty where that is no YAML: the change is read again
	lines := bytes.SplitAfter(file, []byte("\n"))
	isGone := func(n *yaml.Node) bool {
		at := offsetOf(lines, n.Line, n.Column)
		return slices.ContainsFunc(changes, func(c change) bool { return at >= c.from && at < c.to })
	}
	var walk func(n *yaml.Node) error
	walk = func(n *yaml.Node) error {
		if n.Kind == yaml.AliasNode {
			if isGone(n.Alias) && !isGone(n) {
				return refuse("line %d names the value of &%s in line %d, which the new loop takes away: write that value in line %[1]d",
					n.Line, n.Value, n.Alias.Line)
			}
			return nil
		}
		for _, inner := range n.Content {
			if err := walk(inner); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(&root)
}

// offsetOf is where a line and a column of characters, both from 1, stand in a file.
func offsetOf(lines [][]byte, line, column int) int {
	at := 0
	for i := range min(line-1, len(lines)) {
		at += len(lines[i])
	}
	if line < 1 || line > len(lines) {
		return at
	}
	rest := lines[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRune(rest)
		at += size
		rest = rest[size:]
	}
	return at
}
