package catalogimport_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// FuzzImport puts a text in the place of one of the sources: nothing panics,
// and what is imported is a catalogue in which everything can be looked up.
func FuzzImport(f *testing.F) {
	data, tables, models := folder(f, "botocore"), folder(f, "tables"), smithyModels(f)
	delete(tables, "statuses.json")
	names := slices.Sorted(maps.Keys(data))
	for i, name := range names {
		f.Add(uint8(i), data[name].Data)
	}
	for i, name := range slices.Sorted(maps.Keys(tables)) {
		f.Add(uint8(len(names)+i), tables[name].Data)
	}
	for i, m := range models {
		f.Add(uint8(len(names)+len(tables)+i), m.Text)
	}
	for i := range names {
		f.Add(uint8(i), []byte(`{"metadata":{"protocols":["json"]},"operations":{"A":null},"shapes":{"A":null},"waiters":{},"version":2,"partitions":[null],"rules":[{}]}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		sources := catalogimport.Sources{Botocore: maps.Clone(data), Tables: maps.Clone(tables)}
		switch i := int(which); {
		case i < len(names):
			changed := maps.Clone(data)
			changed[names[i]] = file(text)
			sources.Botocore = changed
		case i < len(names)+len(tables):
			changed := maps.Clone(tables)
			changed[slices.Sorted(maps.Keys(tables))[i-len(names)]] = file(text)
			sources = catalogimport.Sources{Smithy: models, Tables: changed}
		default:
			sources = catalogimport.Sources{Smithy: []catalogimport.File{{Name: "m.json", Text: text}}}
		}
		if sources.Botocore != nil {
			if m, err := catalogimport.ImportModels(sources.Botocore, sources.Tables); err == nil {
				requireReadable(t, m)
			}
		}
		c, err := catalogimport.Import(sources)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		requireWhole(t, c)
	})
}

// requireReadable reads every service of the models.
func requireReadable(t testing.TB, m *catalogimport.Models) {
	t.Helper()
	opened := catalog.Open(fs.FS(mapFS(m.Files())))
	for _, s := range m.Services {
		_, err := opened.Service(s.Key)
		require.NoError(t, err)
	}
}

// requireWhole looks up everything in a catalogue.
func requireWhole(t testing.TB, c *catalogimport.Catalogue) {
	t.Helper()
	files := fs.FS(mapFS(c.Files()))
	opened := catalog.Open(files)
	list, err := opened.List()
	require.NoError(t, err)
	require.Len(t, list, len(c.Services))
	for _, l := range list {
		for _, e := range l.Entries {
			found, err := opened.Lookup(l.Key, e.Name)
			require.NoError(t, err)
			_, err = json.Marshal(found.Waiter)
			require.NoError(t, err)
		}
	}
}
