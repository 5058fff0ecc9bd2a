package clients_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder stands between the clients and a server, and keeps who calls what. It sends
// requests on as they are, for the clients have signed them.
type recorder struct {
	front *httptest.Server
	host  string // its own, by which the clients call the server

	mu    sync.Mutex
	calls map[string]map[string]int // how many succeeded, by operation and client
}

// clientNames are the clients by what their User-Agent begins with.
var clientNames = map[string]string{"aws-sdk-go-v2/": "SDK for Go", "Boto3/": "boto3", "aws-cli/": "aws"}

func newRecorder() *recorder {
	front := httptest.NewUnstartedServer(nil)
	return &recorder{front: front, host: front.Listener.Addr().String(), calls: map[string]map[string]int{}}
}

// start begins to send requests to a server, which has to know the recorder's host.
func (r *recorder) start(t *testing.T, to string) {
	t.Helper()
	server, err := url.Parse(to)
	require.NoError(t, err)
	r.front.Config.Handler = &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(server)
			p.Out.Host = p.In.Host
		},
		ModifyResponse: func(response *http.Response) error {
			if response.StatusCode == http.StatusOK {
				r.add(response.Request)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }, // the client is gone, or the server
	}
	r.front.Start()
	t.Cleanup(r.front.Close)
}

func (r *recorder) add(request *http.Request) {
	_, operation, ok := strings.Cut(request.Header.Get("X-Amz-Target"), "AWSStepFunctions.")
	if !ok {
		return
	}
	agent := request.UserAgent()
	for prefix, client := range clientNames {
		if strings.HasPrefix(agent, prefix) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.calls[operation] == nil {
				r.calls[operation] = map[string]int{}
			}
			r.calls[operation][client]++
		}
	}
}

// requireTwoClients fails for each operation that fewer than two clients have called
// with success.
func (r *recorder) requireTwoClients(t *testing.T, operations []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	byClient := map[string]int{}
	for _, operation := range operations {
		clients := slices.Sorted(maps.Keys(r.calls[operation]))
		if len(clients) < 2 {
			t.Errorf("%s is called by %v", operation, clients)
		}
		for _, client := range clients {
			byClient[client]++
		}
	}
	for _, client := range slices.Sorted(maps.Values(clientNames)) {
		say("suite clients: %s called %d of %d operations", client, byClient[client], len(operations))
	}
}

// dialTo is a transport that finds the server whatever the host is: the SDK for Go puts
// sync- before the host of two operations, and no such host resolves.
func dialTo(t *testing.T, to string) *http.Transport {
	t.Helper()
	server, err := url.Parse(to)
	require.NoError(t, err)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{}
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, server.Host)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
