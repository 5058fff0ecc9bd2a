package serve

import (
	"path/filepath"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
)

// recordServer is the S3 server of the start records of functions.
type recordServer struct {
	drawn  loopback.Keys
	server *embeddeds3.Server // nil: not started
}

// start starts the server: in a folder of data, or in memory.
func (r *recordServer) start(data string, keys loopback.Keys) (err error) {
	o := embeddeds3.Options{Known: []loopback.Keys{keys}}
	if data != "" {
		o.Dir = filepath.Join(data, localloop.RecordsFolder)
	}
	if r.server, err = embeddeds3.Start(o); err != nil {
		return err
	}
	return r.server.CreateBucket(localloop.Bucket)
}

func (r *recordServer) close() error {
	if r.server == nil {
		return nil
	}
	return r.server.Close()
}
