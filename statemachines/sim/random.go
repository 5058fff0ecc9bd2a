package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomState is all that is random in a run: jitter, random numbers of
// expressions, ids. It follows from the seed.
type randomState struct{ *rand.Rand }

func newRandom(seed uint64) *randomState {
	return &randomState{rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // repeatable by design
}

// uuid returns a random UUID of version 4.
func (r *randomState) uuid() string {
	b := binary.BigEndian.AppendUint64(nil, r.Uint64())
	return formatUUID(binary.BigEndian.AppendUint64(b, r.Uint64()))
}

// uuidOf makes up a UUID: the same for the same parts.
func uuidOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return formatUUID(sum[:])
}

func formatUUID(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4, variant 1
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
