package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, npm, python, tag string }{
		{"v0.1.0", "0.1.0", "0.1.0", "0.1.0"},
		{"1.20.3", "1.20.3", "1.20.3", "1.20.3"},
		{"v1.2.3-rc.1", "1.2.3-rc.1", "1.2.3rc1", "1.2.3-rc.1"},
		{"v1.2.3-alpha.10", "1.2.3-alpha.10", "1.2.3a10", "1.2.3-alpha.10"},
		{"v1.2.3-beta.0", "1.2.3-beta.0", "1.2.3b0", "1.2.3-beta.0"},
		{"13068d25", "0.0.0-dev-13068d25", "0.0.0.dev0+g.13068d25", "13068d25"},
		{"v0.1.0-12-g13068d25-dirty", "0.0.0-dev-v0-1-0-12-g13068d25-dirty", "0.0.0.dev0+g.v0.1.0.12.g13068d25.dirty", "0.1.0-12-g13068d25-dirty"},
		{"v1.02.3", "0.0.0-dev-v1-02-3", "0.0.0.dev0+g.v1.02.3", "1.02.3"},
		{"v1.2", "0.0.0-dev-v1-2", "0.0.0.dev0+g.v1.2", "1.2"},
		{"v1.2.3+x~", "0.0.0-dev-v1-2-3-x-", "0.0.0.dev0+g.v1.2.3.x", "1.2.3-x-"},
	} {
		r := &Release{Version: c.given}
		require.NoError(t, r.checkVersion())
		require.Equal(t, []string{c.npm, c.python, c.tag}, []string{r.npmVersion(), r.pythonVersion(), r.tag()}, c.given)
	}
}
