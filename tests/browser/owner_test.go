//go:build e2e

package browser_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startOwned starts `jobpoller serve` with what is its owner's, and returns the address
// of its page, with the token, as its file has it.
func startOwned(t *testing.T) (page string) {
	t.Helper()
	folder, runtime := t.TempDir(), t.TempDir()
	command := filepath.Join(folder, "jobpoller")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", command, "./cmd/jobpoller").CombinedOutput()
	require.NoError(t, err, "%s", out)
	definitions := filepath.Join(folder, "definitions")
	require.NoError(t, os.Mkdir(definitions, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(definitions, "nightly.asl.json"), []byte(definition), 0o600))
	serve := exec.CommandContext(t.Context(), command, "serve", "--port", "0", "--time", "manual", "--data", filepath.Join(folder, "data"), "--watch", definitions)
	serve.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtime)
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	require.NoError(t, serve.Start())
	t.Cleanup(func() { _ = serve.Wait() }) // the context has ended it
	var access struct {
		Page string `json:"page"`
	}
	require.Eventually(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(runtime, "jobpoller-serve", "*.json"))
		if len(files) == 0 {
			return false
		}
		text, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(text, &access) == nil
	}, time.Minute, 10*time.Millisecond)
	return access.Page
}

// The page of a server that is its owner's alone opens by its address with the token, and
// lives, and no other server of the machine gets what the browser was given for it.
func TestE2EPageOfTheOwner(t *testing.T) {
	t.Parallel()
	if !hasBrowser(t) {
		return
	}
	page := startOwned(t)
	plain, _, _ := strings.Cut(page, "?")
	var mu sync.Mutex
	var cookies []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		cookies = append(cookies, r.Header.Get("Cookie"))
	}))
	t.Cleanup(other.Close)

	b := openBrowser(t, true)
	b.open(plain)
	require.Contains(t, b.text("body"), "this server is its owner's alone")
	b.open(page)
	require.Equal(t, "Executions", b.text("h1"))
	require.NotContains(t, b.address(), "token")
	var seen string
	b.run(`return document.cookie`, &seen)
	require.Empty(t, seen, "no script reads the cookie")
	b.await("the machine of the file is there", func() bool { return strings.Contains(b.text("#list"), "nightly") })
	b.click("#list a")
	b.click(`#start + form button`)
	_ = executionOf(t, b)
	b.await("the Task waits for an answer", func() bool { return b.count("#places textarea") == 1 })
	b.click(`#places button[value="success"]`)
	b.await("the page is told of the Wait", func() bool { return strings.HasPrefix(b.text("#places h3"), "in Wait") })
	own := b.address()
	b.open(strings.TrimSuffix(plain, path) + "/")
	require.Contains(t, b.text("body"), "this server is its owner's alone")
	b.open(own)
	require.Equal(t, "RUNNING", b.text("#state"), "the cookie stays")

	for _, address := range []string{other.URL, other.URL + path, other.URL + path + "run/x"} {
		b.open(address)
	}
	mu.Lock()
	defer mu.Unlock()
	require.GreaterOrEqual(t, len(cookies), 3)
	require.Empty(t, strings.Join(cookies, ""), "a server on another port")
}
