package linked

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const mit = `MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

// The texts beside a package and above it go along, and no others.
func TestAddTexts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE.md": "1", "NOTICE": "2\r\n", "README": "-", "license.go": "-", "licenses/x": "-", "licensed": "-", "noticeboard.txt": "-",
		"a/COPYING": "3", "a/b/b.go": "-", "a/b/LICENCE-OTHER": "4", "c/LICENSE": "-",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	texts := map[string]string{}
	require.NoError(t, addTexts(texts, root, filepath.Join(root, "a", "b")))
	require.Equal(t, map[string]string{"LICENSE.md": "1", "NOTICE": "2\n", "a/COPYING": "3", "a/b/LICENCE-OTHER": "4"}, texts)
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	const unknown = "You may do what the three of us agree on."
	for _, c := range []struct {
		name    string
		texts   []Text
		want    []string
		problem string
	}{
		{name: "a licence", texts: []Text{{"LICENSE", mit}}, want: []string{"MIT"}},
		{name: "a summary beside it", texts: []Text{{"LICENSE", mit}, {"LICENSE-SUMMARY", unknown}}, want: []string{"MIT"}},
		{name: "a notice", texts: []Text{{"LICENSE", mit}, {"in/NOTICE", unknown}}, want: []string{"MIT"}},
		{name: "none", texts: []Text{{"NOTICE", mit}}, problem: "m v1 has no licence, so it must not be given on"},
		{name: "an unknown one", texts: []Text{{"LICENSE", unknown}}, problem: "m v1: LICENSE is no licence that is known"},
		{name: "an unknown one in a folder", texts: []Text{{"LICENSE", mit}, {"in/LICENSE", unknown}}, problem: "m v1: in/LICENSE is no licence that is known"},
	} {
		m := Module{Path: "m", Version: "v1", Texts: c.texts}
		got, err := m.identify()
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}
