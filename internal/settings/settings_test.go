package settings_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var words = settings.Vocabulary{
	Rules: []string{"unbounded-loop", "hot-loop", "short-interval"}, Fixed: map[string]string{"definition": "AWS rejects the definition"},
	Meanings: []string{"success", "failure", "running"},
	CheckRegion: func(region string) error {
		if region != "eu-west-1" && region != "us-east-1" {
			return fmt.Errorf("unknown region %q", region)
		}
		return nil
	},
}

// disk are files by absolute paths.
type disk struct{ fstest.MapFS }

func (d disk) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.MapFS, d.name(name)) }

func (d disk) Open(name string) (fs.File, error) { return d.MapFS.Open(d.name(name)) }

func (d disk) name(path string) string { return strings.TrimPrefix(filepath.ToSlash(path), "/") }

func newFinder(files map[string]string) *settings.Finder {
	all := fstest.MapFS{}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return settings.NewFinder(disk{all}, words)
}

// What is wrong in a config file is told with its place and what is expected.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		"# nothing\n":                           "",
		"rules:\n":                              "",
		"rules: {hot-loop: off}":                "",
		"$schema: config.json":                  "",
		"$schema: [config.json]":                "c:1:10: expected the address of a JSON Schema, found a list",
		"overrides: [{files: [a], $schema: b}]": `c:1:26: an override cannot have "$schema", expected files, region, rules, statuses, substitutions`,
		"rles: {}":                              `c:1:1: the settings cannot have "rles", expected ignore, overrides, region, rules, statuses, substitutions (did you mean "rules"?)`,
		"[]":                                    "c:1:1: the settings must be a mapping, with a name and a value a line, found a list",
		"rules: [hot-loop]":                     "c:1:8: rules must be a mapping, with a name and a value a line, found a list",
		"rules:\n  hot-lop: off":                `c:2:3: there is no rule "hot-lop"; list them: jobpoller lint --rules (did you mean "hot-loop"?)`,
		"rules:\n  definition: off":             "c:2:3: the rule definition is always checked: AWS rejects the definition",
		"rules:\n  hot-loop: warn":              `c:2:13: the level of hot-loop must be one of error, danger, warning, note, off, is "warn"`,
		"rules:\n  hot-loop: warnin":            `c:2:13: the level of hot-loop must be one of error, danger, warning, note, off, is "warnin" (did you mean "warning"?)`,
		"rules:\n  hot-loop: false":             `c:2:13: the level of hot-loop must be one of error, danger, warning, note, off, is "false"`,
		"rules:\n  hot-loop:":                   "c:2:12: expected error, danger, warning, note, off, found nothing",
		"rules:\n  hot-loop: {}":                "c:2:13: expected error, danger, warning, note, off, found a mapping",
		"rules:\n  hot-loop: note\n  hot-loop: off": `c:3:3: "hot-loop" stands here twice, first on line 2`,
		"statuses: {done: good}":                    `c:1:18: the meaning of "done" must be one of success, failure, running, is "good"`,
		"substitutions: {A: [1]}":                   "c:1:20: expected a text or a number, found a list",
		"substitutions: {A: !Ref B}":                "c:1:20: expected a text or a number, found the tag !Ref",
		"substitutions: {'': a}":                    "c:1:17: expected a name, found an empty text",
		"region: eu-west-9":                         `c:1:9: unknown region "eu-west-9"`,
		"ignore: legacy":                            `c:1:9: expected a list of patterns, such as ["legacy/**"], found a text`,
		"ignore: ['../x']":                          `c:1:10: "../x" is no pattern of paths: a pattern is relative to the folder of this file, and cannot lead out of it`,
		"ignore: ['a[']":                            `c:1:10: "a[" is no pattern of paths: "[" needs its "]"`,
		"ignore: ['{a,b}']":                         `c:1:10: "{a,b}" is no pattern of paths: braces are not read: write a pattern for each`,
		"ignore: ['!a']":                            `c:1:10: "!a" is no pattern of paths: a pattern cannot begin with "!"`,
		"ignore: ['a**']":                           `c:1:10: "a**" is no pattern of paths: "**" stands alone between slashes: write "**/*.json"`,
		"ignore: ['/']":                             `c:1:10: "/" is no pattern of paths: a pattern cannot be empty`,
		`ignore: ['a\b']`:                           `c:1:10: "a\\b" is no pattern of paths: write "/" between folders, on Windows too`,
		"overrides: {}":                             "c:1:12: expected a list, each item with files and what counts for them, found a mapping",
		"overrides:\n- rules: {}":                   `c:2:3: the override has no files: add patterns, as files: ["legacy/**"]`,
		"overrides:\n- files: [a]\n  ignore: [b]":   `c:3:3: an override cannot have "ignore", expected files, region, rules, statuses, substitutions`,
		"overrides: [a]":                            "c:1:13: an override must be a mapping, with a name and a value a line, found a text",
		"a: b: c":                                   "c:1:1: not valid YAML: mapping values are not allowed in this context",
		"rules: {}\n---\nrules: {}":                 "c:2:1: another YAML document starts here: the settings are one document",
		"rules: *x":                                 "c:1:1: not valid YAML: unknown anchor 'x' referenced",
		"? [a]\n: b":                                "c:1:3: expected a name, found a list",
	} {
		_, err := settings.Parse("c", []byte(text), words)
		got := ""
		if err != nil {
			problems, ok := errors.AsType[diag.Problems](err)
			require.True(t, ok)
			got = problems.Brief()
		}
		require.Equal(t, want, got, text)
	}
}

