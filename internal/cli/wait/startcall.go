package wait

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// start is one start of a job.
type start struct {
	command *cobra.Command
	options startOptions
	entry   *catalog.Entry
	op      *catalog.Operation // the start call
	driver  jobs.Driver

	request jobs.Request
	// named: the input says the token.
	named bool
	ref   jobs.Ref // of the job that has started
}

// startReport is what a start comes to. Its JSON members are a contract: see
// docs/reference/json.md.
type startReport struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	ID      string `json:"id"`
	Input   any    `json:"input"` // of the describe call
	Token   string `json:"token,omitempty"`
	Wait    string `json:"wait"` // a command line
}

// tokenOf is the member of the start call's input that makes a repeated call start no
// second job: a token, or the job's name. It is empty if there is none.
func tokenOf(j *catalog.Job) string {
	if j.NaturalKey != nil {
		return j.NaturalKey.Member
	}
	return j.Token
}

// readRequest reads the arguments of the start call, and its token, which is drawn
// where nobody gives one.
func (s *start) readRequest(stdinput io.Reader) error {
	whole := kit.CallInput{Op: s.op, Text: s.options.input, Params: s.options.params}
	input, err := whole.Read(stdinput)
	if err != nil {
		return err
	}
	if err := whole.Params.Set(input, s.op.Input); err != nil {
		return kit.Usage("%w", err)
	}
	token := tokenOf(s.entry.Job)
	if given, has := input[token].(string); has {
		if s.options.token != "" {
			return kit.Usage("--token and %s exclude each other: remove one", token)
		}
		s.request.Token, s.named = given, true
	} else if s.request.Token = s.options.token; s.request.Token == "" {
		s.request.Token = drawToken()
	}
	if token != "" {
		input[token] = s.request.Token // so that the whole fits
	}
	if missing := whole.Op.Missing(input); len(missing) > 0 {
		return kit.Usage("%s needs %s: %s", s.op.Name, strings.Join(missing, " and "), s.example(missing))
	}
	if input, err = whole.Fit(input); err != nil {
		return err
	}
	delete(input, token)
	var spelled any = input
	if s.op.Input != nil {
		spelled = typecheck.IntegrationSpelling(input, s.op.Input)
	}
	s.request.Arguments, err = json.Marshal(spelled)
	return err
}

// drawToken draws a token that all services take: 36 hexadecimal characters.
func drawToken() string {
	var random [18]byte
	_, _ = rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}

// example is the command line with the members that are missing.
func (s *start) example(missing []string) string {
	words := []string{"jobpoller start", s.entry.Service.Key, s.entry.Name}
	for _, p := range s.options.params {
		words = append(words, "--param", shell.Quote(p))
	}
	for _, name := range missing {
		value := "..."
		if shape := s.op.Input.Member(name).Shape; kit.IsPart(shape) || shape.Type == catalog.List {
			value = kit.SampleValue(shape)
		}
		words = append(words, "--param", shell.Quote(name+"="+value))
	}
	return strings.Join(words, " ")
}

// The tries of a start call. What may have started the job is tried again only if the
// service cannot start a second one.
const (
	maxStarts    = 4
	firstPause   = 250 * time.Millisecond
	startTimeout = time.Minute
)

// run starts the job.
func (s *start) run(ctx context.Context) (*startReport, error) {
	uncertain := false // an earlier try may have started the job
	began, pause := time.Now(), firstPause
	for try := 1; ; try++ {
		ref, err := s.call(ctx)
		if err == nil {
			s.ref = ref
			return s.report()
		}
		class := goerror.Classify(err)
		uncertain = uncertain || class.MayHaveActed()
		again := class.Passes() && class != awserror.Ended && try < maxStarts && (!uncertain || s.isRepeatable(began))
		if !again {
			return nil, s.fail(ctx, err, uncertain)
		}
		select {
		case <-ctx.Done():
			return nil, s.fail(ctx, err, uncertain)
		case <-time.After(pause):
			pause *= 2
		}
	}
}

// call makes one start call.
func (s *start) call(ctx context.Context) (jobs.Ref, error) {
	ctx, sending := goerror.Watch(ctx)
	ref, err := kit.AnswerWithin(ctx, startTimeout, func(ctx context.Context) (jobs.Ref, error) { return s.driver.Start(ctx, s.request) })
	return ref, sending.Mark(err)
}

