// Command mutants takes away, one by one, the conditions by which fix and trial refuse a
// change or tell that two runs differ. Of what tests them, something has to fail then.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// mutatedFolders are what has mutants.
func mutatedFolders() []string { return []string{"statemachines/fix", "statemachines/trial"} }

const (
	// testFolders have the tests that must see them.
	testFolders = "statemachines/fix,statemachines/trial,statemachines/edit"
	// conformanceFolder has the suites of make conformance.
	conformanceFolder = "tests/conformance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := check(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// settings are what is tried, by what.
type settings struct {
	only, whole, run, tests, suites, corpus, facts string
	workers                                        int
	list, listed, update                           bool
}

// tries tells whether a mutant is asked for, by its name.
func (o *settings) tries(name string) bool {
	return o.only == "" || slices.ContainsFunc(split(o.only), func(part string) bool { return strings.Contains(name, part) })
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == '|' })
}

// survivorsFile lists the mutants that no test catches, each with the reason: it changes
// nothing, or there is no test yet. It can only become shorter.
const survivorsFile = "tests/mutants/survivors.tsv"

func check(ctx context.Context, args []string) error {
	var o settings
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.StringVar(&o.only, "only", "", "only mutants whose names contain one of these, with | between them")
	flags.StringVar(&o.whole, "whole", "", "files, as fix/edit.go, with | between them: try all conditions of theirs, not only those of what judges")
	flags.StringVar(&o.tests, "tests", testFolders, "the packages whose tests are run")
	flags.StringVar(&o.run, "run", "", "only tests whose names match it, a regular expression")
	flags.StringVar(&o.suites, "suites", "", "suites of tests/conformance to run besides")
	flags.StringVar(&o.corpus, "corpus", "", "the folder of the public suites")
	flags.StringVar(&o.facts, "facts", "", "the folder of measured facts")
	flags.IntVar(&o.workers, "workers", 2, "how many mutants are tried at once") //nolint:mnd // most tests use one core
	flags.BoolVar(&o.list, "list", false, "list the mutants")
	flags.BoolVar(&o.listed, "listed", false, "only the mutants of "+survivorsFile)
	flags.BoolVar(&o.update, "update", false, "strike from "+survivorsFile+" what is caught, or gone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	survivors, err := readSurvivors(survivorsFile)
	if err != nil {
		return err
	}
	var sources []source
	var names []string
	for _, folder := range mutatedFolders() {
		all, err := list(folder, split(o.whole))
		if err != nil {
			return err
		}
		sources = append(sources, all...)
		for _, s := range all {
			for _, m := range s.mutants {
				if _, listed := survivors[m.name]; o.tries(m.name) && (listed || !o.listed) {
					names = append(names, m.name)
				}
			}
		}
	}
	if o.list {
		fmt.Fprintln(os.Stdout, strings.Join(names, "\n"))
		return nil
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	suites, err := prepare(ctx, dir, sources, o)
	if err != nil {
		return err
	}
	return report(ctx, names, suites, survivors, o)
}

// prepare builds the tests with all mutants in them, and finds what reaches which.
func prepare(ctx context.Context, dir string, sources []source, o settings) ([]*suite, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folders := strings.Split(o.tests, ",")
	packages := folders
	if o.suites != "" {
		packages = append(slices.Clip(packages), conformanceFolder)
	}
	if err := build(ctx, root, dir, sources, packages); err != nil {
		return nil, err
	}
	var suites []*suite
	for _, folder := range folders {
		all, err := unit(ctx, root, dir, folder, o.run)
		if err != nil {
			return nil, err
		}
		suites = append(suites, all...)
	}
	for name := range strings.FieldsFuncSeq(o.suites, func(r rune) bool { return r == ',' }) {
		suites = append(suites, &suite{name: conformanceFolder + " -suite " + name, folder: filepath.Join(root, conformanceFolder), command: []string{
			binary(dir, conformanceFolder), "-test.run", "^TestSuites$", "-suite", name, "-corpus", o.corpus, "-facts", o.facts,
		}})
	}
	return suites, trace(ctx, dir, suites, o.workers)
}

// report tries the mutants, and says which suite catches how many. It is an error if one
// survives that is not listed, or if one that is listed is caught.
func report(ctx context.Context, names []string, suites []*suite, survivors map[string]string, o settings) error {
	by := map[string]int{}
	gone := maps.Clone(survivors)
	var wrong, left []string
	caught := 0
	catch(ctx, names, suites, o.workers, func(name string, s *suite) {
		if s != nil {
			caught++
			by[s.name]++
			return
		}
		delete(gone, name)
		if reason, listed := survivors[name]; listed {
			left = append(left, name+"\t"+reason)
			return
		}
		wrong = append(wrong, "survives: "+name)
		fmt.Fprintln(os.Stdout, "survives: "+name)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	maps.DeleteFunc(gone, func(name, _ string) bool { return !o.tries(name) })
	fmt.Fprintf(os.Stdout, "%d mutants, %d caught:\n", len(names), caught)
	for _, name := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(by[b]-by[a], cmp.Compare(a, b)) }) {
		fmt.Fprintf(os.Stdout, "%6d %s\n", by[name], name)
	}
	if o.update {
		for name, reason := range survivors {
			if !o.tries(name) {
				left = append(left, name+"\t"+reason)
			}
		}
		slices.Sort(left)
		return os.WriteFile(survivorsFile, []byte(strings.Join(append([]string{"mutant\treason"}, left...), "\n")+"\n"), 0o600)
	}
	for name := range gone {
		wrong = append(wrong, "caught or gone, strike it with -update: "+name)
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// readSurvivors reads the list, each with its reason.
func readSurvivors(file string) (map[string]string, error) {
	f, err := os.Open(file) //nolint:gosec // a file of this repository
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	survivors := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Scan() // the heading
	for lines.Scan() {
		name, reason, found := strings.Cut(lines.Text(), "\t")
		if !found || reason == "" {
			return nil, fmt.Errorf("%s: %q has no reason", file, lines.Text())
		}
		survivors[name] = reason
	}
	return survivors, lines.Err()
}
