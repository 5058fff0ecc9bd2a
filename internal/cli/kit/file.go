package kit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jobpoller/jobpoller/internal/hardlink"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Stdin is the name of a file that stands for the standard input.
const Stdin = "-"

// mostFileBytes is what the command reads of a file: a history of 25,000 events that are
// large fits, and /dev/zero ends.
const mostFileBytes = 512 << 20

// readFile reads a file, or the standard input.
func readFile(name string, in io.Reader) (text []byte, err error) {
	if name == Stdin {
		return readLimited(name, in, mostFileBytes)
	}
	f, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err == nil && info.Size() > mostFileBytes {
		return nil, errTooLong(name, mostFileBytes)
	}
	return readLimited(name, f, mostFileBytes)
}

// readLimited reads to the end, or so many bytes.
func readLimited(name string, in io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if int64(len(text)) > most {
		return nil, errTooLong(name, most)
	}
	return text, err
}

func errTooLong(name string, most int64) error {
	return fmt.Errorf("%s has more than %d MiB: pass a shorter file", terminal.Quote(name), most>>20) //nolint:mnd // a MiB
}

// ReadText reads a file that the command line names.
func ReadText(name string, in io.Reader) ([]byte, error) {
	text, err := readFile(name, in)
	if err != nil {
		return nil, Usage("%w", err)
	}
	return text, nil
}

// ReadInput reads the input of an execution that the command line gives: a file, or
// JSON or @FILE as wait takes them.
func ReadInput(given string, in io.Reader) ([]byte, error) {
	if text := strings.TrimSpace(given); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return []byte(text), nil
	}
	text, err := readFile(strings.TrimPrefix(given, "@"), in)
	if err != nil {
		return nil, Usage("--input: %w", err)
	}
	return text, nil
}

// WriteFile writes what a flag asks for. A report and a history hold inputs and
// answers, so the file is its owner's alone, one that was there included.
func WriteFile(flag, name string, text []byte) error {
	if err := writePrivately(name, text); err != nil {
		return WithCode(ExitFailed, fmt.Errorf("--%s: %w", flag, err))
	}
	return nil
}

func writePrivately(name string, text []byte) (err error) {
	const mode = 0o600
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Mode().IsRegular() { // a terminal or a pipe keeps its own
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	_, err = f.Write(text)
	return err
}

// OutputFile is a file that a flag asks for.
type OutputFile struct{ Flag, Name string }

// CheckOutputs refuses files that cannot be written, or that would replace one another or
// an input, before there is anything to write.
func CheckOutputs(outputs []OutputFile, inputs ...string) error {
	var problems []error
	for i, out := range outputs {
		if out.Name == "" {
			continue
		}
		for _, other := range outputs[:i] {
			if isSameFile(out.Name, other.Name) {
				problems = append(problems, fmt.Errorf("--%s and --%s name the same file: pass another one", other.Flag, out.Flag))
			}
		}
		for _, input := range inputs {
			if isSameFile(out.Name, input) {
				problems = append(problems, fmt.Errorf("--%s would replace the input %s: pass another file", out.Flag, terminal.Quote(input)))
			}
		}
		if err := checkWritable(out.Name); err != nil {
			problems = append(problems, fmt.Errorf("--%s: %w", out.Flag, err))
		}
	}
	return errors.Join(problems...)
}

// isSameFile tells whether two names are of one file, which may not be there yet. What is
// no file, such as a terminal, can be written twice.
func isSameFile(a, b string) bool {
	if a == "" || b == "" || b == Stdin {
		return false
	}
	first, err := os.Stat(a)
	second, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return first.Mode().IsRegular() && os.SameFile(first, second)
	}
	whole, err := filepath.Abs(a)
	other, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && whole == other
}

// checkWritable opens a file for writing, and leaves it as it is.
func checkWritable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return nil // to open a pipe may wait for who reads it
	case err == nil:
		f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user names it
		if err != nil {
			return err
		}
		return f.Close()
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // as above
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(name))
}

// ErrExists is the error of WriteNew for a file that is there.
var ErrExists = errors.New("the file exists")

// WriteNew writes a file of its owner's alone that is not there yet, so that nothing
// that was edited is lost.
func WriteNew(name string, text []byte) (err error) {
	const mode = 0o600
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // the user names it
	if errors.Is(err, os.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(text)
	return err
}

// ReplaceFile writes a file of the project. One that is there keeps its mode, and
// whoever reads it finds the old text or the new, as far as its folder allows a
// second file. One with several names is written in place, or the others would keep the old text.
func ReplaceFile(name string, text []byte) error {
	const mode = 0o644
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return os.WriteFile(name, text, mode)
	}
	f, err := os.OpenFile(target, os.O_WRONLY, 0) // not one that must stay as it is
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !info.Mode().IsRegular() || hardlink.Has(info) {
		return os.WriteFile(target, text, mode)
	}
	second, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+"-")
	if err != nil {
		return os.WriteFile(target, text, mode)
	}
	_, err = second.Write(text)
	if err = errors.Join(err, second.Chmod(info.Mode().Perm()), second.Close()); err != nil {
		return errors.Join(err, os.Remove(second.Name())) // the disk may be full: the file stays
	}
	if os.Rename(second.Name(), target) == nil {
		return nil
	}
	// A file that is mounted by itself cannot be replaced.
	return errors.Join(os.WriteFile(target, text, mode), os.Remove(second.Name()))
}

// RelativeName is the name of a file as seen from a folder, with slashes.
func RelativeName(folder, file string) string {
	from, err := filepath.Abs(folder)
	to, err2 := filepath.Abs(file)
	if err != nil || err2 != nil {
		return filepath.ToSlash(filepath.Clean(file))
	}
	if relative, err := filepath.Rel(from, to); err == nil {
		to = relative
	}
	return filepath.ToSlash(to)
}
