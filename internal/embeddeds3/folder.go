package embeddeds3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3bolt"
	"go.etcd.io/bbolt"
)

const fileName = "s3.bolt"

// lockTimeout is how long to wait for another process to release the folder.
const lockTimeout = time.Second

// folder is a backend that keeps its objects in a file.
//
// The objects that s3bolt returns point into the file's memory mapping after
// the transaction that read them has ended, when a write may reuse or unmap
// those pages. So folder copies what it reads, and lets no write happen between.
type folder struct {
	gofakes3.Backend
	db *bbolt.DB
	mu sync.RWMutex // held for reading while objects point into the mapping
}

func openFolder(dir string, clock gofakes3.TimeSource) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder for S3 objects cannot be created: %w", err)
	}
	file := filepath.Join(dir, fileName)
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{Timeout: lockTimeout})
	switch {
	case errors.Is(err, bbolt.ErrTimeout):
		return nil, fmt.Errorf("folder %s is in use by another process; stop it or choose another folder", dir)
	case err != nil:
		return nil, fmt.Errorf("S3 objects in %s cannot be read: %w; choose another folder, or delete the file if its content is not needed", file, err)
	}
	return &folder{Backend: s3bolt.New(db, s3bolt.WithTimeSource(clock)), db: db}, nil
}

func (f *folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.db.Close()
}

func (f *folder) GetObject(bucket, key string, span *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	object, err := f.Backend.GetObject(bucket, key, span)
	if err != nil {
		return nil, err
	}
	return detach(object)
}

func (f *folder) HeadObject(bucket, key string) (*gofakes3.Object, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	object, err := f.Backend.HeadObject(bucket, key)
	if err != nil {
		return nil, err
	}
	return detach(object)
}

// detach copies what of an object points into the mapping.
func detach(object *gofakes3.Object) (*gofakes3.Object, error) {
	contents, err := io.ReadAll(object.Contents)
	if err != nil {
		return nil, err
	}
	object.Contents = io.NopCloser(bytes.NewReader(contents))
	object.Hash = bytes.Clone(object.Hash)
	return object, nil
}

func (f *folder) PutObject(
	bucket, key string, meta map[string]string, input io.Reader, size int64, conditions *gofakes3.PutConditions,
) (gofakes3.PutObjectResult, error) {
	// Not under the lock: the client decides how long this takes.
	contents, err := gofakes3.ReadAll(input, size)
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Backend.PutObject(bucket, key, meta, bytes.NewReader(contents), size, conditions)
}

func (f *folder) CopyObject(srcBucket, srcKey, dstBucket, dstKey string, meta map[string]string) (gofakes3.CopyObjectResult, error) {
	return gofakes3.CopyObject(f, srcBucket, srcKey, dstBucket, dstKey, meta)
}

func (f *folder) DeleteObject(bucket, key string) (gofakes3.ObjectDeleteResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Backend.DeleteObject(bucket, key)
}

func (f *folder) DeleteMulti(bucket string, keys ...string) (gofakes3.MultiDeleteResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Backend.DeleteMulti(bucket, keys...)
}

func (f *folder) CreateBucket(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Backend.CreateBucket(name)
}

func (f *folder) DeleteBucket(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Backend.DeleteBucket(name)
}

func (f *folder) ForceDeleteBucket(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Backend.ForceDeleteBucket(name)
}
