package bench_test

import (
	"io/fs"
	"os"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var catalogPairs = []pair{
	{name: "catalog/Lookup of one waiter/all services", ours: waiterLookedUp, peer: allServicesRead, bound: 10, allocs: 10_000},
}

// catalogFiles are the files of the catalogue in memory, as a program has them.
var catalogFiles = sync.OnceValues(func() (fs.FS, error) {
	files, folder := fstest.MapFS{}, os.DirFS("../../pollcore/catalog/data")
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		files[name] = &fstest.MapFile{Data: text}
		return err
	})
	return files, err
})

// waiterLookedUp is what a program pays that uses one waiter.
func waiterLookedUp(b *testing.B) {
	files, err := catalogFiles()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Open(files).Lookup("dynamodb", "ExportCompleted"); err != nil {
			b.Fatal(err)
		}
	}
}

// allServicesRead is what it would pay if the catalogue were one file.
func allServicesRead(b *testing.B) {
	files, err := catalogFiles()
	require.NoError(b, err)
	for b.Loop() {
		c := catalog.Open(files)
		list, err := c.List()
		if err != nil {
			b.Fatal(err)
		}
		for _, service := range list {
			if _, err := c.Service(service.Key); err != nil {
				b.Fatal(err)
			}
		}
	}
}
