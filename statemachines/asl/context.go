package asl

import (
	"regexp"
	"slices"
	"strings"
)

// contextPath finds what reads the context object, with the members that it names first.
var contextPath = regexp.MustCompile(`(\$\$|\$states\b)((?:\.\w+)*)`)

// ReadsContext tells whether a text of a definition reads one of some members of the context
// object, such as "State.Name": the member itself, a part of it, or what it is a part of, such
// as the whole object. What reads a member by an index may read any.
func ReadsContext(text string, members ...string) bool {
	for _, read := range contextPath.FindAllStringSubmatch(text, -1) {
		path := strings.TrimPrefix(read[2], ".")
		if read[1] != "$$" && path != "" {
			var of string
			if of, path, _ = strings.Cut(path, "."); of != "context" {
				continue
			}
		}
		if path == "" || slices.ContainsFunc(members, func(member string) bool {
			return strings.HasPrefix(path+".", member+".") || strings.HasPrefix(member+".", path+".")
		}) {
			return true
		}
	}
	return false
}
