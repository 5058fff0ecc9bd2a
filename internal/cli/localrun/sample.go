package localrun

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shipped"
)

// Sample is what the user asks of the sample job.
type Sample struct {
	Seconds int
	Fails   bool
	MaxWait time.Duration
}

// maxWaitLimit keeps a start record's retention above the wait and the 14 days
// in which an execution can be redriven.
const maxWaitLimit = 45 * 24 * time.Hour

// SampleFlags are the names of the flags of a sample job.
func SampleFlags() []string { return []string{"job-seconds", "job-fails", "max-wait"} }

// AddTo gives a command these flags.
func (s *Sample) AddTo(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&s.Seconds, "job-seconds", 15, "how long the sample job works")
	f.BoolVar(&s.Fails, "job-fails", false, "let the sample job fail")
	kit.AddMaxWait(f, &s.MaxWait, 5*time.Minute)
	kit.CompleteNothing(c, "job-seconds", "max-wait")
}

// Check says what is wrong with these flags.
func (s *Sample) Check() error {
	var problems []error
	if s.Seconds < 0 || s.Seconds > shipped.MaxJobSeconds {
		problems = append(problems, fmt.Errorf("--job-seconds must be from 0 to %d, is %d", shipped.MaxJobSeconds, s.Seconds))
	}
	if err := kit.CheckMaxWait(s.MaxWait); err != nil {
		problems = append(problems, err)
	} else if s.MaxWait > maxWaitLimit {
		problems = append(problems, fmt.Errorf("--max-wait must be at most %s (45 days), is %s", kit.ShortDuration(maxWaitLimit), kit.ShortDuration(s.MaxWait)))
	} else if s.MaxWait%time.Second != 0 {
		problems = append(problems, fmt.Errorf("--max-wait must be whole seconds, as all times of Step Functions are, is %s", s.MaxWait))
	}
	return errors.Join(problems...)
}

// Request is the input of an execution that runs the sample job.
func (s *Sample) Request() ([]byte, error) {
	return shipped.SampleRequest(shipped.SampleJobInput{Seconds: s.Seconds, Fail: s.Fails}, s.MaxWait)
}
