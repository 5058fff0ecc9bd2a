package cli

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

// addOutput gives a command the flag --output, and completes its values: text,
// json and those that this command has besides.
func addOutput(c *cobra.Command, to *string, more ...string) {
	formats := outputFormats(more)
	c.Flags().StringVarP(to, "output", "o", "text", orList(formats))
	completeWords(c, "output", formats...)
}

func outputFormats(more []string) []string { return append([]string{"text", "json"}, more...) }

// orList writes words as "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// checkOutput refuses a format that --output does not have.
func checkOutput(format string, more ...string) error {
	if formats := outputFormats(more); !slices.Contains(formats, format) {
		return fmt.Errorf("--output must be %s, is %q%s", orList(formats), format, nearest.DidYouMean(format, formats))
	}
	return nil
}

// writeJSON writes a value as a text of several lines.
func writeJSON(out io.Writer, value any) error { return writeJSONWithin(out, "", value) }

// writeJSONWithin writes a value that stands so deep in another.
func writeJSONWithin(out io.Writer, indent string, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent(indent, "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// plural is a number with its noun: 1 job, 2 jobs.
func plural(n int, noun string) string {
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

// texts are the texts of errors.
func texts(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, withoutSource(err.Error()))
	}
	return all
}

// sourceLine is a line of an error's text that shows the source at fault, or
// points at it.
var sourceLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n {2}\| [^\n]*`) })

// withoutSource is a text that stands in a line of others.
func withoutSource(text string) string { return sourceLine().ReplaceAllString(text, "") }
