package simulate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// deleting is the end of the statuses of something that is being deleted.
const deleting = "DELETING"

// isDeletion tells whether an entry waits until something is gone.
func isDeletion(e *catalog.Entry) bool {
	return strings.HasSuffix(e.Name, "Deleted") || strings.HasSuffix(e.Name, "NotExists") || strings.HasSuffix(e.Name, "DeleteComplete")
}

// deletedSoon lets the texts of an answer say that a thing is being deleted, where the model has a value
// for that.
func deletedSoon(answer any, s *catalog.Shape) {
	object, isObject := answer.(map[string]any)
	switch {
	case s == nil:
	case isObject:
		for i := range s.Members {
			m := &s.Members[i]
			value, there := object[m.Name]
			going := slices.IndexFunc(m.Shape.Enum, isDeleting)
			if there && going >= 0 {
				object[m.Name] = m.Shape.Enum[going]
			} else {
				deletedSoon(value, m.Shape)
			}
		}
	case s.Element != nil:
		items, _ := answer.([]any)
		for _, item := range items {
			deletedSoon(item, s.Element.Shape)
		}
	}
}

// deletingIn is how a status in a shape says that a thing is being deleted; empty if the model does not list it.
func deletingIn(s *catalog.Shape, depth int) string {
	const deepest = 4 // levels, where the status is still that of the resource, and not of a part
	if s == nil || depth > deepest {
		return ""
	}
	if s.Element != nil {
		return deletingIn(s.Element.Shape, depth+1)
	}
	word := ""
	for i := range s.Members {
		m := &s.Members[i]
		if going := slices.IndexFunc(m.Shape.Enum, isDeleting); going >= 0 && stateName().MatchString(m.Name) {
			return m.Shape.Enum[going]
		}
		word = cmp.Or(word, deletingIn(m.Shape, depth+1))
	}
	return word
}

// isDeleting tells whether a word says that a thing is being deleted.
func isDeleting(word string) bool { return strings.EqualFold(word, deleting) }