// isRepeatable tells whether the service starts no second job if the call is repeated.
func (s *start) isRepeatable(began time.Time) bool {
	i := s.driver.Idempotency(s.request)
	return i.Class == jobs.ByNaturalKey || i.Remembers(time.Since(began))
}

// fail says what is known of a start that has failed.
func (s *start) fail(ctx context.Context, err error, uncertain bool) error {
	code, reason := kit.ExitUnknown, kit.EndReason(s.op.Actions, err)
	if ctx.Err() != nil {
		code, reason = kit.ExitInterrupted, "interrupted before the service answered"
	}
	switch {
	case errors.Is(err, jobs.ErrArguments):
		return kit.Usage("%w", err)
	case uncertain && s.isRepeatable(time.Now()) && s.named:
		return kit.WithCode(code, fmt.Errorf("%s may have started the job: %s\nRepeat the same command%s: it starts no second job",
			s.op.Name, reason, s.window()))
	case uncertain && s.isRepeatable(time.Now()):
		return kit.WithCode(code, fmt.Errorf("%s may have started the job: %s\nRepeat the command with --token %s%s: it starts no second job",
			s.op.Name, reason, s.request.Token, s.window()))
	case uncertain:
		return kit.WithCode(code, fmt.Errorf("%s may have started the job: %s\nLook for the job before you start it again: "+
			"%s takes no token, so a second call may start a second job", s.op.Name, reason, s.op.Name))
	case goerror.Classify(err) == awserror.Refused && code != kit.ExitInterrupted && !isAccess(err):
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("%s was refused, nothing has started: %s", s.op.Name, kit.ErrorText(err)))
	default:
		return kit.WithCode(code, fmt.Errorf("nothing has started: %s", reason))
	}
}

// isAccess tells whether an error is one of permissions or credentials.
func isAccess(err error) bool {
	code := kit.NewCallError(err).Code
	return code == "" || awserror.IsPermissionCode(code) || awserror.IsCredentialsCode(code)
}

// window says how long the service remembers the token.
func (s *start) window() string {
	if w := s.entry.Job.Window(); w > 0 {
		return " within " + kit.ShortDuration(w)
	}
	return ""
}

// report says what has started.
func (s *start) report() (*startReport, error) {
	object := map[string]any{}
	for _, m := range inputMembers(s.entry) {
		text, has := s.ref[javasdk.MemberName(m.Name)]
		if !has {
			continue
		}
		object[m.Name] = text
		if m.Shape.Type != catalog.String && m.Shape.Type != catalog.Timestamp && m.Shape.Type != catalog.Blob {
			object[m.Name] = json.RawMessage(text)
		}
	}
	describe := kit.CallInput{Op: s.entry.Operation}
	input, err := describe.Fit(object)
	if err != nil {
		return nil, kit.WithCode(kit.ExitUnknown, fmt.Errorf("%s has started a job, but its answer cannot be used: %w", s.op.Name, err))
	}
	r := &startReport{Service: s.entry.Service.Key, Name: s.entry.Name, ID: inputID(s.entry, input), Input: input}
	if tokenOf(s.entry.Job) != "" {
		r.Token = s.request.Token
	}
	r.Wait = s.waitCommand(r.ID, input)
	return r, nil
}

// waitCommand is the command line that waits for the job.
func (s *start) waitCommand(id string, input map[string]any) string {
	words := []string{"jobpoller wait", s.entry.Service.Key, s.entry.Name}
	of, last := map[string]any{}, ""
	if place := findID(s.entry, nil); place != nil && id != "" && place.fill(of, id) == nil {
		if strings.HasPrefix(id, "-") {
			last = " -- " + shell.Quote(id) // it looks like a flag
		} else {
			words = append(words, shell.Quote(id))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if known, has := of[name]; has && reflect.DeepEqual(known, input[name]) {
			continue
		}
		text, isText := input[name].(string)
		if !isText {
			encoded, err := json.Marshal(input[name])
			if err != nil {
				panic(err) // it was JSON
			}
			text = string(encoded)
		}
		words = append(words, "--param", shell.Quote(name+"="+text))
	}
	return strings.Join(words, " ") + s.options.aws.Spell() + last
}
