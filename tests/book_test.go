package tests_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"|(?m)^\[[^\]]+\]: (\S+)$`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced     = regexp.MustCompile("(?ms)^```.*?^```$")
	notAnchor  = regexp.MustCompile("[^a-z0-9 _-]")
)

// prose is a page without its code blocks.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	return fenced.ReplaceAllString(string(text), "")
}

// Links within the project lead to a file that is there, and to one of its
// headings. docs/README.md links every page.
func TestLinks(t *testing.T) {
	t.Parallel()
	index := map[string]bool{filepath.Join(book, "README.md"): true}
	for _, page := range append(pages(t), "../CONTRIBUTING.md", "../pollcore/catalog/sources/README.md") {
		for _, match := range inlineLink.FindAllStringSubmatch(prose(t, page), -1) {
			link := match[1] + match[2] + match[3]
			if strings.Contains(link, "://") {
				continue
			}
			path, anchor, hasAnchor := strings.Cut(link, "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			_, err := os.Stat(target)
			require.NoError(t, err, "%s links %s", page, link)
			if page == filepath.Join(book, "README.md") {
				index[target] = true
			}
			if !hasAnchor {
				continue
			}
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(prose(t, target), -1) {
				anchors = append(anchors, strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
			}
			require.Contains(t, anchors, anchor, "%s links %s", page, link)
		}
	}
	for _, page := range pages(t)[1:] {
		require.True(t, index[page], "docs/README.md does not link %s", page)
	}
}
