package settings

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// glob is a pattern of paths below the folder of a config file. It matches a path, or a
// folder that the path is in.
type glob struct {
	text    string
	parts   []string // between slashes; "**" is any number of folders
	folders bool     // it ends with a slash, and matches folders alone
}

// anywhere stands for any number of folders in a pattern.
const anywhere = "**"

var (
	errGlobSlash  = errors.New(`write "/" between folders, on Windows too`)
	errGlobBrace  = errors.New("braces are not read: write a pattern for each")
	errGlobNot    = errors.New(`a pattern cannot begin with "!"`)
	errGlobAbove  = errors.New("a pattern is relative to the folder of this file, and cannot lead out of it")
	errGlobEmpty  = errors.New("a pattern cannot be empty")
	errGlobSyntax = errors.New(`"[" needs its "]"`)
	errGlobStars  = errors.New(`"**" stands alone between slashes: write "**/*.json"`)
)

// parseGlob reads a pattern. One without a slash, as "*.gen.json", matches at any depth.
func parseGlob(text string) (glob, error) {
	trimmed := strings.TrimSuffix(text, "/")
	g := glob{text: text, folders: trimmed != text}
	switch {
	case strings.Contains(text, `\`):
		return g, errGlobSlash
	case strings.ContainsAny(text, "{}"):
		return g, errGlobBrace
	case strings.HasPrefix(text, "!"):
		return g, errGlobNot
	case strings.Trim(trimmed, "/") == "":
		return g, errGlobEmpty
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(trimmed, "/"), "/") {
		_, err := path.Match(part, "")
		switch {
		case part == "..":
			return g, errGlobAbove
		case part == "", part == ".":
			continue
		case err != nil:
			return g, errGlobSyntax
		case part != anywhere && strings.Contains(part, anywhere):
			return g, errGlobStars
		case part == anywhere && len(g.parts) > 0 && g.parts[len(g.parts)-1] == anywhere:
			continue
		}
		g.parts = append(g.parts, part)
	}
	switch {
	case len(g.parts) == 0:
		return g, errGlobEmpty
	case !strings.Contains(trimmed, "/") && g.parts[0] != anywhere:
		g.parts = append([]string{anywhere}, g.parts...)
	}
	return g, nil
}

// matches tells whether the pattern matches a path with slashes, or a folder above it.
func (g glob) matches(name string, folder bool) bool {
	steps := strings.Split(name, "/")
	at := make([]bool, len(g.parts)+1) // how many parts may have been read
	at[0] = true
	for i, step := range steps {
		next := make([]bool, len(at))
		for n, part := range g.parts {
			if n > 0 && g.parts[n-1] == anywhere && at[n-1] {
				at[n] = true // for no folder
			}
			switch matched, _ := path.Match(part, step); {
			case !at[n]:
			case part == anywhere:
				next[n] = true
				next[n+1] = next[n+1] || n == len(g.parts)-1
			case matched:
				next[n+1] = true
			}
		}
		if next[len(g.parts)] && (!g.folders || folder || i < len(steps)-1) {
			return true
		}
		if at = next; !slices.Contains(at, true) {
			return false
		}
	}
	return false
}
