package clients_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

const guide = "../../docs/guide/serve.md"

// shellBlock is a block of commands of a page.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// freePort is a port that nobody has.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return port
}

// The commands of the guide work, one after the other, in one shell: with the aws
// command, and a port of the test's instead of the usual one. Those that need an engine
// for containers are not run: tests/external reads and starts the image without one.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "docs", "example"), os.DirFS("../../docs/example")))
	file, err := buildCommand()
	require.NoError(t, err)
	bin := filepath.Join(root, "bin")
	require.NoError(t, os.Mkdir(bin, 0o750))
	require.NoError(t, os.Symlink(file, filepath.Join(bin, "jobpoller.real")))
	port := freePort(t)
	write := func(name, script string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o700)) //nolint:gosec // it is run
	}
	write("aws", "exec "+pypi.Python()+" -m awscli \"$@\"\n")
	write("jobpoller", `[ "$1" = serve ] && { shift; set -- serve --port `+port+` "$@"; }; exec jobpoller.real "$@"`+"\n")
	// A server that a block starts in the background answers soon.
	write("curl", `exec /usr/bin/env PATH="$REALPATH" curl --silent --show-error --fail-with-body --retry 20 --retry-connrefused --retry-delay 1 "$@"`+"\n")

	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	blocks = slices.DeleteFunc(blocks, func(block []string) bool { return strings.Contains(block[1], "docker ") })
	require.NotEmpty(t, blocks)
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, block := range blocks {
		script.WriteString(strings.ReplaceAll(block[1], ":8083", ":"+port))
		script.WriteString("\n")
	}
	shell := python(t, "-c", "")
	shell.Path, shell.Args = must(exec.LookPath("sh")), []string{"sh", "-c", script.String()}
	shell.Dir = root
	shell.Env = append(shell.Env, "REALPATH="+os.Getenv("PATH"), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	read, wrote, err := os.Pipe()
	require.NoError(t, err)
	shell.Stdout, shell.Stderr = wrote, wrote
	require.NoError(t, shell.Start())
	require.NoError(t, wrote.Close())
	failed := shell.Wait()
	_ = syscall.Kill(-shell.Process.Pid, syscall.SIGTERM) // what runs in the background
	out, err := io.ReadAll(read)
	require.NoError(t, err)
	require.NoError(t, failed, "%s", out)
	say("suite clients: the %d blocks of commands in %s work", len(blocks), filepath.Base(guide))
}
