package sim

import (
	"compress/flate"
	"crypto/sha256"
	"io"
	"strings"
	"sync"
)

// packer packs the payloads of one run. Payloads share the chunks that they have in common:
// most states of a loop differ little from the one before.
type packer struct {
	chunks map[[sha256.Size]byte]string
	text   []byte // room
}

// The bytes of chunks. A chunk ends where its content says so, and so does the next one
// behind an insertion.
const (
	leastChunk, mostChunk = 2 << 10, 64 << 10
	chunkBits             = 13 // of the hash that are zero at an end: about 8 KB behind the least
)

// chunkBytes is what a chunk takes besides its compressed bytes.
const chunkBytes = 64

// pack returns the payload as text, and the bytes that this adds to what is kept.
func (k *packer) pack(p *Payload) (small *Payload, added int) {
	if k.chunks == nil {
		k.chunks = map[[sha256.Size]byte]string{}
	}
	k.text = p.appendJSON(k.text[:0])
	var value packed
	for text := k.text; len(text) > 0; {
		n := chunkEnd(text)
		sum := sha256.Sum256(text[:n])
		chunk, found := k.chunks[sum]
		if !found {
			chunk = deflate(text[:n])
			k.chunks[sum] = chunk
			added += len(chunk) + chunkBytes
		}
		value = append(value, chunk)
		text = text[n:]
	}
	const reference = 16
	return &Payload{value: value, size: len(k.text)}, added + payloadBytes + reference*cap(value)
}

// chunkEnd returns the length of the first chunk of a text.
func chunkEnd(text []byte) int {
	const factor = 0x9E3779B97F4A7C15 // spreads a byte over the hash
	var hash uint64
	for i, c := range text[:min(len(text), mostChunk)] {
		hash = hash<<1 + uint64(c)*factor
		if i >= leastChunk && hash>>(64-chunkBits) == 0 {
			return i + 1
		}
	}
	return min(len(text), mostChunk)
}

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is one that there is
	}
	return w
}}

func deflate(text []byte) string {
	var out strings.Builder
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // a Builder takes all
	_ = w.Close()
	return strings.Clone(out.String()) // without room for more
}
