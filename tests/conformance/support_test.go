package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/reference/asl.md names tests that are there, and every case of the
// recordings and of JSONata's suite in which we differ.
func TestSupportPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/asl.md")
	require.NoError(t, err)
	var code []byte
	for _, pattern := range []string{"../../internal/*/*_test.go", "../../statemachines/*/*_test.go", "../../statemachines/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			one, err := os.ReadFile(file)
			require.NoError(t, err)
			code = append(code, one...)
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllSubmatch(text, -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		require.Regexp(t, "func "+string(name[1])+`\(`, string(code))
	}
	for _, s := range slices.Concat(jsonataSuites, recordingSuites, teststateSuites, validateSuites) {
		for name := range s.differences {
			require.Contains(t, string(text), "`"+name+"`", "%s: a case that differs is not in docs/reference/asl.md", s.name)
		}
	}
}
