// Package journal keeps what a server was told in a file, so that the server can go on
// after its process has died.
//
// The file has one record a line, in JSON. A record is written by one write(2) before
// what it tells of takes effect: it survives the death of the process. It is not
// flushed to the disk, so it may not survive the loss of power.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/jobpoller/jobpoller/internal/filelock"
)

const (
	fileName = "journal.jsonl"
	format   = 1
	// mostBytes is how long a record may be. The longest has what a handler read from
	// S3, and its escapes.
	mostBytes = 1 << 30
)

// header is the first line.
type header struct {
	Journal string `json:"journal"`
	Format  int    `json:"format"`
	Program string `json:"program"` // that has made the file
}

const kind = "jobpoller serve"

// ErrInUse is the error of a folder that another process uses.
var ErrInUse = errors.New("another process uses the folder")

// DamageError is the error of a file that is not a journal of this format.
type DamageError struct {
	File   string
	Line   int
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s, line %d: %s. The file is kept as it is; give another folder, or move it away", e.File, e.Line, e.Reason)
}

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	path    string
	program string
	lock    *os.File

	mu   sync.Mutex
	file *os.File
	err  error // the first that Append met
	line []byte
}

// Open opens the journal in the folder, and makes both if there are none. Only one
// process at a time can have it open. A last record that the process before could not
// write to its end is dropped: nobody was told of it. Errors: ErrInUse, *DamageError.
func Open(folder, program string) (*Journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: filepath.Join(folder, fileName), program: program, lock: lock}
	if err := j.open(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// lockFolder lets no other process open the journal of the folder.
func lockFolder(folder string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the folder is the user's choice
	if err != nil {
		return nil, err
	}
	taken, err := filelock.Take(file)
	if err == nil && !taken {
		err = fmt.Errorf("%w %s: stop it, or give another folder", ErrInUse, folder)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Records calls yield with each record but the header, in their order, and with the
// number of its line. The bytes are valid during the call.
func (j *Journal) Records(yield func(line int, record []byte) error) error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(io.NewSectionReader(j.file, 0, info.Size()))
	lines.Buffer(nil, mostBytes)
	for line := 1; lines.Scan(); line++ {
		if line == 1 {
			continue
		}
		if !json.Valid(lines.Bytes()) {
			return &DamageError{j.path, line, "this is not JSON"}
		}
		if err := yield(line, lines.Bytes()); err != nil {
			return &DamageError{j.path, line, err.Error()}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	return nil
}

// Append writes a record, which is JSON on one line. After an error the journal takes
// no more: a record behind one that is torn would be lost.
func (j *Journal) Append(record []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	j.line = append(append(j.line[:0], record...), '\n')
	if len(j.line) > mostBytes {
		return fmt.Errorf("a record has %d bytes; the journal takes %d", len(j.line), mostBytes)
	}
	if _, err := j.file.Write(j.line); err != nil {
		j.err = fmt.Errorf("the journal %s takes no more records: %w", j.path, err)
	}
	const mostKept = 1 << 20
	if cap(j.line) > mostKept {
		j.line = nil
	}
	return j.err
}

// Rewrite drops the records that are not to be kept, and adds one at the end. The file
// is whole at any time: the new one takes the place of the old.
func (j *Journal) Rewrite(keep func(record []byte) bool, last []byte) error {
	next := j.path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return err
	}
	// A link that somebody else has put there would lead elsewhere.
	file, err := os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600) //nolint:gosec // the folder is the user's choice
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	if err := errors.Join(j.copyTo(out, keep, last), out.Flush()); err != nil {
		return errors.Join(err, file.Close(), os.Remove(next))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.Rename(next, j.path); err != nil {
		return errors.Join(err, file.Close())
	}
	old := j.file
	j.file = file
	return old.Close()
}

// Close closes the journal and lets go of the folder.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = os.ErrClosed
	}
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
		j.lock = nil
	}
	return err
}

func (j *Journal) copyTo(out io.Writer, keep func(record []byte) bool, last []byte) error {
	head, err := json.Marshal(header{kind, format, j.program})
	if err != nil {
		return err
	}
	write := func(record []byte) error {
		_, err := fmt.Fprintf(out, "%s\n", record)
		return err
	}
	if err := write(head); err != nil {
		return err
	}
	err = j.Records(func(_ int, record []byte) error {
		if !keep(record) {
			return nil
		}
		return write(record)
	})
	if err != nil {
		return err
	}
	return write(last)
}

func (j *Journal) open() error {
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	j.file = file
	size, err := j.wholeRecords()
	if err != nil {
		return err
	}
	if err := file.Truncate(size); err != nil {
		return err
	}
	if size > 0 {
		return nil
	}
	text, err := json.Marshal(header{kind, format, j.program})
	if err != nil {
		return err
	}
	return j.Append(text)
}

// wholeRecords checks the header and returns where the last whole record ends.
func (j *Journal) wholeRecords() (size int64, err error) {
	info, err := j.file.Stat()
	if err != nil {
		return 0, err
	}
	r := bufio.NewReader(io.NewSectionReader(j.file, 0, info.Size()))
	first, err := r.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(first) <= 1<<10 && bytes.HasPrefix([]byte(`{"journal":"`+kind), first[:min(len(first), len(`{"journal":"`+kind))]) {
		return 0, nil // the process died while it made the file
	}
	var h header
	switch err := json.Unmarshal(first, &h); {
	case err != nil, h.Journal != kind:
		return 0, &DamageError{j.path, 1, "this is not a journal of jobpoller serve"}
	case h.Format != format:
		return 0, &DamageError{j.path, 1, fmt.Sprintf("format %d, made by jobpoller %s; this version reads format %d", h.Format, h.Program, format)}
	}
	return lastLineEnd(j.file, info.Size())
}

// lastLineEnd is where the last whole line ends.
func lastLineEnd(file io.ReaderAt, size int64) (int64, error) {
	const step = 64 << 10
	buffer := make([]byte, step)
	for end := size; end > 0; {
		start := max(0, end-step)
		piece := buffer[:end-start]
		if _, err := file.ReadAt(piece, start); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
