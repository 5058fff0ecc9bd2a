package realstore_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// toxics are what happens to connections, by name, in toxiproxy's own terms.
// Upstream a request is lost before its effect, downstream its answer after it.
var toxics = map[string]string{
	"latency":               `{"type": "latency", "stream": "downstream", "attributes": {"latency": 40, "jitter": 40}}`,
	"reset upstream":        `{"type": "reset_peer", "stream": "upstream", "attributes": {"timeout": 0}}`,
	"reset downstream":      `{"type": "reset_peer", "stream": "downstream", "attributes": {"timeout": 0}}`,
	"cut request":           `{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 300}}`,
	"no answer":             `{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 0}}`,
	"cut answer":            `{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 60}}`,
	"timeout of the answer": `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 100}}`,
}

// startProxies starts a proxy in front of the gateway for each toxic, and
// returns their addresses. They end with the test.
func startProxies(t *testing.T, g *gateway) map[string]string {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	addresses := map[string]string{}
	for name, toxic := range toxics {
		proxy := toxiproxy.NewProxy(server, name, "127.0.0.1:0", g.address)
		_, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
		require.NoError(t, err)
		require.NoError(t, proxy.Start())
		t.Cleanup(proxy.Stop)
		addresses[name] = proxy.Listen
	}
	return addresses
}

// toxicShare is how many of the requests meet a toxic.
const toxicShare = 0.3

// rough is a way to the gateway on which a share of the requests meets a toxic.
type rough struct {
	transports

	addresses map[string]string // of the proxies, by toxic
	names     []string          // of the toxics that there are on it
	// firstOnly: no second attempt of a request meets one.
	firstOnly bool
	count     func(what string)

	mu      sync.Mutex
	random  *rand.Rand
	refused map[string]bool // nonces of writes that were
}

// transports are the connections that ways share.
type transports struct{ direct, toxic *http.Transport }

// newTransports returns transports whose connections end with the test.
func newTransports(t *testing.T) transports {
	t.Helper()
	// A toxic that counts bytes counts those of a connection.
	c := transports{&http.Transport{MaxIdleConnsPerHost: 64}, &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(c.direct.CloseIdleConnections)
	return c
}

// newRough returns a way on which there are these toxics.
func newRough(c transports, addresses map[string]string, random *rand.Rand, count func(what string), names ...string) *rough {
	return &rough{transports: c, addresses: addresses, names: names, count: count, random: random, refused: map[string]bool{}}
}

// RoundTrip implements http.RoundTripper. The request stays as it was signed.
func (w *rough) RoundTrip(r *http.Request) (*http.Response, error) {
	w.count("requests to S3")
	var sent []byte
	if r.Body != nil {
		var err error
		sent, err = io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(sent))
	way, name := w.direct, w.draw(r)
	if name != "" {
		w.count("fault: " + name)
		r.Host, r.URL.Host = r.URL.Host, w.addresses[name]
		way = w.toxic
	}
	response, err := way.RoundTrip(r)
	if err == nil {
		w.note(response, sent)
	}
	return response, err
}

// draw returns the name of the toxic that a request meets, or nothing.
func (w *rough) draw(r *http.Request) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	again := !strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1;")
	if w.random.Float64() >= toxicShare || w.firstOnly && again {
		return ""
	}
	return w.names[w.random.IntN(len(w.names))]
}

var nonce = regexp.MustCompile(`"nonce":"([^"]+)"`)

// note counts a write that the server has refused because of itself: the client
// sends it again when the first answer was lost, and then reads its own record.
func (w *rough) note(response *http.Response, sent []byte) {
	written := nonce.FindSubmatch(sent)
	switch {
	case written != nil && response.StatusCode == http.StatusPreconditionFailed:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.refused[string(written[1])] = true
	case response.StatusCode == http.StatusOK && response.Request.Method == http.MethodGet:
		received, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // all that it holds is read
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(received), ending{err}))
		w.mu.Lock()
		defer w.mu.Unlock()
		if stored := nonce.FindSubmatch(received); stored != nil && w.refused[string(stored[1])] {
			delete(w.refused, string(stored[1]))
			w.count(selfConflict)
		}
	}
}

const selfConflict = "writes refused because of themselves (412)"

// ending is a reader that ends as a body that was read before.
type ending struct{ err error }

func (e ending) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}
