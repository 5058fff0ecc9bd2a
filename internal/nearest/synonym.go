package nearest

import "slices"

// synonyms are words for one status, by the letters of PlainLetters.
var synonyms = [][]string{
	{"succeeded", "success", "successful", "succeed", "completed", "complete", "done", "finished"},
	{"failed", "failure", "fail", "error", "errored"},
	{"running", "inprogress", "processing"},
	{"cancelled", "canceled", "aborted"},
	{"timedout", "timeout"},
}

// Synonym is the one candidate that means the same status as a word; empty if there is none, or several.
func Synonym(word string, candidates []string) string {
	plain := PlainLetters(word)
	i := slices.IndexFunc(synonyms, func(same []string) bool { return slices.Contains(same, plain) })
	if i < 0 {
		return ""
	}
	found := ""
	for _, candidate := range candidates {
		if !slices.Contains(synonyms[i], PlainLetters(candidate)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = candidate
	}
	return found
}
