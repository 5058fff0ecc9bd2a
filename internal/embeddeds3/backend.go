package embeddeds3

import (
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// backend keeps the objects. After Close they cannot be read if they are in a
// folder.
type backend interface {
	gofakes3.Backend
	Close() error
}

func openBackend(dir string, clock gofakes3.TimeSource) (backend, error) {
	if dir == "" {
		return memory{s3mem.New(s3mem.WithTimeSource(clock))}, nil
	}
	return openFolder(dir, clock)
}

type memory struct{ *s3mem.Backend }

func (memory) Close() error { return nil }
