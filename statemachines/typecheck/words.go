package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// words are the strings that a value may be: known ones, and those that an enum
// has, or any. A service may send strings that its model does not list yet: they
// are possible, and not listed.
type words struct {
	known  []string       // sorted
	enum   *catalog.Shape // nil: none
	any    bool
	except []string // sorted: those of the enum, or of all, that are ruled out
}

var anyWords = words{any: true}

// pack is the words as a set has them.
func (w words) pack() *words {
	if w.any && len(w.except) == 0 {
		return nil
	}
	return &w
}

// lists tells whether the word is one that is known.
func (w words) lists(word string) bool {
	if _, ok := slices.BinarySearch(w.known, word); ok {
		return true
	}
	return w.enum != nil && slices.Contains(w.enum.Enum, word) && !slices.Contains(w.except, word)
}

// may tells whether the word is possible.
func (w words) may(word string) bool {
	return w.lists(word) || (w.any || w.enum != nil) && !slices.Contains(w.except, word)
}

// list is the words that are known, sorted.
func (w words) list() []string {
	if w.enum == nil {
		return w.known
	}
	out := slices.Clone(w.known)
	for _, word := range w.enum.Enum {
		if !slices.Contains(w.except, word) {
			out = append(out, word)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isFinite tells whether no word is possible but those that are listed.
func (w words) isFinite() bool { return !w.any && w.enum == nil }

// isEmpty tells whether no word is possible.
func (w words) isEmpty() bool { return w.isFinite() && len(w.known) == 0 }

// drop rules a word out.
func (w words) drop(word string) words {
	if i, ok := slices.BinarySearch(w.known, word); ok {
		w.known = slices.Delete(slices.Clone(w.known), i, i+1)
	}
	if (w.any || w.enum != nil) && len(w.except) < maxLiterals {
		w.except = unite(w.except, []string{word})
	}
	return w
}

// filter keeps the known words for which keep holds; those that are not known may
// all be kept.
func (w words) filter(keep func(string) bool) words {
	if w.isFinite() {
		w.known = slices.DeleteFunc(slices.Clone(w.known), func(word string) bool { return !keep(word) })
	}
	return w
}

func joinWords(a, b words) words {
	out := words{known: unite(a.known, b.known), enum: a.enum, any: a.any || b.any}
	switch {
	case a.enum == nil:
		out.enum = b.enum
	case b.enum != nil && a.enum != b.enum:
		out.known = unite(out.known, unite(a.list(), b.list()))
		out.enum = nil
		out.any = true // as a service may have more
	}
	if len(out.known) > maxLiterals {
		out.any = true
	}
	for _, word := range a.except {
		if !b.may(word) {
			out.except = append(out.except, word)
		}
	}
	for _, word := range b.except {
		if !a.may(word) {
			out.except = append(out.except, word)
		}
	}
	slices.Sort(out.except)
	out.except = slices.Compact(out.except)
	if out.any {
		out.known, out.enum = nil, nil
	}
	return out
}

func (w words) equal(o words) bool {
	return w.any == o.any && w.enum == o.enum && slices.Equal(w.known, o.known) && slices.Equal(w.except, o.except)
}

// sameWords tells whether two sets have the same words.
func sameWords(a, b *words) bool {
	return a == b || a != nil && b != nil && a.equal(*b)
}
