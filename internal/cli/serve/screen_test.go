package serve

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/loopback"
)

// What people see of a server: the announcement, the log of --watch and of executions,
// and the end. Times and the free port have names.
func TestServeScreens(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "served")
	var all bytes.Buffer
	for _, flags := range []string{
		"--watch " + folder + " --watch nosuch.json --simulate 10m --time virtual",
		"--watch " + folder + "/loop.asl.json --express --region eu-west-3 --forward http://127.0.0.1:9 --aws=athena --lambda-endpoint http://127.0.0.1:9",
	} {
		fmt.Fprintf(&all, "$ jobpoller serve %s\n", flags)
		var screen bytes.Buffer
		var o serveOptions
		c := &cobra.Command{}
		o.addTo(c)
		require.NoError(t, c.ParseFlags(strings.Fields(flags)))
		require.NoError(t, o.validate(func(string) string { return "" }))
		listener, err := loopback.Listen(t.Context(), "127.0.0.1:0")
		require.NoError(t, err)
		s, err := newServing(t.Context(), &o, listener, &serveLog{out: &screen})
		require.NoError(t, err)
		o.announce(&screen, &screen)
		s.follow(t.Context(), func(string) string { return "" })
		s.tellEnd()
		require.NoError(t, s.close(context.WithoutCancel(t.Context())))
		text := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`).ReplaceAllString(screen.String(), "HH:MM:SS")
		all.WriteString(regexp.MustCompile(fmt.Sprintf(`\b%d\b`, o.port)).ReplaceAllString(text, "PORT") + "\n")
	}
	file := filepath.Join("testdata", "serve.txt")
	if *clitest.Update {
		require.NoError(t, os.WriteFile(file, all.Bytes(), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), all.String())
}
