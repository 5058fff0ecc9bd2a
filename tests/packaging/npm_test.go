//go:build e2e && unix

package packaging_test

import (
	"bufio"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/release"
	"github.com/jobpoller/jobpoller/internal/release/npmpackage"
)

// program stands in for the command: it prints its arguments, ends as it is told, or
// waits for a signal.
const program = `#!/bin/sh
case $1 in
exit) exit "$2" ;;
kill) kill -KILL $$ ;;
wait) trap 'exit 7' TERM; echo ready; read -r line ;;
*) printf '<%s>' "$@" ;;
esac
`

// packNpm writes the packages of all machines into a folder of releases, with the
// stand-in as the program.
func packNpm(t *testing.T) (dist string) {
	t.Helper()
	dist = t.TempDir()
	folder := filepath.Join(dist, "release")
	require.NoError(t, os.Mkdir(folder, 0o750))
	r := npmpackage.Release{Version: "0.1.0", Time: time.Unix(1_800_000_000, 0)}
	for _, on := range release.Machines() {
		name, packed, err := r.Platform(on, []byte(program))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), packed, 0o600))
	}
	name, packed, err := r.Main(release.Machines()...)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), packed, 0o600))
	return dist
}

// What make publish-npm publishes installs by its name alone: the launcher, and the one
// package of this machine. A package is there before the one that names it.
func TestE2EPublishedPackagesInstall(t *testing.T) {
	t.Parallel()
	registry := &registry{documents: map[string]map[string]any{}, files: map[string][]byte{}}
	server := httptest.NewServer(registry)
	t.Cleanup(server.Close)
	settings := filepath.Join(t.TempDir(), "npmrc")
	host := strings.TrimPrefix(server.URL, "http:")
	require.NoError(t, os.WriteFile(settings, []byte("registry="+server.URL+"/\n"+host+"/:_authToken=token\n"), 0o600))
	environment := []string{"NPM_CONFIG_USERCONFIG=" + settings, "NPM_CONFIG_CACHE=" + t.TempDir(), "MAKEFLAGS="}

	run(t, root, environment, "make", "publish-npm", "DIST="+packNpm(t))
	require.Equal(t, "jobpoller", registry.published[len(registry.published)-1])
	require.ElementsMatch(t, []string{
		"@jobpoller/darwin-arm64", "@jobpoller/darwin-x64", "@jobpoller/linux-arm64", "@jobpoller/linux-x64", "@jobpoller/win32-arm64", "@jobpoller/win32-x64", "jobpoller",
	}, registry.published)

	empty := t.TempDir()
	run(t, empty, environment, "npm", "install", "--no-audit", "--no-fund", "jobpoller")
	installed, err := filepath.Glob(filepath.Join(empty, "node_modules", "@jobpoller", "*"))
	require.NoError(t, err)
	require.Len(t, installed, 1)
	launcher := filepath.Join(empty, "node_modules", ".bin", "jobpoller")
	require.Equal(t, "<a b><$c><><--version>", run(t, empty, nil, launcher, "a b", "$c", "", "--version"))
	requireEnds(t, launcher)

	require.NoError(t, os.RemoveAll(installed[0]))
	text, err := exec.CommandContext(t.Context(), launcher).CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "jobpoller: the package @jobpoller/"+filepath.Base(installed[0])+" is missing: install again, without --omit=optional and --no-optional\n", string(text))
}

// Nothing but the files is asked for where there is no network.
func TestE2EPackagesInstallFromFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(packNpm(t), "release", "*.tgz"))
	require.NoError(t, err)
	node := run(t, t.TempDir(), nil, "node", "-p", "process.platform + '-' + process.arch")
	arguments := []string{"install", "--offline", "--no-audit", "--no-fund"}
	for _, file := range files {
		if name := filepath.Base(file); name == "jobpoller-0.1.0.tgz" || name == "jobpoller-"+strings.TrimSpace(node)+"-0.1.0.tgz" {
			arguments = append(arguments, file)
		}
	}
	empty := t.TempDir()
	run(t, empty, []string{"NPM_CONFIG_CACHE=" + t.TempDir()}, "npm", arguments...)
	require.Equal(t, "<x>", run(t, empty, nil, filepath.Join(empty, "node_modules", ".bin", "jobpoller"), "x"))
}

// requireEnds asks that the launcher ends as its program, and passes a signal on.
func requireEnds(t *testing.T, launcher string) {
	t.Helper()
	for want, arguments := range map[int][]string{3: {"exit", "3"}, 128 + int(syscall.SIGKILL): {"kill"}} {
		command := exec.CommandContext(t.Context(), launcher, arguments...)
		text, err := command.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, want, command.ProcessState.ExitCode(), "%s", text)
	}
	command := exec.CommandContext(t.Context(), launcher, "wait")
	open, err := command.StdinPipe() // while it waits
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.Error(t, command.Wait())
	require.Equal(t, 7, command.ProcessState.ExitCode())
	_ = open.Close() // the program has gone
}

// registry takes what npm publishes, and gives it to who installs.
type registry struct {
	lock      sync.Mutex
	published []string
	documents map[string]map[string]any
	files     map[string][]byte
}

func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	name := strings.TrimPrefix(request.URL.Path, "/")
	switch packed, isFile := r.files[path.Base(name)]; {
	case request.Method == http.MethodPut:
		r.publish(w, request, name)
	case isFile:
		_, _ = w.Write(packed)
	case r.documents[name] != nil:
		_ = json.NewEncoder(w).Encode(r.documents[name])
	default:
		http.NotFound(w, request)
	}
}

// attachment is a file in what npm publishes.
type attachment struct {
	Data string `json:"data"`
}

func (r *registry) publish(w http.ResponseWriter, request *http.Request, name string) {
	var sent struct {
		Tags        map[string]string         `json:"dist-tags"`
		Versions    map[string]map[string]any `json:"versions"`
		Attachments map[string]attachment     `json:"_attachments"`
	}
	text, err := io.ReadAll(request.Body)
	if err == nil {
		err = json.Unmarshal(text, &sent)
	}
	if err != nil || request.Header.Get("Authorization") != "Bearer token" {
		http.Error(w, "not published", http.StatusBadRequest)
		return
	}
	for file, attached := range sent.Attachments {
		packed, err := base64.StdEncoding.DecodeString(attached.Data)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		file = strings.ReplaceAll(strings.TrimPrefix(file, "@"), "/", "-")
		r.files[file] = packed
		old, sum := sha1.Sum(packed), sha512.Sum512(packed)
		for version, manifest := range sent.Versions {
			manifest["dist"] = map[string]string{
				"tarball": "http://" + request.Host + "/-/" + file, "shasum": hex.EncodeToString(old[:]),
				"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
			}
			sent.Versions[version] = maps.Clone(manifest)
		}
	}
	r.published = append(r.published, name)
	r.documents[name] = map[string]any{"name": name, "dist-tags": sent.Tags, "versions": sent.Versions}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "{}")
}
