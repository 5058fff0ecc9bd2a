//go:build e2e

package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser is a session of Chromium, steered by chromedriver over HTTP.
type browser struct {
	t       *testing.T
	session string // its address
}

// ready is what chromedriver prints when it listens.
var ready = regexp.MustCompile(`started successfully on port (\d+)`)

// hasBrowser tells whether Chromium and chromedriver are installed. In CI they must be.
func hasBrowser(t *testing.T) bool {
	t.Helper()
	for _, program := range []string{"chromium", "chromedriver"} {
		if _, err := exec.LookPath(program); err != nil {
			require.Empty(t, os.Getenv("CI"), "install %s: %v", program, err)
			t.Logf("not tested without %s: apt-get install chromium chromium-driver", program)
			return false
		}
	}
	return true
}

// openBrowser starts a browser, which ends with the test.
func openBrowser(t *testing.T, scripts bool) *browser {
	t.Helper()
	address, printed := "", ""
	for range 5 { // the port that it takes on one loopback address may be taken on the other
		if address, printed = startDriver(t); address != "" {
			break
		}
	}
	require.NotEmpty(t, address, "chromedriver did not start: %s", printed)

	path, err := exec.LookPath("chromium")
	require.NoError(t, err)
	options := map[string]any{"binary": path, "args": []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
	}}
	if !scripts {
		options["prefs"] = map[string]any{"profile.managed_default_content_settings.javascript": 2}
	}
	b := &browser{t, address}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	b.call(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": map[string]string{"browser": "ALL"},
	}}}, &session)
	b.session = address + "/session/" + session.SessionID
	t.Cleanup(func() { b.call(http.MethodDelete, "", nil, nil) })
	return b
}

// startDriver starts chromedriver, which ends with the test, and returns its address, or
// none and its output where it has ended.
func startDriver(t *testing.T) (address, printed string) {
	t.Helper()
	driver := exec.CommandContext(context.WithoutCancel(t.Context()), "chromedriver", "--port=0")
	out, err := driver.StdoutPipe()
	require.NoError(t, err)
	driver.Stderr = driver.Stdout
	require.NoError(t, driver.Start())
	t.Cleanup(func() {
		_ = driver.Process.Kill()
		_ = driver.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed += lines.Text() + "\n"
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, out) // until it ends
			return "http://127.0.0.1:" + m[1], printed
		}
	}
	return "", printed
}

// call sends a command of WebDriver.
func (b *browser) call(method, path string, in, out any) {
	b.t.Helper()
	status, text := b.send(method, path, in)
	require.Equal(b.t, http.StatusOK, status, text)
	b.read(text, out)
}

func (b *browser) read(answer string, out any) {
	b.t.Helper()
	if out != nil {
		require.NoError(b.t, json.Unmarshal([]byte(answer), &struct {
			Value any `json:"value"`
		}{out}))
	}
}

// send sends a command, and returns what chromedriver answers.
func (b *browser) send(method, path string, in any) (status int, answer string) {
	b.t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		require.NoError(b.t, err)
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, b.session+path, body)
	require.NoError(b.t, err)
	got, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(b.t, err)
	return got.StatusCode, string(text)
}

// onElement sends a command about an element. A patch may take the element away: then
// the one in its place is meant.
func (b *browser) onElement(selector, method, command string, in, out any) {
	b.t.Helper()
	status, answer := 0, ""
	for range 20 {
		var found map[string]string
		status, answer = b.send(http.MethodPost, "/element", map[string]string{"using": "css selector", "value": selector})
		if status == http.StatusOK {
			b.read(answer, &found)
			status, answer = b.send(method, "/element/"+found[element]+command, in)
		}
		if status != http.StatusNotFound {
			break
		}
		<-time.After(100 * time.Millisecond) // for a page that opens, or a patch
	}
	require.Equal(b.t, http.StatusOK, status, answer)
	b.read(answer, out)
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.call(http.MethodPost, "/url", map[string]string{"url": url}, nil)
}

// address is that of the page that the browser shows.
func (b *browser) address() (url string) {
	b.t.Helper()
	b.call(http.MethodGet, "/url", nil, &url)
	return url
}

// run runs a script in the page, and takes what it returns.
func (b *browser) run(script string, out any) {
	b.t.Helper()
	b.call(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": []any{}}, out)
}

// element is what the elements of WebDriver have as their name.
const element = "element-6066-11e4-a52e-4f735466cecf"

func (b *browser) click(selector string) {
	b.t.Helper()
	b.onElement(selector, http.MethodPost, "/click", struct{}{}, nil)
}

// write writes a text into a field, in place of what is there.
func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.onElement(selector, http.MethodPost, "/clear", struct{}{}, nil)
	b.onElement(selector, http.MethodPost, "/value", map[string]string{"text": text}, nil)
}

// press presses a key where the page has its focus.
func (b *browser) press(key string) {
	b.t.Helper()
	b.call(http.MethodPost, "/actions", map[string]any{"actions": []any{map[string]any{
		"type": "key", "id": "keyboard", "actions": []any{map[string]string{"type": "keyDown", "value": key}, map[string]string{"type": "keyUp", "value": key}},
	}}}, nil)
}

// text is the text of an element as the reader sees it.
func (b *browser) text(selector string) (text string) {
	b.t.Helper()
	b.onElement(selector, http.MethodGet, "/text", nil, &text)
	return text
}

// count counts the elements of the page.
func (b *browser) count(selector string) int {
	b.t.Helper()
	var all []any
	b.call(http.MethodPost, "/elements", map[string]string{"using": "css selector", "value": selector}, &all)
	return len(all)
}

// await waits until a condition holds.
func (b *browser) await(what string, holds func() bool) {
	b.t.Helper()
	require.Eventually(b.t, holds, 20*time.Second, 50*time.Millisecond, what)
}

// problems are the errors that the page logged, such as what its policy refuses.
func (b *browser) problems() []string {
	b.t.Helper()
	var entries []struct {
		Level   string `json:"level"`
		Message string `json:"message"`
	}
	b.call(http.MethodPost, "/se/log", map[string]string{"type": "browser"}, &entries)
	var all []string
	for _, e := range entries {
		if e.Level == "SEVERE" {
			all = append(all, e.Message)
		}
	}
	return all
}

// resize shows the page as wide as a screen, in a colour scheme.
func (b *browser) resize(width, height int, scheme string) {
	b.t.Helper()
	b.command("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700})
	b.command("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}})
}

// command sends a command of Chromium's own protocol.
func (b *browser) command(name string, parameters map[string]any) {
	b.t.Helper()
	b.call(http.MethodPost, "/goog/cdp/execute", map[string]any{"cmd": name, "params": parameters}, nil)
}

// screenshots is a folder for pictures of the pages; empty for none.
var screenshots = os.Getenv("SCREENSHOTS")

// shoot takes pictures of the page, broad and narrow, light and dark, if somebody wants
// to look at them.
func (b *browser) shoot(name string) {
	b.t.Helper()
	if screenshots == "" {
		return
	}
	for _, width := range []int{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.resize(width, 1600, scheme)
			var picture string
			b.call(http.MethodGet, "/screenshot", nil, &picture)
			data, err := base64.StdEncoding.DecodeString(picture)
			require.NoError(b.t, err)
			require.NoError(b.t, os.WriteFile(filepath.Join(screenshots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), data, 0o600))
		}
	}
	b.resize(1280, 1000, "light")
}
