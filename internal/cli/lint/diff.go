package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/gittree"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/lint/baseline"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// baseDiff compares what lint finds with what it finds in the files of a commit.
type baseDiff struct{ tree *gittree.Tree }

// openDiff finds the commit of --diff. It must be closed.
func (o *options) openDiff(c *cobra.Command, names []string) (*baseDiff, error) {
	tree, err := gittree.Open(c.Context(), o.diff)
	switch {
	case c.Context().Err() != nil:
		return nil, c.Context().Err()
	case err != nil:
		return nil, kit.Usage("--diff %s: %w", o.diff, err)
	}
	for _, name := range names {
		if _, inside := tree.Path(name); !inside {
			return nil, errors.Join(kit.Usage("--diff: %s is outside of the git repository %s: run lint where it is", name, tree.Top()), tree.Close())
		}
	}
	return &baseDiff{tree}, nil
}

// namesNow are those of some names that the working folder has: what the branch has deleted is compared all the same. A name
// that is in neither stays, as wrong usage.
func (o *options) namesNow(c *cobra.Command, names []string) ([]string, error) {
	fileOf := func(name string) string {
		file, _, _ := strings.Cut(name, "#") // of a state machine of a template
		return file
	}
	isGone := func(name string) bool {
		matches, _ := filepath.Glob(filepath.FromSlash(name)) // a pattern that is none matches nothing
		return len(matches) == 0 && !isThere(name) && !isThere(fileOf(name))
	}
	if o.diff == "" || !slices.ContainsFunc(names, isGone) {
		return names, nil
	}
	d, err := o.openDiff(c, names)
	if err != nil {
		return nil, err
	}
	now := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		matches, _ := fs.Glob(d.tree, filepath.ToSlash(fileOf(name)))
		return isGone(name) && len(matches) > 0
	})
	return now, d.close(c.Context())
}

// atBase are the options of lint for the files of the commit. The settings of today count there,
// too: what a change of the config file finds is not new.
func (o *options) atBase(tree *gittree.Tree) options {
	before := *o
	before.files, before.unused = tree, maps.Clone(o.said)
	if o.tables != nil {
		before.tables = newLoopTables()
	}
	return before
}

// close ends the reading. It returns what kept git from giving a file.
func (d *baseDiff) close(ctx context.Context) error {
	err := errors.Join(d.tree.Err(), d.tree.Close())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return kit.Usage("--diff %s: %w", d.tree.Base, err)
	}
	return nil
}

// warnOfModules says why files in submodules are not compared.
func (d *baseDiff) warnOfModules(c *cobra.Command, files []string) {
	met := map[string]bool{}
	for _, file := range files {
		if module := d.tree.Module(file); module != "" && !met[module] {
			met[module] = true
			terminal.Fprintf(c.ErrOrStderr(), "warning: --diff %s: the submodule %s is not compared: %v\n", d.tree.Base, module, d.tree.Unread[module])
		}
	}
}

// comparable returns the findings that are in no submodule that the commit has otherwise.
func (d *baseDiff) comparable(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return d.tree.Module(f.file) != "" })
}

// diffUse is how findings differ from those of the commit, for the summary.
type diffUse struct {
	base               string
	stay, gone, unread int // unread: of definitions that cannot be read now
	apart              int // findings in submodules that the commit has otherwise
}

func (u diffUse) String() string {
	if u.base == "" {
		return ""
	}
	verb := map[bool]string{true: "stays", false: "stay"}[u.stay == 1]
	text := fmt.Sprintf("; %s of %s %s", kit.Plural(u.stay, "finding"), u.base, verb)
	if u.gone > 0 {
		text += fmt.Sprintf(", %s gone", are(u.gone))
	}
	if u.unread > 0 {
		text += fmt.Sprintf(", %s not compared", are(u.unread))
	}
	if u.apart > 0 {
		text += fmt.Sprintf("; %s in submodules %s not compared", kit.Plural(u.apart, "finding"), map[bool]string{true: "is", false: "are"}[u.apart == 1])
	}
	return text
}

// baseFindings are what lint finds at the commit, with the loops there, under the names that the
// files have now.
type baseFindings struct {
	found  []Finding
	tables *loopTables
	diff   *baseDiff
}

// lintBase lints the files of the commit.
func (o *options) lintBase(c *cobra.Command, names []string) (*baseFindings, error) {
	d, err := o.openDiff(c, names)
	if err != nil {
		return nil, err
	}
	before := o.atBase(d.tree)
	read, _ := lintFiles(c, names, before) // nothing was found in what could not be read
	found, _ := splitIgnored(read.found)
	for i := range found {
		f := &found[i]
		f.file, f.of = d.tree.NameNow(f.file), f.of.renamed(d.tree.NameNow)
	}
	before.tables.rename(d.tree)
	return &baseFindings{found, before.tables, d}, d.close(c.Context())
}

// place is what makes findings of the two the same: the key of a baseline, and what they are about. A status more in a
// finding is another finding.
type place struct {
	baseline.Key

	about string
}

func placeOf(f Finding) place {
	return place{f.entry(homeFile).Key(), strings.Join(f.subjects, "\n")}
}

// readerPlace is the place of a finding in its state machine, whose definition may have another file now.
func readerPlace(f Finding) place {
	p := placeOf(f)
	p.File, p.Pointer = f.of.String(), baseline.Finding{Pointer: f.Problem.Pointer}.Key().Pointer
	return p
}

// newSince returns the findings that are not among those of before. IsUnread tells whether lint
// could not read what another finding is in.
func newSince(base string, found, before []Finding, isUnread func(Finding) bool) ([]Finding, diffUse) {
	gone := notAmong(before, found)
	use := diffUse{base: base, stay: len(before) - len(gone)}
	for _, f := range gone {
		if isUnread(f) {
			use.unread++
		} else {
			use.gone++
		}
	}
	return notAmong(found, before), use
}

// notAmong returns the findings that others do not have: in the same place, or in the same state machine.
func notAmong(found, others []Finding) []Finding {
	var places, readers baseline.Known[place]
	for _, f := range others {
		places.Add(f.of.String(), placeOf(f))
		readers.Add("", readerPlace(f))
	}
	left := []Finding{}
	for _, f := range found {
		if places.Take(f.of.String(), placeOf(f)) {
			readers.Take("", readerPlace(f))
		} else {
			left = append(left, f)
		}
	}
	return slices.DeleteFunc(left, func(f Finding) bool { return f.of != seat{} && readers.Take("", readerPlace(f)) })
}

// from says where definitions are read.
func (o *options) from(c *cobra.Command) (source.Options, error) {
	values, err := kit.Substitutions(o.substitutes).Values()
	return source.Options{Values: values, Stdin: c.InOrStdin(), Fetch: o.aws.Fetch, FS: o.files}, err
}
