// Package statusname says what the name of a status tells of a job. It is for operations that the catalogue has no
// entry for: where a name can be read in two ways, it tells nothing.
package statusname

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Meaning is what a name tells.
type Meaning string

// The meanings, as lint has them.
const (
	Success Meaning = "success"
	Failure Meaning = "failure"
	Running Meaning = "running"
	Ending  Meaning = "ending"  // on the way to an end: "STOPPING"
	Unclear Meaning = "unclear" // an end: the name does not tell whether it is a success
	Unknown Meaning = "unknown"
)

// What the words in the name of a status say. A word that is in no list says nothing: DONE and CLOSED end a job in any way.
var (
	successWords = []string{"success", "succeeded", "succeed", "successful", "successfully", "complete", "completed"}
	failureWords = []string{"fail", "failed", "failure", "failures", "error", "errors", "cancelled", "canceled", "aborted", "timeout", "timedout", "rejected"}
	endingWords  = []string{"stopping", "cancelling", "canceling", "aborting", "terminating", "deleting", "failing"}
	goingWords   = []string{"pending", "progress", "progressing", "inprogress", "queued", "submitted", "requested", "scheduled", "started"}
	// besideWords leave a success one: "completed_successfully", "FINISHED_WITH_SUCCESS".
	besideWords = []string{"finished", "ended", "with", "job", "run", "task", "execution", "status", "state"}
	// flawWords make a success one that is doubtful, and an end all the same: "completed_with_errors".
	flawWords = []string{"error", "errors", "failure", "failures", "warning", "warnings", "exception", "exceptions", "issue", "issues", "with"}
	// stillWords end in -ing, and nothing goes on.
	stillWords = []string{"missing", "warning", "nothing", "string", "existing", "outstanding", "remaining", "everything", "anything", "something"}
	// doubtWords take back, or limit, what another word says: NOT_FAILED, FAILED_PARTIALLY, completed_with_errors.
	doubtWords = []string{
		"not", "no", "non", "never", "none", "un", "partial", "partially", "partly", "some", "few", "with", "without", "but",
		"over", "retry", "retried", "retryable", "rollback", "rolled", "back", "undo", "undone", "revert", "reverted", "skipped", "ignored",
		"zero", "0", "free", "fixed", "cleared", "resolved", "recovered", "handled", "corrected",
	}
)

// Of is what the name of a status says of a job: nothing where that is not sure.
func Of(status string) Meaning {
	words := Words(status)
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	isGoing := func(word string) bool {
		const shortest = len("copying") - 1
		return slices.Contains(goingWords, word) || strings.HasSuffix(word, "ing") && len(word) >= shortest && !slices.Contains(stillWords, word)
	}
	switch success, doubted := has(successWords), has(doubtWords); {
	case len(words) == 0:
		return Unknown
	case success && only(words, successWords, besideWords):
		return Success
	case success && only(words, successWords, flawWords):
		return Unclear
	case success || doubted:
		return Unknown
	case has(failureWords) && (has(endingWords) || slices.ContainsFunc(words, isGoing)):
		return Unknown // a part failed, or the failure is on its way
	case has(endingWords):
		return Ending
	case slices.ContainsFunc(words, isGoing):
		return Running
	case slices.Contains(failureWords, words[0]) || slices.Contains(failureWords, words[len(words)-1]):
		return Failure
	default:
		return Unknown
	}
}

// NamesSuccess tells whether a word in the name of a status is of a success, whatever the others make of it.
func NamesSuccess(status string) bool {
	return slices.ContainsFunc(Words(status), func(word string) bool { return slices.Contains(successWords, word) })
}

// only tells whether each word is in one of some lists.
func only(words []string, lists ...[]string) bool {
	all := slices.Concat(lists...)
	return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(all, word) })
}

// Words are the words of a status, in small letters: those of "timed_out" and "TimedOut" are "timedout".
func Words(status string) []string {
	words := nameWord().FindAllString(status, -1)
	for i, word := range words {
		words[i] = strings.ToLower(word)
	}
	for i := 0; i+1 < len(words); i++ {
		if words[i] == "timed" && words[i+1] == "out" {
			words = slices.Replace(words, i, i+2, "timedout")
		}
	}
	return words
}

// nameWord matches a word in a name: "Timed" and "Out" in TimedOut, "IN" and "PROGRESS" in IN_PROGRESS.
var nameWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\p{Lu}?[\p{Ll}\d]+|[\p{Lu}\d]+|[^\s\p{Lu}\p{Ll}\d_.:/-]+`)
})

// FailuresIn are the values of a list that have the name of a failed job.
func FailuresIn(values []string) []string {
	all := slices.DeleteFunc(slices.Clone(values), func(value string) bool { return Of(value) != Failure })
	ofChange := func(value string) bool { return changeFailed().MatchString(value) }
	if plain := slices.DeleteFunc(slices.Clone(all), ofChange); len(all)-len(plain) > 1 {
		return plain
	}
	return all
}

// changeFailed matches the name of a failure that tells what has failed.
var changeFailed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i).failed$|^failed.`) })
