package sim

import (
	"slices"
	"sort"
	"time"
)

// KeepNoEvents as Options.KeepEvents drops the events of an execution that has
// ended.
const KeepNoEvents = -1

// history is the history of an execution. It grows by pieces, so that a long one
// is not copied to make room.
type history struct {
	weight
	dropped int64     // events that are not kept
	full    [][]Event // pieces, none of them empty
	piece   []Event   // the one that grows
	count   int       // of events in the pieces
	tasks   taskRests
}

// add appends an event.
func (h *history) add(previous int64, at time.Time, t EventType, d Details) *Event {
	const first, most = 4, 128 // the last piece has room for few
	if len(h.piece) == cap(h.piece) {
		if len(h.piece) > 0 {
			h.full = append(h.full, h.piece)
		}
		h.piece = make([]Event, 0, min(max(first, 2*cap(h.piece)), most))
	}
	h.count++
	h.piece = append(h.piece, newEvent(h.last(), previous, at, t, d, &h.tasks))
	e := &h.piece[len(h.piece)-1]
	h.weigh(e)
	return e
}

// last is the number of the last event.
func (h *history) last() int64 { return h.dropped + int64(h.count) }

// after returns the events after the one with the number, at most n, or all if n
// is not positive.
func (h *history) after(id int64, n int) []Event {
	skip := max(0, id-h.dropped)
	size := int64(h.count) - skip
	if n > 0 {
		size = min(size, int64(n))
	}
	if size <= 0 {
		return nil
	}
	out := make([]Event, 0, size)
	first := h.dropped + skip + 1 // its number
	at := sort.Search(len(h.full), func(i int) bool { return h.full[i][len(h.full[i])-1].ID >= first })
	for ; len(out) < cap(out); at++ {
		piece := h.piece
		if at < len(h.full) {
			piece = h.full[at]
		}
		piece = piece[max(0, first-piece[0].ID):]
		out = append(out, piece[:min(len(piece), cap(out)-len(out))]...)
	}
	return out
}

// seal ends the history, which keeps all events, the last n, or none, and packs them if
// there is a packer. The history goes on where the execution is redriven.
func (h *history) seal(keep int, k *packer) {
	h.drop(keep)
	if k != nil && h.loose > mostLooseEnded {
		h.pack(k)
	}
}

func (h *history) drop(keep int) {
	from := h.dropped
	switch {
	case keep < 0:
		from = h.last()
	case keep > 0:
		from = max(from, h.last()-int64(keep))
	}
	if from > h.dropped {
		h.join(from)
		return
	}
	if len(h.piece) > 0 {
		h.full, h.piece = append(h.full, slices.Clone(h.piece)), nil // without room for more
	}
}

// whole returns all events that the history keeps.
func (h *history) whole() []Event {
	if len(h.full) != 1 || len(h.piece) > 0 {
		h.join(h.dropped)
	}
	if len(h.full) == 0 {
		return nil
	}
	return h.full[0]
}

// join makes one piece of the events after the one with the number, and drops those
// before.
func (h *history) join(from int64) {
	kept := h.after(from, 0)
	w := weight{bytes: h.bytes, loose: h.loose}
	if from > h.dropped {
		w = weight{}
		for i := range kept {
			w.weigh(&kept[i])
		}
	}
	*h = history{dropped: from, count: len(kept), weight: w}
	if len(kept) > 0 {
		h.full = [][]Event{kept}
	}
}
