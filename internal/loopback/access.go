package loopback

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Access is what the owner's other programs need to use a server. It is a secret. Its
// JSON members are a contract.
type Access struct {
	Keys

	// Page is the address of the server's page, with its token; empty for none.
	Page string `json:"page,omitempty"`
}

// AccessFile is a file with the access to a running server, which only its owner can
// read or replace.
type AccessFile struct {
	folder *os.Root
	name   string
}

// SaveAccess writes the access to the server at an address, a host and a port, where
// FindAccess finds it: in the user's runtime folder, or else in the cache folder.
func SaveAccess(address string, a Access) (*AccessFile, error) {
	ForgetAccess(address)
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, base := range accessFolders() {
		folder, err := openAccessFolder(base, true)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		f := &AccessFile{folder, accessName(address)}
		if err := f.write(text); err != nil {
			problems = append(problems, err, f.Remove())
			continue
		}
		return f, nil
	}
	return nil, fmt.Errorf("no folder can keep the keys for you alone; set XDG_RUNTIME_DIR to one that is yours: %w", errors.Join(problems...))
}

// Path is where the file is.
func (f *AccessFile) Path() string { return filepath.Join(f.folder.Name(), f.name) }

// Remove removes the file. Call it while the server still has its port: the file of the
// next one has the same name.
func (f *AccessFile) Remove() error {
	err := f.folder.Remove(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, f.folder.Close())
}

// write writes the file under another name first: nobody reads half of it.
func (f *AccessFile) write(text []byte) error {
	part := f.name + ".part"
	if err := f.folder.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a server that was killed
		return err
	}
	file, err := f.folder.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, accessMode)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return f.folder.Rename(part, f.name)
}

// ForgetAccess removes what a server has left that was killed. Call it with the port: a
// file that is there then is nobody's.
func ForgetAccess(address string) {
	for _, base := range accessFolders() {
		if folder, err := openAccessFolder(base, false); err == nil {
			_ = (&AccessFile{folder, accessName(address)}).Remove() // one that stays is older than the next
		}
	}
}

// FindAccess reads the newest file with the access to the server at an address. A file,
// or a folder, that others can have made or read is refused. The error is
// fs.ErrNotExist if there is none.
func FindAccess(address string) (a Access, err error) {
	err = fs.ErrNotExist
	var newest time.Time
	for _, base := range accessFolders() {
		if !isOwnFolder(base) { // such as that of who started this shell
			continue
		}
		found, written, problem := readAccess(base, accessName(address))
		switch {
		case problem == nil && written.After(newest):
			a, newest, err = found, written, nil
		case problem != nil && !errors.Is(problem, fs.ErrNotExist) && newest.IsZero():
			err = problem
		}
	}
	return a, err
}

const (
	// accessFolder is in the user's runtime or cache folder.
	accessFolder = "jobpoller-serve"
	folderMode   = 0o700
	accessMode   = 0o600
	// others are the bits of all but the owner.
	others = 0o077
	// maxAccess is more than a file has.
	maxAccess = 64 << 10
)

// accessName is the name of the file of an address; a colon is none on Windows.
func accessName(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return strings.NewReplacer(":", "-", "/", "-", `\`, "-", "%", "-").Replace(host) + "-" + port + ".json"
}

// accessFolders are the folders that are the user's alone. The first ends with the
// user's session.
func accessFolders() (all []string) {
	if folder := os.Getenv("XDG_RUNTIME_DIR"); folder != "" {
		all = append(all, folder)
	}
	if folder, err := os.UserCacheDir(); err == nil {
		all = append(all, folder)
	}
	return all
}

// openAccessFolder opens the folder below a base. What it returns is the folder that it
// has looked at, whatever becomes of the name.
func openAccessFolder(base string, create bool) (folder *os.Root, err error) {
	if !filepath.IsAbs(base) {
		return nil, fmt.Errorf("%q is no absolute path", base)
	}
	path := filepath.Join(base, accessFolder)
	if create {
		if err := os.MkdirAll(base, folderMode); err != nil {
			return nil, err
		}
		if !isOwnFolder(base) {
			return nil, fmt.Errorf("%s is another user's", base)
		}
		if err := os.Mkdir(path, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if folder, err = os.OpenRoot(path); err != nil {
		return nil, err
	}
	opened, err := folder.Stat(".")
	switch {
	case err != nil:
	case !named.IsDir() || !os.SameFile(named, opened):
		err = fmt.Errorf("%s is a link: remove it", path)
	default:
		err = checkOwn(path, opened)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder, nil
}

func isOwnFolder(path string) bool {
	info, err := os.Stat(path) //nolint:gosec // the environment is the user's
	return err == nil && isOwn(info)
}

// checkOwn refuses what others may have made, or may read.
func checkOwn(path string, info fs.FileInfo) error {
	switch {
	case !isOwn(info):
		return fmt.Errorf("%s is another user's: remove it, or set XDG_RUNTIME_DIR to a folder of yours", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&others != 0: // where the folder's list of access counts
		return fmt.Errorf("%s has mode %#o, so others can use it: remove it", path, info.Mode().Perm())
	}
	return nil
}

// CheckFolder refuses a folder, or a file or folder of a name in it, that another user has
// made or can change. What is not there is no error.
func CheckFolder(folder string, names ...string) error {
	const changes = 0o022 // others
	for _, name := range append([]string{""}, names...) {
		path, look := filepath.Join(folder, name), os.Lstat
		if name == "" {
			look = os.Stat
		}
		info, err := look(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular() && !info.IsDir():
			return fmt.Errorf("%s is neither a file nor a folder: remove it", path)
		case !isOwn(info):
			return fmt.Errorf("%s is another user's: name a folder of yours", path)
		case runtime.GOOS != "windows" && info.Mode().Perm()&changes != 0:
			return fmt.Errorf("%s has mode %#o, so others can change it: chmod go-w %[1]s", path, info.Mode().Perm())
		}
	}
	return nil
}

// readAccess reads a file, and tells when it was written.
func readAccess(base, name string) (a Access, written time.Time, err error) {
	folder, err := openAccessFolder(base, false)
	if err != nil {
		return a, written, err
	}
	defer folder.Close() //nolint:errcheck // it was only read
	path := filepath.Join(folder.Name(), name)
	named, err := folder.Lstat(name)
	if err != nil {
		return a, written, err
	}
	if !named.Mode().IsRegular() { // to open a pipe would wait
		return a, written, fmt.Errorf("%s is no file: remove it", path)
	}
	file, err := folder.Open(name)
	if err != nil {
		return a, written, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return a, written, err
	}
	if err := checkOwn(path, info); err != nil {
		return a, written, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxAccess))
	if err != nil {
		return a, written, err
	}
	if err := json.Unmarshal(text, &a); err != nil || a.AccessKeyID == "" || a.SecretAccessKey == "" {
		return a, written, fmt.Errorf("%s has no keys of a server: remove it, and start the server again", path)
	}
	return a, info.ModTime(), nil
}
