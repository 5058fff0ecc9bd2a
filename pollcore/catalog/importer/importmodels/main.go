// Command importmodels makes the data of package models out of botocore. It is
// for those who maintain the project: make catalog runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/jobpoller/jobpoller/pollcore/catalog/importer"
)

func main() {
	botocore := flag.String("botocore", "", "folder \"data\" of botocore")
	tables := flag.String("tables", "", "folder of the tables")
	out := flag.String("out", "", "folder of the models")
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(os.Stdout, *botocore, *tables, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "importmodels:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, botocore, tables, out string, check bool) error {
	m, err := importer.ImportModels(os.DirFS(botocore), os.DirFS(tables))
	if err != nil {
		return err
	}
	apply, done := m.Write, "written to"
	if check {
		apply, done = m.Compare, "compared with"
	}
	differences, err := apply(out)
	if err != nil {
		return err
	}
	operations := 0
	for _, s := range m.Services {
		operations += len(s.Operations)
	}
	for _, d := range differences {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "%d services with %d operations %s %s: %d files differed\n", len(m.Services), operations, done, out, len(differences))
	if err != nil {
		return err
	}
	if check && len(differences) > 0 {
		return fmt.Errorf("%s is not what the models give: run make catalog", out)
	}
	return nil
}
