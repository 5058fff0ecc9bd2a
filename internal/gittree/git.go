package gittree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// mostBytes is the size of a file that is read whole.
const mostBytes = 512 << 20

// fetchAll says how a clone gets all commits.
const fetchAll = "fetch the whole history, by \"fetch-depth: 0\" of actions/checkout, GIT_DEPTH: 0 of GitLab, or git fetch --unshallow"

// folder is where git runs: in the working folder if it is empty, else in that of a submodule.
type folder string

// command is a command of git. Its messages are English, and it writes nothing to the repository.
func (f folder) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", args...) //nolint:gosec // a ref stands behind --end-of-options
	c.Dir, c.Env = string(f), os.Environ()
	if f != "" { // for which the variables of a hook do not count
		c.Env = slices.DeleteFunc(c.Env, func(variable string) bool {
			name, _, _ := strings.Cut(variable, "=")
			return slices.Contains(variablesOfRepository, name)
		})
	}
	c.Env = append(c.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	return c
}

// variablesOfRepository are those of git rev-parse --local-env-vars that name a repository.
var variablesOfRepository = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE",
}

// gitError is what git said as it failed.
type gitError struct {
	command string
	said    string
	err     error
}

func (e *gitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %v", e.command, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.said)
}

func (e *gitError) Unwrap() error { return e.err }

// git returns what a command of git prints.
func git(ctx context.Context, args ...string) (string, error) { return folder("").git(ctx, args...) }

func (f folder) git(ctx context.Context, args ...string) (string, error) {
	c := f.command(ctx, args...)
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	switch {
	case err == nil:
		return string(text), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	}
	return "", &gitError{args[0], strings.TrimPrefix(strings.TrimSpace(said.String()), "fatal: "), err}
}

// exitCode is that of git; -1 if it did not run.
func exitCode(err error) int {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode()
	}
	return -1
}

func isShallow(ctx context.Context) bool {
	text, err := git(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(text) == "true"
}

// explainRepository says why git found no repository.
func explainRepository(err error) error {
	switch failed, ok := errors.AsType[*gitError](err); {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("git is not installed, or not in PATH: install it")
	case ok && strings.Contains(failed.said, "not a git repository"):
		return errors.New("the working folder is in no git repository: go to one that has the files")
	}
	return err
}

// explainBase says why git knows no commit of that name.
func explainBase(ctx context.Context, base string, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case base == "":
		return errors.New("git knows no commit without a name: expected a branch, a tag or a commit, such as origin/main")
	}
	if _, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/remotes/origin/"+base); err == nil {
		return terminal.Errorf("git knows no commit %s, but origin/%s: pass that", base, base)
	}
	if isShallow(ctx) {
		return terminal.Errorf("this clone has no commit %s, as it lacks a part of the history: %s", base, fetchAll)
	}
	return terminal.Errorf("git knows no commit %s: expected a branch, a tag or a commit, such as origin/main", base)
}

// blobs reads files by their ids, of one process of git. Its methods may be called at the
// same time.
type blobs struct {
	ctx context.Context //nolint:containedctx // of the process, which runs until close
	in  folder

	lock    sync.Mutex
	process *exec.Cmd // nil until a file is read
	ask     io.WriteCloser
	answers *bufio.Reader
	failed  error
	// last is the file that was read last, which is often asked for again: its size, then its text.
	last string
	text []byte
}

func newBlobs(ctx context.Context, in folder) *blobs { return &blobs{ctx: ctx, in: in} }

// start starts git.
func (b *blobs) start() (err error) {
	c := b.in.command(b.ctx, "cat-file", "--batch")
	if b.ask, err = c.StdinPipe(); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	b.answers = bufio.NewReader(out)
	if err := c.Start(); err != nil {
		return err
	}
	b.process = c
	return nil
}

// read returns the text of a file.
func (b *blobs) read(id string) ([]byte, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.failed == nil && id == b.last {
		return b.text, nil
	}
	if b.failed == nil && b.process == nil {
		b.failed = b.start()
	}
	if b.failed == nil {
		b.text, b.failed = b.get(id)
		b.last = id
	}
	if b.failed != nil {
		return nil, b.failed
	}
	return b.text, nil
}

// get asks git for a file, up to a byte more than one has that is read.
func (b *blobs) get(id string) ([]byte, error) {
	if _, err := io.WriteString(b.ask, id+"\n"); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	head, err := b.answers.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	var size int64
	if _, err := fmt.Sscanf(head, id+" blob %d\n", &size); err != nil {
		return nil, fmt.Errorf("git cat-file: %s", strings.TrimSpace(head))
	}
	text := make([]byte, min(size, mostBytes+1))
	_, err = io.ReadFull(b.answers, text)
	if err == nil { // git ends it by a line feed
		_, err = io.CopyN(io.Discard, b.answers, size+1-int64(len(text)))
	}
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return text, nil
}

func (b *blobs) err() error {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.failed
}

// close ends the process.
func (b *blobs) close() error {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.process == nil {
		return nil
	}
	err := errors.Join(b.ask.Close(), b.process.Wait())
	b.process = nil
	if b.failed != nil || b.ctx.Err() != nil {
		return nil // git ended with an error that is known
	}
	return err
}
