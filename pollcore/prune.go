package pollcore

import "github.com/jobpoller/jobpoller/internal/jmespath"

// Prune returns the part of a JSON output that the waiter reads: the members
// on the paths of its acceptors and messages. An output that is too large to
// pass on keeps what its verdict rests on.
func (w *Waiter) Prune(output any) any {
	kept := map[string]any{}
	for _, a := range w.Acceptors {
		if a.Matcher.Output != nil {
			keep(kept, output, a.Matcher.Output.Path)
		}
		if a.Message != "" {
			keep(kept, output, a.Message)
		}
	}
	return kept
}

// keep copies the values that the path reads from one object into another.
func keep(to map[string]any, from any, path string) {
	expr, err := jmespath.Parse(path)
	if err != nil {
		return // Compile has refused such a waiter
	}
	for _, names := range expr.Paths() {
		keepPath(to, from, names)
	}
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
