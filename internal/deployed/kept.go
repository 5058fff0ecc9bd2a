package deployed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jobpoller/jobpoller/internal/filelock"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// KeptFor is how long what a sweep has kept is used: later the definitions may be others.
const KeptFor = 24 * time.Hour

// Kept is a file that keeps the definitions of a sweep, so that one which was killed goes
// on. A sweep that is done begins anew.
type Kept struct {
	// Began is when the sweep began that wrote the first definition.
	Began time.Time

	file *os.File
	at   map[string]span // of the lines, by ARN
	end  int64
}

// span is where a line is in the file.
type span struct{ from, length int64 }

// keptLine is a line of the file: the first says when the sweep began and of what, the
// last that it is done, and the others have a definition each. The members are a
// contract: see docs/reference/json.md.
type keptLine struct {
	Began      *time.Time        `json:"began,omitempty"`
	Endpoint   string            `json:"endpoint,omitempty"`
	ARN        string            `json:"stateMachineArn,omitempty"`
	Type       asl.ExecutionType `json:"type,omitempty"`
	Definition string            `json:"definition,omitempty"`
	Done       bool              `json:"done,omitempty"`
}

// KeepError is the error of a file that cannot keep more.
type KeepError struct{ Err error }

// Error implements error.
func (e *KeepError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the file.
func (e *KeepError) Unwrap() error { return e.Err }

// OpenKept opens the file of a sweep at an endpoint, or creates it, and goes on with what
// it has. Nobody but its owner can read it, and one process at a time can have it open.
func OpenKept(name, endpoint string) (*Kept, error) {
	const mode = 0o600
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, terminal.Errorf("%s is not a regular file: pass another one", name)
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, mode) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	k := &Kept{file: file, at: map[string]span{}}
	if err = k.open(endpoint); err == nil {
		err = file.Chmod(mode)
	}
	if err != nil {
		return nil, errors.Join(terminal.Errorf("%s: %w", name, err), file.Close())
	}
	return k, nil
}

func nameEndpoint(url string) string {
	if url == "" {
		return "AWS"
	}
	return url
}

// notKept is the error of a line that --keep has not written.
func notKept(line int, why error) error {
	text := ""
	if why != nil {
		text = " (" + why.Error() + ")"
	}
	return fmt.Errorf("line %d: it is not a line that --keep writes%s: pass another file", line, text)
}

// Finish says that the sweep is done: the next one begins anew.
func (k *Kept) Finish() error { return k.write(&keptLine{Done: true}) }

// Close closes the file.
func (k *Kept) Close() error { return k.file.Close() }

// open reads the lines. A last one that was cut off is taken away.
func (k *Kept) open(endpoint string) error {
	switch taken, err := filelock.Take(k.file); {
	case err != nil:
		return err
	case !taken:
		return errors.New("another command keeps what it reads there: wait until it ends, or pass another file")
	}
	done, err := k.read(endpoint)
	if err != nil {
		return err
	}
	if done || k.end == 0 {
		k.at, k.end = map[string]span{}, 0
	}
	if err := k.file.Truncate(k.end); err != nil || k.end > 0 {
		return err
	}
	k.Began = time.Now().UTC()
	return k.write(&keptLine{Began: &k.Began, Endpoint: endpoint})
}

// read notes where each line is, and tells whether they are of no use any more.
func (k *Kept) read(endpoint string) (done bool, err error) {
	in := bufio.NewReader(k.file)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			if begin := []byte(`{"began":"`); n == 1 && !bytes.HasPrefix(text, begin[:min(len(begin), len(text))]) {
				return false, notKept(n, nil)
			}
			return done, nil
		case err != nil:
			return false, err
		}
		var line keptLine
		if err := json.Unmarshal(text, &line); err != nil {
			return false, notKept(n, err)
		}
		switch {
		case n == 1 && line.Began == nil, n > 1 && line.ARN == "" && !line.Done:
			return false, notKept(n, nil)
		case n == 1 && line.Endpoint != endpoint:
			return false, fmt.Errorf("it keeps the state machines of another endpoint (%s): pass another file", nameEndpoint(line.Endpoint))
		case n == 1:
			k.Began = *line.Began
			done = time.Since(k.Began) > KeptFor
		case line.Done:
			done = true
		default:
			k.at[line.ARN] = span{k.end, int64(len(text))}
		}
		k.end += int64(len(text))
	}
}

// find returns the definition that is kept of a state machine; nil if none is.
func (k *Kept) find(arn string) (*source.Deployed, error) {
	if k == nil {
		return nil, nil //nolint:nilnil // nothing is kept
	}
	where, ok := k.at[arn]
	if !ok {
		return nil, nil //nolint:nilnil // it is not kept
	}
	text := make([]byte, where.length)
	if _, err := k.file.ReadAt(text, where.from); err != nil {
		return nil, &KeepError{err}
	}
	var line keptLine
	if err := json.Unmarshal(text, &line); err != nil {
		return nil, &KeepError{err}
	}
	return &source.Deployed{ARN: arn, Text: []byte(line.Definition), Type: line.Type}, nil
}

// add keeps a definition, at once. Its error is a *KeepError.
func (k *Kept) add(d *source.Deployed) error {
	if k == nil {
		return nil
	}
	return k.write(&keptLine{ARN: d.ARN, Type: d.Type, Definition: string(d.Text)})
}

func (k *Kept) write(line *keptLine) error {
	text, err := json.Marshal(line)
	if err == nil {
		text = append(text, '\n')
		_, err = k.file.WriteAt(text, k.end)
	}
	if err != nil {
		return &KeepError{err}
	}
	k.end += int64(len(text))
	return nil
}
