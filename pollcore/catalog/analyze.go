package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// refuseStreams reports waiters of operations that stream events: no
// single response can be judged.
func (r *smithyReader) refuseStreams() {
	for _, t := range r.waitables {
		for _, side := range []string{"input", "output"} {
			if member := r.eventStream(textAt(r.nodes[t.operation], side, "target")); member != "" {
				r.Report(t.node.Problem("an operation that streams events cannot be polled, and member %q of its %s is a stream", member, side))
			}
		}
	}
}

// eventStream is the member of a structure that streams events, or empty.
func (r *smithyReader) eventStream(structure string) string {
	for _, n := range r.lineage(structure) {
		members := at(n, "members")
		if members == nil {
			continue
		}
		for _, m := range members.Members {
			target := r.nodes[textAt(m.Value, "target")]
			// A streaming blob is data; only a union is a stream of events.
			if textAt(target, "type") == "union" && at(target, "traits", streamingTrait) != nil {
				return m.Name
			}
		}
	}
	return ""
}

// refuseEqualNames reports the waiters of a service that have the same name
// but for case, each where it stands.
func (r *smithyReader) refuseEqualNames() {
	type holder struct {
		waitable
		waiter string
	}
	holders := map[string][]holder{} // by service and lower-case name
	key := func(s smithyService, waiter string) string { return s.id + " " + strings.ToLower(waiter) }
	for _, t := range r.waitables {
		for _, w := range t.waiters {
			for _, s := range r.owners[t.operation] {
				holders[key(s, w.Name)] = append(holders[key(s, w.Name)], holder{t, w.Name})
			}
		}
	}
	for _, t := range r.waitables {
		for _, w := range t.waiters {
			for _, s := range r.owners[t.operation] {
				var others []string
				for _, h := range holders[key(s, w.Name)] {
					if h.operation != t.operation {
						others = append(others, fmt.Sprintf("%s of %s", h.waiter, smithy.ShapeName(h.operation)))
					}
				}
				if len(others) > 0 {
					r.Report(t.problem(w.Name, "waiter names must differ in more than case within a service, and %s has %s too",
						s.name, strings.Join(others, ", ")))
				}
			}
		}
	}
}

// warnOfErrorTypes reports acceptors of errors that are not declared.
func (r *smithyReader) warnOfErrorTypes() {
	for _, t := range r.waitables {
		operation := r.nodes[t.operation]
		if textAt(operation, "type") != "operation" {
			continue // an apply statement, whose operation is in another text
		}
		declared := r.errorNames(t.operation)
		for _, s := range r.owners[t.operation] {
			declared = append(declared, r.errorNames(s.id)...)
		}
		for _, w := range t.waiters {
			for i, a := range w.Acceptors {
				if a.Matcher.ErrorType == nil {
					continue
				}
				name := smithy.ShapeName(*a.Matcher.ErrorType)
				if slices.Contains(declared, name) {
					continue
				}
				p := t.problem(fmt.Sprintf("%s/acceptors/%d/matcher/errorType", w.Name, i),
					"operation %s declares no error %s", smithy.ShapeName(t.operation), name)
				p.Severity = diag.Warning
				r.Report(p.Suggest(name, declared...))
			}
		}
	}
}

// errorNames lists the names of the errors that an operation or a service
// declares: those of their shapes, and their codes in the query protocol.
func (r *smithyReader) errorNames(id string) []string {
	var names []string
	for _, n := range r.lineage(id) {
		list := at(n, "errors")
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			target := textAt(item, "target")
			names = append(names, smithy.ShapeName(target))
			if code := textAt(r.nodes[target], "traits", queryErrorTrait, "code"); code != "" {
				names = append(names, code)
			}
		}
	}
	return names
}

// lineage lists a shape and all mixins in it, as far as the text has them.
func (r *smithyReader) lineage(id string) []*jsontree.Node {
	var found []*jsontree.Node
	pending := []string{id}
	for i := 0; i < len(pending); i++ {
		n := r.nodes[pending[i]]
		if n == nil {
			continue
		}
		found = append(found, n)
		mixins := at(n, "mixins")
		if mixins == nil {
			continue
		}
		for _, m := range mixins.Items {
			if target := textAt(m, "target"); !slices.Contains(pending, target) {
				pending = append(pending, target)
			}
		}
	}
	return found
}

// problem is one of the value below the trait that a pointer leads to.
func (t waitable) problem(pointer, format string, args ...any) diag.Problem {
	return t.node.Nearest(t.node.Pointer()+"/"+pointer).Problem(format, args...)
}

// at is the value below n under the names, or nil.
func at(n *jsontree.Node, names ...string) *jsontree.Node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		n = n.Get(name)
	}
	return n
}

// textAt is the string below n under the names, or empty.
func textAt(n *jsontree.Node, names ...string) string {
	if n = at(n, names...); n == nil || n.Kind != jsontree.String {
		return ""
	}
	return n.Text
}
