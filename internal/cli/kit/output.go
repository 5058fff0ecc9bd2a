package kit

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// AddOutput gives a command the flag --output, and completes its values: text,
// json and those that this command has besides.
func AddOutput(c *cobra.Command, to *string, more ...string) {
	formats := outputFormats(more)
	c.Flags().StringVarP(to, "output", "o", "text", OrList(formats))
	CompleteWords(c, "output", formats...)
}

func outputFormats(more []string) []string { return append([]string{"text", "json"}, more...) }

// OrList writes words as "a, b or c".
func OrList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// CheckOutput refuses a format that --output does not have.
func CheckOutput(format string, more ...string) error {
	if formats := outputFormats(more); !slices.Contains(formats, format) {
		return fmt.Errorf("--output must be %s, is %q%s", OrList(formats), format, nearest.DidYouMean(format, formats))
	}
	return nil
}

// WriteJSON writes a value as a text of several lines.
func WriteJSON(out io.Writer, value any) error { return WriteJSONWithin(out, "", value) }

// WriteJSONWithin writes a value that stands so deep in another.
func WriteJSONWithin(out io.Writer, indent string, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent(indent, "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Plural is a number with its noun: 1 job, 2 jobs.
func Plural(n int, noun string) string {
	stem, isRY := strings.CutSuffix(noun, "ry")
	switch {
	case n == 1:
	case isRY:
		noun = stem + "ries"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Texts are the texts of errors.
func Texts(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, WithoutSource(err.Error()))
	}
	return all
}

// sourceLine is a line of an error's text that shows the source at fault, or
// points at it.
var sourceLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n {2}\| [^\n]*`) })

// WithoutSource is a text that stands in a line of others.
func WithoutSource(text string) string { return sourceLine().ReplaceAllString(text, "") }
