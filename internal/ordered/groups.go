package ordered

import "slices"

// Groups are ordered items, with a list for each group.
type Groups[G comparable, E any] struct {
	compare func(a, b E) int
	lists   map[G]*List[E] // none of them empty
}

// NewGroups returns no items.
func NewGroups[G comparable, E any](compare func(a, b E) int) *Groups[G, E] {
	return &Groups[G, E]{compare: compare, lists: map[G]*List[E]{}}
}

// Add adds an item to a group.
func (g *Groups[G, E]) Add(group G, e E) {
	l := g.lists[group]
	if l == nil {
		l = New(g.compare)
		g.lists[group] = l
	}
	l.Add(e)
}

// Remove removes an item of a group, if it is there.
func (g *Groups[G, E]) Remove(group G, e E) {
	if l := g.lists[group]; l != nil {
		if l.Remove(e); l.Len() == 0 {
			delete(g.lists, group)
		}
	}
}

// Len is how many items there are.
func (g *Groups[G, E]) Len() (all int) {
	for _, l := range g.lists {
		all += l.Len()
	}
	return all
}

// After returns the first n items of some groups behind an item; nil: from the beginning.
func (g *Groups[G, E]) After(e *E, n int, takes func(G) bool) []E {
	var found []E
	for group, l := range g.lists {
		if !takes(group) {
			continue
		}
		items := l.All()
		if e != nil {
			items = l.After(*e)
		}
		left := n
		for item := range items {
			if left--; left < 0 {
				break
			}
			found = append(found, item)
		}
	}
	slices.SortFunc(found, g.compare)
	return found[:min(n, len(found))]
}
