// Package ordered keeps items in order while they come and go.
package ordered

import (
	"iter"
	"slices"
	"sort"
)

// mostInPiece is how many items a piece has before it is cut in two.
const mostInPiece = 256

// List has items in the order of a comparison, no two of which are equal. To add, remove
// and find one takes as long in a list of a million as in one of a thousand, or nearly:
// the items lie in pieces, and only one piece is shifted.
type List[E any] struct {
	compare func(a, b E) int
	pieces  [][]E // none of them empty
	count   int
}

// New returns an empty list.
func New[E any](compare func(a, b E) int) *List[E] { return &List[E]{compare: compare} }

// Len is how many items there are.
func (l *List[E]) Len() int { return l.count }

// Add adds an item, if it is not there.
func (l *List[E]) Add(e E) {
	p, i, found := l.find(e)
	switch {
	case found:
		return
	case p == len(l.pieces) && p > 0: // behind all others
		p--
		i = len(l.pieces[p])
	case p == len(l.pieces):
		l.pieces = append(l.pieces, nil)
	}
	l.count++
	l.pieces[p] = slices.Insert(l.pieces[p], i, e)
	if all := l.pieces[p]; len(all) > mostInPiece {
		at := len(all) / 2 //nolint:mnd // half
		if p == len(l.pieces)-1 && i == len(all)-1 {
			at = len(all) - 1 // most items come in order
		}
		rest := slices.Clone(all[at:])
		clear(all[at:])
		l.pieces[p] = all[:at]
		l.pieces = slices.Insert(l.pieces, p+1, rest)
	}
}

// Remove removes an item, and tells whether it was there.
func (l *List[E]) Remove(e E) bool {
	p, i, found := l.find(e)
	if !found {
		return false
	}
	l.count--
	if l.pieces[p] = slices.Delete(l.pieces[p], i, i+1); len(l.pieces[p]) == 0 {
		l.pieces = slices.Delete(l.pieces, p, p+1)
	}
	return true
}

// First returns the first item, if there is one.
func (l *List[E]) First() (first E, found bool) {
	if l.count == 0 {
		return first, false
	}
	return l.pieces[0][0], true
}

// All yields all items in order. The list must not change meanwhile.
func (l *List[E]) All() iter.Seq[E] { return l.from(0, 0) }

// After yields the items behind one, which need not be there, in order. The list must not
// change meanwhile.
func (l *List[E]) After(e E) iter.Seq[E] {
	p, i, found := l.find(e)
	if found {
		i++
	}
	return l.from(p, i)
}

func (l *List[E]) from(p, i int) iter.Seq[E] {
	return func(yield func(E) bool) {
		for ; p < len(l.pieces); p++ {
			for _, e := range l.pieces[p][i:] {
				if !yield(e) {
					return
				}
			}
			i = 0
		}
	}
}

// find returns the place of an item, or where it belongs: the number of its piece, and
// its place there.
func (l *List[E]) find(e E) (p, i int, found bool) {
	p = sort.Search(len(l.pieces), func(p int) bool {
		piece := l.pieces[p]
		return l.compare(piece[len(piece)-1], e) >= 0
	})
	if p == len(l.pieces) {
		return p, 0, false
	}
	i, found = slices.BinarySearchFunc(l.pieces[p], e, l.compare)
	return p, i, found
}
