package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/importer"
)

// importOptions are the flags of "jobpoller catalog import".
type importOptions struct {
	botocore string
	smithy   []string
	tables   string
	out      string
	check    bool
	output   string
}

// newCatalogCommand is the parent of what works on the catalogue's own data.
func newCatalogCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Make a catalogue of waiters and jobs",
		Long:  "Catalog has the commands that make the data of the catalogue.",
		Example: `  jobpoller catalog import --smithy models/ --out waiters
  jobpoller list --catalog waiters`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usage("catalog needs a command: import"+helpHint, "jobpoller catalog")
		},
	}
	c.AddCommand(newImportCommand())
	return c
}

func newImportCommand() *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import (--botocore folder | --smithy model.json)... --out folder",
		Short: "Make a catalogue from service models",
		Long: `Import makes a catalogue of waiters and jobs: an index and a JSON file for each
service that has any. It reads botocore's folder "data" (of each service the
latest version), or Smithy models in the JSON AST, or both: then operations and
shapes are botocore's, and a waiter is the Smithy model's where both have it.

A folder of --smithy stands for all .json files in it. --tables is a folder of
tables kept by hand, with the jobs and the names of services; its form is in
docs/reference/catalog.md. Without it there are no jobs, and names follow the rule of the
SDKs.

--out must be a catalogue, empty or missing. Files that are right stay as they
are, and those of services that are gone are removed. With --check nothing is
written: the differences are listed.

Exit codes: 0 done, or no difference; 1 there are differences; 2 wrong usage, or
a model or table that is wrong.`,
		Example: `  jobpoller catalog import --botocore botocore/data --tables pollcore/catalog/sources --out pollcore/catalog/data
  jobpoller catalog import --smithy models/ --out waiters -o json
  jobpoller catalog import --smithy orders.json --out waiters --check`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runImport(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.botocore, "botocore", "", "folder \"data\" of botocore")
	f.StringArrayVar(&o.smithy, "smithy", nil, "Smithy model, or folder of models; may be given more than once")
	f.StringVar(&o.tables, "tables", "", "folder of the tables")
	f.StringVar(&o.out, "out", "", "folder of the catalogue")
	f.BoolVar(&o.check, "check", false, "compare instead of writing")
	for _, flag := range []string{"botocore", "tables", "out"} {
		must(c.MarkFlagDirname(flag))
	}
	addOutput(c, &o.output)
	return c
}

// validate reports what is wrong with the flags, all at once.
func (o *importOptions) validate() error {
	problems := []error{checkOutput(o.output)}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.botocore == "" && len(o.smithy) == 0 {
		report("import needs --botocore or --smithy")
	}
	if o.out == "" {
		report("import needs --out")
	}
	for _, f := range []struct{ flag, folder string }{{"botocore", o.botocore}, {"tables", o.tables}} {
		if info, err := os.Stat(f.folder); f.folder != "" && err != nil {
			report("--%s: %w", f.flag, err)
		} else if f.folder != "" && !info.IsDir() {
			report("--%s: %s is no folder", f.flag, f.folder)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return usage("%w", err)
	}
	return nil
}

// importSummary is the outcome of an import. Its JSON members are a contract:
// see docs/reference/json.md.
type importSummary struct {
	Services int                   `json:"services"`
	Waiters  int                   `json:"waiters"`
	Jobs     int                   `json:"jobs"`
	Bytes    int                   `json:"bytes"`
	Written  bool                  `json:"written"`
	Changes  []importer.Difference `json:"changes"`
}

func runImport(c *cobra.Command, o importOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	sources, err := o.sources()
	if err != nil {
		return err
	}
	terminal.Fprintf(c.ErrOrStderr(), "%s\n", "reading the models")
	catalogue, err := importer.Import(sources)
	if err != nil {
		return usage("%w", err)
	}
	summary := importSummary{Services: len(catalogue.Services), Written: !o.check}
	for _, s := range catalogue.Services {
		summary.Waiters += len(s.Waiters)
		summary.Jobs += len(s.Jobs)
	}
	for _, text := range catalogue.Files() {
		summary.Bytes += len(text)
	}
	apply := catalogue.Write
	if o.check {
		apply = catalogue.Compare
	}
	changes, err := apply(o.out)
	if errors.Is(err, importer.ErrNotCatalogue) {
		return usage("--out: %w; name a catalogue, or a folder that is empty or missing", err)
	} else if err != nil {
		return &exitError{exitFailed, err}
	}
	summary.Changes = append([]importer.Difference{}, changes...)
	if err := printImport(c, o, summary); err != nil {
		return &exitError{exitFailed, err}
	}
	if o.check && len(changes) > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func printImport(c *cobra.Command, o importOptions, s importSummary) error {
	if o.output == "json" {
		return writeJSON(c.OutOrStdout(), s)
	}
	var b strings.Builder
	for _, change := range s.Changes {
		terminal.Fprintf(&b, "%s\n", change)
	}
	done := "written to"
	if o.check {
		done = "compared with"
	}
	terminal.Fprintf(&b, "%s, %s and %s (%d bytes) %s %s: %s differed\n",
		plural(s.Services, "service"), plural(s.Waiters, "waiter"), plural(s.Jobs, "job"), s.Bytes, done, o.out, plural(len(s.Changes), "file"))
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

// sources opens what the flags name.
func (o *importOptions) sources() (importer.Sources, error) {
	var s importer.Sources
	if o.botocore != "" {
		s.Botocore = os.DirFS(o.botocore)
	}
	if o.tables != "" {
		s.Tables = os.DirFS(o.tables)
	}
	for _, name := range o.smithy {
		before := len(s.Smithy)
		err := filepath.WalkDir(name, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".json" {
				return err
			}
			text, err := os.ReadFile(name) //nolint:gosec // the user names the file
			s.Smithy = append(s.Smithy, importer.File{Name: name, Text: text})
			return err
		})
		if err != nil {
			return s, usage("--smithy: %w", err)
		}
		if len(s.Smithy) == before {
			return s, usage("--smithy: there is no .json file in %s", name)
		}
	}
	return s, nil
}