// Many mistakes, and aliases that repeat much, take bounded time.
func TestBounds(t *testing.T) {
	t.Parallel()
	_, err := settings.Parse("c", []byte(strings.Repeat("x: [1]\n", 20_000)), words)
	require.ErrorContains(t, err, "and 9951 more")
	_, err = settings.Parse("c", []byte("rules: &r {"+strings.Repeat("a: b, ", 5000)+"}\noverrides:\n"+strings.Repeat("- {files: [a], rules: *r}\n", 5000)), words)
	problems, ok := errors.AsType[diag.Problems](err)
	require.True(t, ok)
	require.Less(t, len(problems), 20_000)
	_, err = settings.Parse("c", []byte(strings.Repeat("#", 2<<20)), words)
	require.ErrorContains(t, err, "more than 1048576 bytes")
	_, err = settings.Parse("c", []byte("rules: &r {unbounded-loop: off}\noverrides: [{files: [a], rules: *r}]"), words)
	require.NoError(t, err)
}

// describe lists settings with their places.
func describe(s *settings.Settings) string {
	var parts []string
	add := func(what string, of settings.Setting) {
		if of.Value != "" {
			parts = append(parts, fmt.Sprintf("%s=%s@%s:%d", what, of.Value, of.File, of.Line))
		}
	}
	for _, all := range []map[string]settings.Setting{s.Rules, s.Substitutions, s.Statuses} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			add(name, all[name])
		}
	}
	add("region", s.Region)
	add("ignored", s.Ignored)
	return strings.Join(parts, " ")
}

// The nearest file counts alone, up to a folder with .git; later overrides win.
func TestSettingsOfFiles(t *testing.T) {
	t.Parallel()
	f := newFinder(map[string]string{
		".jobpoller.yaml":          "rules: {hot-loop: error}",
		"repo/.git/HEAD":           "",
		"repo/.jobpoller.yaml":     "rules: {hot-loop: off, short-interval: note}\nsubstitutions:\n  S: 30\n  T: 'yes'\nstatuses: {done: success, 'Look:done': failure}\nregion: eu-west-1\nignore: [gen/, '*.tmp.json']\noverrides:\n- files: [legacy/**]\n  rules: {hot-loop: danger}\n  region: us-east-1\n- files: [legacy/new.json, other.json]\n  rules: {hot-loop: note}\n  substitutions: {S: 0x10}\n",
		"repo/own/.jobpoller.yaml": "",
		"bare/.git":                "gitdir: elsewhere",
	})
	for file, want := range map[string]string{
		"/a.json":                    "hot-loop=error@/.jobpoller.yaml:1",
		"/repo/a.json":               "hot-loop=off@C:1 short-interval=note@C:1 S=30@C:3 T=yes@C:4 Look:done=failure@C:5 done=success@C:5 region=eu-west-1@C:6",
		"/repo/deep/down/other.json": "hot-loop=note@C:13 short-interval=note@C:1 S=0x10@C:14 T=yes@C:4 Look:done=failure@C:5 done=success@C:5 region=eu-west-1@C:6",
		"/repo/legacy/x/a.json":      "hot-loop=danger@C:10 short-interval=note@C:1 S=30@C:3 T=yes@C:4 Look:done=failure@C:5 done=success@C:5 region=us-east-1@C:11",
		"/repo/legacy/new.json":      "hot-loop=note@C:13 short-interval=note@C:1 S=0x10@C:14 T=yes@C:4 Look:done=failure@C:5 done=success@C:5 region=us-east-1@C:11",
		"/repo/gen/a.json":           "hot-loop=off@C:1 short-interval=note@C:1 S=30@C:3 T=yes@C:4 Look:done=failure@C:5 done=success@C:5 region=eu-west-1@C:6 ignored=gen/@C:7",
		"/repo/own/sub/a.json":       "",
		"/bare/a.json":               "",
	} {
		s, err := f.Of(file)
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(want, "@C:", "@/repo/.jobpoller.yaml:"), describe(s), file)
	}
	s, err := f.OfFolder("/repo/x/gen")
	require.NoError(t, err)
	require.Equal(t, "gen/", s.Ignored.Value)
	s, err = f.Of("/repo/x/gen")
	require.NoError(t, err)
	require.Empty(t, s.Ignored.Value, "a file is no folder")
}

