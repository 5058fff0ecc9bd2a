package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Words of status names. What none of them is in, such as ACTIVE, says nothing:
// whether it is the end depends on what is waited for.
var (
	// underway are words of a job that goes on, besides those in "-ing".
	underway = []string{
		"initial", "initiated", "inprogress", "new", "paused", "pending", "queued", "requested", "retained", "scheduled", "submitted",
		"temporary", "transient", "runnable",
	}
	// ended are words of a job that did not come to its end, or of a resource
	// that is gone.
	ended = []string{
		"abort", "aborted", "broken", "canceled", "cancelled", "closed", "corrupt", "dead", "declined", "deleted", "denied",
		"deregistered", "error", "errored", "errors", "exceeded", "expired", "fail", "failed", "failure", "failures", "fault",
		"faulted", "inaccessible", "incompatible", "interrupted", "invalid", "killed", "lost", "quarantined", "rejected",
		"reverted", "revoked", "stopped", "superseded", "terminated", "timedout", "timeout", "undeployed", "unrecoverable",
		"unsuccessful", "unsupported", "exceptions",
	}
	// undoing are words for an end that was not wanted.
	undoing = []string{"cancel", "delete", "deletion", "rollback", "rolledback", "stop", "terminate", "not"}
	// done are words of a job that came to its end.
	done = []string{
		"complete", "completed", "done", "finished", "passed", "succeed", "succeeded", "success", "successful",
	}
)

// looks is what the name of a status seems to say of a job: that it has
// succeeded or failed, or else retry, that it goes on or that nobody can tell.
func looks(status string) pollcore.Verdict {
	words := wordsOf(status)
	has := func(of []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
	}
	last := len(words) - 1
	switch {
	case last < 0, has(underway), slices.ContainsFunc(words, goesOn), words[last] == "progress", adjacent(words, "in", "progress"),
		adjacent(words, "not", "started"):
		return pollcore.Retry
	case has(ended), adjacent(words, "timed", "out"), adjacent(words, "rolled", "back"), slices.ContainsFunc(words, errs):
		return pollcore.Failure
	case !has(done):
		return pollcore.Retry
	// STOP_LIMIT_USAGE_AND_COMPLETE_TASKS is an order, not an end.
	case !slices.Contains(done, words[last]) && !slices.Contains(done, words[0]):
		return pollcore.Retry
	case has(undoing):
		return pollcore.Failure
	default:
		return pollcore.Success
	}
}

// deedStems are how words begin that say what is done to a resource.
var deedStems = []string{
	"activat", "associat", "attach", "build", "cancel", "creat", "deactivat", "delet", "deploy", "deregist", "detach", "disassociat",
	"export", "import", "regist", "start", "stop", "train", "updat", "upload", "validat",
}

// deeds are the stems of what the words say is done.
func deeds(words []string) []string {
	var found []string
	for _, w := range words {
		for _, stem := range deedStems {
			if strings.HasPrefix(w, stem) {
				found = append(found, stem)
			}
		}
	}
	return found
}

func goesOn(word string) bool {
	return strings.HasSuffix(word, "ing") && word != "missing" && word != "warning"
}

// errs tells of words run together, such as SERVICEERROR and UPDATEFAILED.
func errs(word string) bool {
	return strings.HasSuffix(word, "error") || strings.HasSuffix(word, "failed") || strings.HasSuffix(word, "failure")
}

func adjacent(words []string, first, second string) bool {
	i := slices.Index(words, first)
	return i >= 0 && i+1 < len(words) && words[i+1] == second
}

// wordsOf are the words of a name in lower case, whether it is spelled
// TIMED_OUT, timed-out, TimedOut or timedOut.
func wordsOf(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}
