// Command makecatalog makes the data of the packages catalog and models from
// botocore and from the tables. It is for those who maintain the project: make
// catalog runs it in the project's folder.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
)

func main() {
	botocore := flag.String("botocore", "", "botocore's folder \"data\"")
	project := flag.String("project", ".", "the project's folder, with the tables and the data")
	check := flag.Bool("check", false, "compare the data, and write nothing")
	flag.Parse()
	if err := run(os.Stdout, *botocore, *project, *check); err != nil {
		fmt.Fprintln(os.Stderr, "makecatalog:", err)
		os.Exit(1)
	}
}

// errDifferent means that the data is not what the models and tables give.
var errDifferent = errors.New("the data is not what the models and tables give: run make catalog")

// made is what is written to a folder.
type made interface {
	Write(folder string) ([]catalogimport.Difference, error)
	Compare(folder string) ([]catalogimport.Difference, error)
}

// run makes the data, or compares it. A wrong folder has wrong models or none, so
// that is an error too.
func run(w io.Writer, botocore, project string, check bool) error {
	models, tables := os.DirFS(botocore), os.DirFS(filepath.Join(project, "pollcore/catalog/sources"))
	entries, err := catalogimport.Import(catalogimport.Sources{Botocore: models, Tables: tables})
	if err != nil {
		return err
	}
	operations, err := catalogimport.ImportModels(models, tables)
	if err != nil {
		return err
	}
	different := false
	for _, part := range []struct {
		made
		folder  string
		content string
	}{
		{entries, "pollcore/catalog/data", entryCounts(entries)},
		{operations, "pollcore/catalog/models/data", operationCounts(operations)},
	} {
		apply, done := part.Write, "written to"
		if check {
			apply, done = part.Compare, "compared with"
		}
		differences, err := apply(filepath.Join(project, part.folder))
		if err != nil {
			return err
		}
		different = different || len(differences) > 0
		for _, d := range differences {
			if _, err := fmt.Fprintln(w, d); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "%s %s %s: %d files differed\n", part.content, done, part.folder, len(differences)); err != nil {
			return err
		}
	}
	if check && different {
		return errDifferent
	}
	return nil
}

func entryCounts(c *catalogimport.Catalogue) string {
	waiters, jobs := 0, 0
	for _, s := range c.Services {
		waiters, jobs = waiters+len(s.Waiters), jobs+len(s.Jobs)
	}
	return fmt.Sprintf("%d services with %d waiters and %d jobs", len(c.Services), waiters, jobs)
}

func operationCounts(m *catalogimport.Models) string {
	operations := 0
	for _, s := range m.Services {
		operations += len(s.Operations)
	}
	return fmt.Sprintf("%d services with %d operations", len(m.Services), operations)
}
