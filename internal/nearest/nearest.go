// Package nearest finds the word that is most likely meant by a misspelt one.
package nearest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// longestWord is how many characters a word may have to be corrected. The
	// longest names of AWS have 256; what is longer is not a misspelt name.
	longestWord = 256
	// nearestSteps is how many pairs of characters one call compares. It is 200
	// names of 70 characters that are all nearly right.
	nearestSteps = 1 << 20
)

// Word returns the candidate that word is most likely a misspelling of, or
// the empty string if none is near: at most one edit in three characters. Time
// and memory are bounded: it corrects no word of more than 256 characters, and
// where candidates are so many that all cannot be compared, it takes the first.
func Word(word string, candidates []string) string {
	for _, c := range candidates {
		if strings.EqualFold(c, word) {
			return c
		}
	}
	if tooLong(word) {
		return ""
	}
	d := distances{word: []rune(strings.ToLower(word)), steps: nearestSteps}
	best, bestDistance := "", len(d.word)/3+1
	for _, c := range candidates {
		if tooLong(c) {
			continue
		}
		if to := d.to(c, bestDistance); to < bestDistance {
			best, bestDistance = c, to
		}
	}
	return best
}

// DidYouMean is what a message of an unknown word ends with: the candidate that
// is most likely meant, or nothing.
func DidYouMean(word string, candidates []string) string {
	return Question(Word(word, candidates))
}

// Question is DidYouMean of a suggestion that is made already; none for "".
func Question(suggestion string) string {
	if suggestion == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", suggestion)
}

func tooLong(word string) bool {
	return len(word) > utf8.UTFMax*longestWord || utf8.RuneCountInString(word) > longestWord
}

// distances computes how far candidates are from a word.
type distances struct {
	word                    []rune
	steps                   int // left
	candidate               []rune
	beforeLast, last, fresh []int // rows of the table: the candidate's prefixes
}

// to is the optimal string alignment distance to a candidate: insertions,
// deletions, substitutions and swaps of neighbours count one each. It is some
// number from limit on if the distance is not below limit, or no steps are left.
func (d *distances) to(candidate string, limit int) int {
	d.candidate = d.candidate[:0]
	for _, r := range strings.ToLower(candidate) {
		d.candidate = append(d.candidate, r)
	}
	x, y := d.word, d.candidate
	size := len(x) * len(y)
	if max(len(x)-len(y), len(y)-len(x)) >= limit || size > d.steps {
		return limit
	}
	d.steps -= size
	for len(d.fresh) <= len(y) {
		d.beforeLast, d.last, d.fresh = append(d.beforeLast, 0), append(d.last, 0), append(d.fresh, 0)
	}
	for j := range len(y) + 1 {
		d.fresh[j] = j
	}
	for i := 1; i <= len(x); i++ {
		d.beforeLast, d.last, d.fresh = d.last, d.fresh, d.beforeLast
		d.fresh[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			n := min(d.last[j]+1, d.fresh[j-1]+1, d.last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				n = min(n, d.beforeLast[j-2]+1)
			}
			d.fresh[j] = n
			least = min(least, n)
		}
		if least > limit { // a swap reaches back two rows, so one more is left
			return limit
		}
	}
	return d.fresh[len(y)]
}
