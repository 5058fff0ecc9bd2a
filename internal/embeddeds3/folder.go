package embeddeds3

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const fileName = "s3.bolt"

// lockTimeout is how long to wait for another process to release the folder.
const lockTimeout = time.Second

// The file holds one bolt bucket for each S3 bucket, in which objects lie as JSON
// under their keys, and one that says which form that is. No S3 bucket can have
// its name.
var (
	formatBucket = []byte("jobpoller:format")
	formatKey    = []byte("version")
	format       = []byte("1")
)

// folder is a backend that keeps its objects in a file.
type folder struct{ db *bbolt.DB }

// IsFolder tells whether a folder holds the objects of a server.
func IsFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileName))
	return err == nil
}

func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder for S3 objects cannot be created: %w", err)
	}
	file := filepath.Join(dir, fileName)
	db, err := openFile(file)
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("folder %s is in use by another process, such as jobpoller serve: stop it, or choose another folder", dir)
	case err != nil:
		return nil, failToRead(file, err)
	}
	err = db.Update(markFormat)
	if err == nil {
		// The objects hold inputs and answers, whoever made the file.
		err = os.Chmod(file, 0o600)
	}
	if err != nil {
		return nil, errors.Join(failToRead(file, err), db.Close())
	}
	return &folder{db}, nil
}

// openFile opens a file of which all can be read. bbolt panics at a damaged one, and
// what was cut off faults: that must not come later, in the middle of a run.
func openFile(file string) (db *bbolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("the file is damaged (%v)", found)
		}
		if err != nil && db != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if db, err = bbolt.Open(file, 0o600, &bbolt.Options{Timeout: lockTimeout}); err != nil {
		return nil, err
	}
	return db, db.View(func(tx *bbolt.Tx) error {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if tx.Size() > info.Size() {
			return fmt.Errorf("the file is damaged (it has %d bytes, and had %d)", info.Size(), tx.Size())
		}
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(key, text []byte) error {
				if !json.Valid(text) {
					return fmt.Errorf("the file is damaged (object %q)", key)
				}
				return nil
			})
		})
	})
}

func failToRead(file string, err error) error {
	return fmt.Errorf("S3 objects in %s cannot be read: %w; choose another folder, or delete the file if its content is not needed", file, err)
}

// markFormat notes the form in a new file, and refuses a file of another.
func markFormat(tx *bbolt.Tx) error {
	if b := tx.Bucket(formatBucket); b != nil {
		if found := b.Get(formatKey); string(found) != string(format) {
			return fmt.Errorf("a later version of jobpoller wrote them (format %q, expected %q)", found, format)
		}
		return nil
	}
	if name, _ := tx.Cursor().First(); name != nil {
		return errors.New("an earlier version of jobpoller wrote them, or another program")
	}
	b, err := tx.CreateBucket(formatBucket)
	if err != nil {
		return err
	}
	return b.Put(formatKey, format)
}

func (f *folder) buckets() (names []string, err error) {
	return names, f.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if string(name) != string(formatBucket) {
				names = append(names, string(name))
			}
			return nil
		})
	})
}

func (f *folder) createBucket(name string) (created bool, err error) {
	return created, f.db.Update(func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte(name)) != nil {
			return nil
		}
		created = true
		_, err := tx.CreateBucket([]byte(name))
		return err
	})
}

func (f *folder) deleteBucket(name string) error {
	return f.db.Update(func(tx *bbolt.Tx) error {
		b, err := bucketOf(tx, name)
		if err != nil {
			return err
		}
		if key, _ := b.Cursor().First(); key != nil {
			return errNotEmpty
		}
		return tx.DeleteBucket([]byte(name))
	})
}

func (f *folder) get(bucket, key string) (o *object, err error) {
	return o, f.db.View(func(tx *bbolt.Tx) error {
		b, err := bucketOf(tx, bucket)
		if err != nil {
			return err
		}
		o, err = readObject(key, b.Get([]byte(key)))
		return err
	})
}

func (f *folder) update(bucket, key string, change func(*object) (*object, error)) error {
	return f.db.Update(func(tx *bbolt.Tx) error {
		b, err := bucketOf(tx, bucket)
		if err != nil {
			return err
		}
		stored, err := readObject(key, b.Get([]byte(key)))
		if err != nil {
			return err
		}
		changed, err := change(stored)
		if err != nil {
			return err
		}
		if changed == nil {
			return b.Delete([]byte(key))
		}
		text, err := json.Marshal(changed)
		if err != nil {
			return err
		}
		return b.Put([]byte(key), text)
	})
}

func (f *folder) scan(bucket, from string, visit func(string, *object) bool) error {
	return f.db.View(func(tx *bbolt.Tx) error {
		b, err := bucketOf(tx, bucket)
		if err != nil {
			return err
		}
		c := b.Cursor()
		for key, text := c.Seek([]byte(from)); key != nil; key, text = c.Next() {
			o, err := readObject(string(key), text)
			if err != nil {
				return err
			}
			if !visit(string(key), o) {
				break
			}
		}
		return nil
	})
}

func (f *folder) close() error { return f.db.Close() }

// bucketOf returns the bucket of a name that may be any text of a client's.
func bucketOf(tx *bbolt.Tx, name string) (*bbolt.Bucket, error) {
	if b := tx.Bucket([]byte(name)); b != nil && name != string(formatBucket) {
		return b, nil
	}
	return nil, errNoBucket
}

// readObject copies an object out of the file's memory mapping; it returns nil
// for no text.
func readObject(key string, text []byte) (*object, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("object %q in the file: %w", key, err)
	}
	return &o, nil
}
