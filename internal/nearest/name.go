package nearest

import (
	"slices"
	"strings"
	"unicode"
)

// shortWord is the length from which on a word of a name is corrected: "get" is not "set".
const shortWord = 4

// Names are the candidates that differ from a name of several words, such as
// batchGetBuilds, in misspelt words alone: batchDeleteBuilds does not.
func Names(name string, candidates []string) []string {
	words := splitName(name)
	return slices.DeleteFunc(slices.Clone(candidates), func(candidate string) bool {
		other := splitName(candidate)
		if len(other) != len(words) {
			return false // nothing is known of words that are joined or lost
		}
		for i := range words {
			if !strings.EqualFold(words[i], other[i]) && (len(other[i]) < shortWord || Word(words[i], other[i:i+1]) == "") {
				return true
			}
		}
		return false
	})
}

// splitName are the words of a name in capitals and small letters.
func splitName(name string) []string {
	var words []string
	from := 0
	for i, r := range name {
		if unicode.IsUpper(r) && i > from {
			words, from = append(words, name[from:i]), i
		}
	}
	return append(words, name[from:])
}
