package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// What a workflow command of GitHub Actions escapes in its message, and in the
// values of its properties.
var (
	annotationText  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// printAnnotations writes findings as workflow commands, which GitHub Actions shows
// beside the line of the file.
func printAnnotations(out io.Writer, found []Finding) error {
	commands := map[diag.Severity]string{diag.Error: "error", diag.Danger: "error", diag.Warning: "warning", diag.Note: "notice"}
	for _, f := range found {
		place, text := "", f.Message()
		switch {
		case !f.isFile(): // no file of the repository
			text = f.Place() + ": " + text
		case f.Problem.Line > 0:
			place = fmt.Sprintf("file=%s,line=%d,col=%d,", annotationValue.Replace(f.nameInRepository()), f.Problem.Line, f.Problem.Column)
		default:
			place = fmt.Sprintf("file=%s,", annotationValue.Replace(f.nameInRepository()))
		}
		if _, err := io.WriteString(out, terminal.Sprintf("::%s %stitle=%s::%s\n", commands[f.Problem.Severity], place,
			annotationValue.Replace(f.Rule), annotationText.Replace(text))); err != nil {
			return err
		}
	}
	return nil
}
