package sim

import "slices"

// weight is how many bytes of memory a history takes, about.
type weight struct {
	bytes  int64
	loose  int64    // of these, those of payloads that may be packed
	latest *Payload // that was counted: the next event has it often, too
	packed int      // full pieces that have no such payloads
}

// What is kept besides payloads, in bytes, and how large the value of a payload is for each
// byte of its text.
const (
	executionBytes = 2 << 10
	eventBytes     = 128
	payloadBytes   = 64
	valueFactor    = 2
)

// Payloads of a history are packed where they are larger than leastPacked, and more than
// mostLoose together, or mostLooseEnded when the execution has ended.
const (
	leastPacked    = 4 << 10
	mostLoose      = 4 << 20
	mostLooseEnded = 16 << 10
)

// weigh counts an event that is new.
func (w *weight) weigh(e *Event) {
	w.bytes += eventBytes
	switch rest := e.rest.(type) {
	case *failureRest:
		w.bytes += int64(len(rest.cause))
	case assignedRest:
		for _, p := range rest {
			w.add(p)
		}
	}
	if e.payload != nil && e.payload != w.latest {
		w.latest = e.payload
		w.add(e.payload)
	}
}

func (w *weight) add(p *Payload) {
	if p.isPacked() { // by who counted it
		return
	}
	size := int64(payloadBytes + valueFactor*p.bytes())
	if w.bytes += size; p.bytes() > leastPacked {
		w.loose += size
	}
}

// pack packs the large payloads. Who has read events keeps what was read.
func (h *history) pack(k *packer) {
	if len(h.piece) > 0 {
		h.full, h.piece = append(h.full, h.piece), nil
	}
	h.bytes -= h.loose
	small := map[*Payload]*Payload{}
	pack := func(p *Payload) *Payload {
		if p == nil || p.bytes() <= leastPacked || p.isPacked() {
			return p
		}
		if small[p] == nil {
			var added int
			small[p], added = k.pack(p)
			h.bytes += int64(added)
		}
		return small[p]
	}
	for ; h.packed < len(h.full); h.packed++ {
		piece := slices.Clone(h.full[h.packed])
		for i := range piece {
			e := &piece[i]
			e.payload = pack(e.payload)
			if assigned, is := e.rest.(assignedRest); is {
				again := make(assignedRest, len(assigned))
				for name, p := range assigned {
					again[name] = pack(p)
				}
				e.rest = again
			}
		}
		h.full[h.packed] = piece
	}
	h.loose, h.latest = 0, nil
}
