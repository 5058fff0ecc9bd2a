package realstore_test

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

// The store keeps what startrecord.Store says on a server that keeps objects in
// files, checks signatures, and answers some things otherwise than the embedded
// one.
func TestStore(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	startrecordtest.Run(t, func(t *testing.T) startrecord.Store {
		t.Helper()
		store, err := g.store(http.DefaultTransport, rand.Text())
		require.NoError(t, err)
		return store
	})
}

// It keeps it too where three in ten requests meet a fault of the network, as
// long as the client's next attempt gets through: then no call may fail, and
// none may take its own write for another's.
func TestStoreOnRoughNetwork(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	addresses, connections := startProxies(t, g), newTransports(t)
	for name := range toxics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var met, refused atomic.Int32
			way := newRough(connections, addresses, mathrand.New(mathrand.NewPCG(1, 0)), func(what string) {
				switch what {
				case "fault: " + name:
					met.Add(1)
				case selfConflict:
					refused.Add(1)
				}
			}, name)
			way.firstOnly = true
			t.Cleanup(func() { // when the tests of the suite, which are parallel, have ended
				require.Greater(t, met.Load(), int32(100))
				// An answer is lost after the write, so it is made again.
				require.Equal(t, losesAnswers[name], refused.Load() > 0)
			})
			startrecordtest.Run(t, func(t *testing.T) startrecord.Store {
				t.Helper()
				store, err := g.store(way, rand.Text())
				require.NoError(t, err)
				return store
			})
		})
	}
}

var losesAnswers = map[string]bool{"reset downstream": true, "no answer": true, "cut answer": true, "timeout of the answer": true}