// What stands in the place of a config file and is none is no silence.
func TestNoConfigFile(t *testing.T) {
	t.Parallel()
	_, err := newFinder(map[string]string{"a/.jobpoller.yml": ""}).Of("/a/b/c.json")
	require.EqualError(t, err, "/a/.jobpoller.yaml: there is .jobpoller.yml, which is not read: rename it to .jobpoller.yaml")
	_, err = newFinder(map[string]string{"a/.jobpoller.yaml/x": ""}).Of("/a/c.json")
	require.EqualError(t, err, "/a/.jobpoller.yaml is no file")
	_, err = newFinder(map[string]string{"a/.jobpoller.yaml": "x: 1"}).Of("/a/c.json")
	require.ErrorContains(t, err, "/a/.jobpoller.yaml:1:1: the settings cannot have")
}

// A pattern matches a path below the folder of its file, or a folder that the path is in.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, yes, no string }{
		{"a.json", "a.json x/a.json x/y/a.json", "b.json a.jsonx"},
		{"*.json", "a.json x/a.json x.json/b", "a.yaml"},
		{"/a.json", "a.json", "x/a.json"},
		{"x/a.json", "x/a.json x/a.json/b", "y/x/a.json x/b.json"},
		{"x/*.json", "x/a.json", "x/y/a.json a.json"},
		{"x/**", "x/a.json x/y/a.json", "x a.json y/x/a.json"},
		{"**/x/*.json", "x/a.json y/x/a.json z/y/x/a.json", "x/y/a.json"},
		{"x/**/a.json", "x/a.json x/y/a.json x/y/z/a.json", "a.json x/b.json"},
		{"x", "x x/a.json y/x/a.json", "xy/a.json"},
		{"x/", "x/a.json y/x/a.json", "x y/x"},
		{"**", "a.json x/a.json", ""},
		{"**/**/a", "a x/a", "b"},
		{"x/[ab].json", "x/a.json x/b.json", "x/c.json"},
		{"x/?.json", "x/a.json", "x/ab.json"},
		{"./x/a.json", "x/a.json", "a.json"},
		{"**/*a*/**/*b*/**/*c*", "xax/xbx/xcx", "xax/xbx"},
	} {
		f := newFinder(map[string]string{".jobpoller.yaml": fmt.Sprintf("ignore: [%q]", test.pattern)})
		for want, paths := range map[bool]string{true: test.yes, false: test.no} {
			for path := range strings.FieldsSeq(paths) {
				s, err := f.Of("/" + path)
				require.NoError(t, err)
				require.Equal(t, want, s.Ignored.Value != "", "%s: %s", test.pattern, path)
			}
		}
	}
}

// Any text is read in bounded time, with settings that its errors do not forbid.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"rules: {hot-loop: off}\nignore: ['a/**/b', '*.json']\noverrides:\n- files: [x]\n  substitutions: {A: 1}\n  statuses: {d: success}\nregion: eu-west-1\n",
		"a: &a [*a]", "rules: &r\n  <<: *r", "\ufeffrules:\r\n  hot-loop: note\r\n", "? {a: b}\n: c", "---\n---\n", "ignore: [!x a, \"\\u2028\"]", "rules: {1: 2, null: ~}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		finder := newFinder(map[string]string{".jobpoller.yaml": text})
		s, err := finder.Of("/a/b.json")
		if problems, ok := errors.AsType[diag.Problems](err); ok {
			for _, p := range problems[:min(len(problems), diag.MaxShown)] {
				require.Positive(t, p.Line)
				require.NotContains(t, p.String(), "\n")
			}
			return
		}
		require.NoError(t, err)
		for name, rule := range s.Rules {
			require.Contains(t, words.Rules, name)
			_, rated := s.Severity(name)
			require.Equal(t, rule.Value != settings.Off, rated)
		}
	})
}
