package pollcore

import "github.com/jobpoller/jobpoller/internal/jmespath"

// Prune returns the part of a JSON output that the waiter reads: the members
// on the paths of its acceptors and messages, or all of it if one reads all. An
// output that is too large to pass on keeps what its verdict rests on.
func (w *Waiter) Prune(output any) any {
	kept := map[string]any{}
	for _, a := range w.Acceptors {
		var paths [][]string
		if m := a.Matcher.Output; m != nil {
			paths = readPaths(m.Path)
		}
		if m := a.Matcher.InputOutput; m != nil {
			for _, names := range readPaths(m.Path) {
				if len(names) == 0 {
					return output
				}
				if names[0] == "output" {
					paths = append(paths, names[1:])
				}
			}
		}
		for _, names := range append(paths, readPaths(a.Message)...) {
			if len(names) == 0 {
				return output
			}
			keepPath(kept, output, names)
		}
	}
	return kept
}

// readPaths lists the paths of member names that an expression reads.
func readPaths(path string) [][]string {
	expr, err := jmespath.Parse(path)
	if err != nil {
		return nil // there is none, or Compile has refused the waiter
	}
	return expr.Paths()
}

// keepPath copies the value at a path of member names.
func keepPath(to map[string]any, from any, names []string) {
	for i, name := range names {
		object, ok := from.(map[string]any)
		if !ok {
			return
		}
		value, ok := object[name]
		if !ok {
			return
		}
		if i == len(names)-1 {
			to[name] = value
			return
		}
		if _, ok := value.(map[string]any); !ok {
			return
		}
		child, ok := to[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			to[name] = child
		}
		from, to = value, child
	}
}
