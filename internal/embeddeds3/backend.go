package embeddeds3

import (
	"maps"
	"slices"
	"sync"
)

// backend keeps the objects. An update is atomic. Its errors are failures, or
// those of the file. What it returns and takes is shared and not changed.
type backend interface {
	// buckets are the names, sorted.
	buckets() ([]string, error)
	// createBucket tells whether the bucket is new.
	createBucket(name string) (created bool, err error)
	deleteBucket(name string) error
	// get returns nil if there is no such object.
	get(bucket, key string) (*object, error)
	// update stores what change makes of the object that is there, or of nil;
	// nil deletes it.
	update(bucket, key string, change func(stored *object) (*object, error)) error
	// scan visits the objects from a key on in the order of their keys, until
	// visit returns false.
	scan(bucket, from string, visit func(key string, o *object) bool) error
	close() error
}

func openBackend(dir string) (backend, error) {
	if dir == "" {
		return &memory{}, nil
	}
	return openFolder(dir)
}

var (
	errNoBucket = failMissing("NoSuchBucket", "The specified bucket does not exist.")
	errNotEmpty = &failure{Status: 409, Code: "BucketNotEmpty", Message: "The bucket you tried to delete is not empty."}
)

// memory is a backend that ends with the process.
type memory struct {
	mu      sync.RWMutex
	objects map[string]*shelf
}

// shelf is a bucket in memory.
type shelf struct {
	keys    []string // sorted
	objects map[string]*object
}

func (m *memory) buckets() ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.objects)), nil
}

func (m *memory) createBucket(name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects[name] != nil {
		return false, nil
	}
	if m.objects == nil {
		m.objects = map[string]*shelf{}
	}
	m.objects[name] = &shelf{objects: map[string]*object{}}
	return true, nil
}

func (m *memory) deleteBucket(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch b := m.objects[name]; {
	case b == nil:
		return errNoBucket
	case len(b.keys) > 0:
		return errNotEmpty
	}
	delete(m.objects, name)
	return nil
}

func (m *memory) get(bucket, key string) (*object, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b := m.objects[bucket]
	if b == nil {
		return nil, errNoBucket
	}
	return b.objects[key], nil
}

func (m *memory) update(bucket, key string, change func(*object) (*object, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.objects[bucket]
	if b == nil {
		return errNoBucket
	}
	stored := b.objects[key]
	changed, err := change(stored)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearch(b.keys, key)
	switch {
	case changed == nil && found:
		b.keys = slices.Delete(b.keys, i, i+1)
		delete(b.objects, key)
	case changed == nil:
	default:
		if !found {
			b.keys = slices.Insert(b.keys, i, key)
		}
		b.objects[key] = changed
	}
	return nil
}

func (m *memory) scan(bucket, from string, visit func(string, *object) bool) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b := m.objects[bucket]
	if b == nil {
		return errNoBucket
	}
	i, _ := slices.BinarySearch(b.keys, from)
	for _, key := range b.keys[i:] {
		if !visit(key, b.objects[key]) {
			break
		}
	}
	return nil
}

func (m *memory) close() error { return nil }
