package nearest

import "strings"

// Spelling is the candidate that a word most likely misspells: one with the same letters, but for
// case, hyphens, underscores and spaces, or else one with one letter more, less or other; empty if
// there is none, or if the word is a candidate itself.
func Spelling(word string, candidates []string) string {
	best, letters := "", distances{word: []rune(PlainLetters(word)), steps: nearestSteps}
	for _, c := range candidates {
		plain := PlainLetters(c)
		switch {
		case c == word:
			return ""
		case plain == "" || tooLong(word) || tooLong(c):
		case plain == string(letters.word):
			best = c
		case best == "" && len(letters.word) >= shortWord && letters.to(plain, 2) == 1:
			best = c
		}
	}
	return best
}

// PlainLetters are those of a word, in lower case: without hyphens, underscores and spaces.
func PlainLetters(word string) string {
	return strings.ToLower(separators.Replace(word))
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")
