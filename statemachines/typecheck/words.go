package typecheck

import (
	"slices"
	"strings"

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
	// Of any text, heads and tails are what it may start and end with, sorted; nil where that is not known.
	heads, tails []string
}

var anyWords = words{any: true}

// pack is the words as a set has them.
func (w words) pack() *words {
	if w.any && len(w.except) == 0 && w.heads == nil && w.tails == nil {
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
	return w.lists(word) || (w.any || w.enum != nil) && !slices.Contains(w.except, word) && w.fitsAround(word)
}

// fitsAround tells whether a word starts with one of the heads and ends with one of the tails, which do
// not overlap in it.
func (w words) fitsAround(word string) bool {
	for _, head := range orEmpty(w.heads) {
		rest, starts := strings.CutPrefix(word, head)
		if starts && slices.ContainsFunc(orEmpty(w.tails), func(tail string) bool { return strings.HasSuffix(rest, tail) }) {
			return true
		}
	}
	return false
}

// orEmpty are the heads or the tails of texts: the empty one where they are not known.
func orEmpty(ends []string) []string {
	if ends == nil {
		return []string{""}
	}
	return ends
}

// concatenate is the text that "&" makes of two values that are not wholly known: the first says how it
// starts, and the second how it ends.
func concatenate(left, right Value) Value {
	first, second := left.concatenated(), right.concatenated()
	joined := words{any: true, heads: first.heads, tails: second.tails}
	if first.isFinite() {
		joined.heads = product(first.known, orEmpty(second.startsWith()))
	}
	if second.isFinite() {
		joined.tails = product(orEmpty(first.endsWith()), second.known)
	}
	return pack(set{kinds: texts, text: joined.pack()})
}

// joinTexts is the text that $join makes of texts that are there, if their number is known.
func joinTexts(values []Value) (Value, bool) {
	if len(values) == 0 {
		return Value{}, false
	}
	items, ok := listed(values[0])
	if !ok || len(items) == 0 || slices.ContainsFunc(items, func(item Value) bool { return item.kinds() != texts }) {
		return Value{}, false
	}
	between := textOf("")
	if len(values) > 1 {
		between = values[1]
	}
	out := items[0]
	for _, item := range items[1:] {
		out = concatenate(concatenate(out, between), item)
	}
	return out, true
}

// concatenated are the strings that stand for a value in a text: none where it is missing.
func (v Value) concatenated() words {
	if v.IsUnknown() || v.may(every&^(texts|missing)) {
		return anyWords
	}
	w := v.words()
	switch {
	case !v.may(missing):
	case w.isFinite():
		w.known = unite(w.known, []string{""})
	default:
		w = anyWords
	}
	return w
}

// startsWith are the heads of the strings, and endsWith their tails.
func (w words) startsWith() []string {
	if w.isFinite() {
		return w.known
	}
	return w.heads
}

func (w words) endsWith() []string {
	if w.isFinite() {
		return w.known
	}
	return w.tails
}

// product are all texts of a first and a second part, sorted; nil if they are too many.
func product(first, second []string) []string {
	if len(first)*len(second) > maxLiterals {
		return nil
	}
	var all []string
	for _, one := range first {
		for _, other := range second {
			all = append(all, one+other)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
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
		out.heads, out.tails = joinEnds(a, b, words.startsWith), joinEnds(a, b, words.endsWith)
		out.known, out.enum = nil, nil
	}
	return out
}

// joinEnds are the heads or tails of the strings of two sets; nil if they are not known of both.
func joinEnds(a, b words, ends func(words) []string) []string {
	first, second := ends(a), ends(b)
	if first == nil || second == nil || len(first)+len(second) > maxLiterals {
		return nil
	}
	return unite(first, second)
}

func (w words) equal(o words) bool {
	return w.any == o.any && w.enum == o.enum && slices.Equal(w.known, o.known) && slices.Equal(w.except, o.except) &&
		slices.Equal(w.heads, o.heads) && slices.Equal(w.tails, o.tails)
}

// sameWords tells whether two sets have the same words.
func sameWords(a, b *words) bool {
	return a == b || a != nil && b != nil && a.equal(*b)
}
