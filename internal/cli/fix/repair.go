package fix

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// repaired is the result of fix without --replace. Its JSON members are a contract: see
// docs/reference/json.md.
type repaired struct {
	File     string   `json:"file"`
	Resource string   `json:"resource,omitempty"`
	Written  bool     `json:"written"`
	Repairs  []repair `json:"repairs"`
	// Unjudged are the loops whose statuses lint does not judge, with the reason.
	Unjudged []unjudged `json:"unjudged,omitempty"`

	hint       string // how the repairs get into the file
	canReplace bool   // a loop that needs no repair
}

// repair is a repair with its diff.
type repair struct {
	fix.Repair

	Diff string `json:"diff,omitempty"`
	// Blocked is why --accept cannot make an offered repair.
	Blocked string `json:"blocked,omitempty"`
}

// unjudged is a loop whose statuses lint does not judge.
type unjudged struct {
	States []string `json:"states"`
	Reason string   `json:"reason"`
}

// findLoops finds the loops of the definition in a text.
func findLoops(text []byte, read edit.Read, o *fix.RepairOptions) ([]lint.Loop, error) {
	d, err := read(text)
	if err != nil {
		return nil, err
	}
	m, err := d.Parse()
	if err != nil {
		return nil, err
	}
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	if err != nil {
		return nil, err
	}
	return lint.Loops(m, lint.Options{Express: o.Express, Types: types, Said: o.Said}), nil
}

// ignored tells which findings stay as they are: those of rules that the settings turn off, and
// those that a comment ignores. A text that is read apart from its file has no comments of YAML
// and HCL: there those of the file count.
func (o *fixOptions) ignored(of *source.Definition) func(d *source.Definition) func(f lint.Finding) bool {
	off := o.settings.Of(of.File).Off()
	return func(d *source.Definition) func(f lint.Finding) bool {
		if d.File != of.File {
			d = of
		}
		own := sync.OnceValue(func() *ignore.Set { return kit.Ignores(d) })
		return func(f lint.Finding) bool {
			return slices.Contains(off, f.Rule) || own().Find(f.Rule, f.Pointer) != nil
		}
	}
}

// checkRepairFlags refuses flags that only a replaced loop has.
func checkRepairFlags(c *cobra.Command) error {
	for _, name := range compiledFlags {
		if c.Flags().Changed(name) {
			return kit.Usage("--%s is for a compiled loop: pass --replace, too", name)
		}
	}
	return nil
}

// runRepair repairs a definition.
func runRepair(c *cobra.Command, name string, o fixOptions) error {
	if err := checkRepairFlags(c); err != nil {
		return err
	}
	said, err := kit.ReadStatuses(o.statuses)
	if err != nil {
		return kit.Usage("%w", err)
	}
	e, read, err := o.open(c, name)
	if err != nil {
		return err
	}
	at, err := o.placeOf(c, name, e, read)
	if err != nil {
		return err
	}
	options := fix.RepairOptions{
		Sure: true, Accept: o.accept, MaxWait: o.maxWait, Models: models.Load, Express: o.express || e.Definition.Type == asl.Express,
		Said: o.settings.Said(e.Definition.File, said), Ignored: o.ignored(e.Definition),
	}
	after, all, err := fix.RepairFile(c.Context(), at.text, at.read, options)
	if err != nil {
		return kit.Usage("%s: %w", name, err)
	}
	if err := checkAccepted(o.accept, all); err != nil {
		return err
	}
	out := newRepaired(name, e.Definition, at, all)
	if at.reason == "" {
		if err := out.addByHand(c, e.Definition, after, at.read, options); err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
	}
	if o.write || len(o.accept) > 0 {
		if err := o.checkSiblings(c, e, after, all, options); err != nil {
			return err
		}
		if out.Written, err = e.write(after); err != nil {
			return err
		}
	} else if err := o.blockOffers(c, e, at, out, after, all, options); err != nil {
		return err
	}
	if err := o.describeUnrepaired(c, at, out, after, options, said); err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if err := out.write(c, o.output); err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if slices.ContainsFunc(all, func(r fix.Repair) bool { return !r.Made }) {
		return &kit.ExitError{Code: kit.ExitFailed}
	}
	return nil
}

// checkAccepted refuses what --accept names and fix does not offer.
func checkAccepted(accept []string, all []fix.Repair) error {
	for _, accepted := range accept {
		if !slices.ContainsFunc(all, func(r fix.Repair) bool { return r.Mends(accepted) && r.Class != fix.Refused }) {
			return kit.Usage("--accept %s: fix offers no such repair. Run fix without --accept to see which it offers", accepted)
		}
	}
	return nil
}

// newRepaired is the result of repairs of a definition, with their diffs. name is the argument of fix.
func newRepaired(name string, d *source.Definition, at *repairPlace, all []fix.Repair) *repaired {
	out := &repaired{File: d.File, Resource: d.ID, Repairs: []repair{}}
	switch {
	case at.reason != "":
		out.hint = "fix does not change the file: " + at.reason
	case name != kit.Stdin:
		out.hint = "--write changes the file"
	}
	for _, r := range all {
		one := repair{Repair: r}
		if r.After != nil {
			one.Diff = diffOf(at.file, at.reason, r.Before, r.After)
		}
		out.Repairs = append(out.Repairs, one)
	}
	return out
}

// describeUnrepaired adds to the result the loops that fix has no repair for: whether it can replace one, and whose
// statuses lint does not judge. It warns of a --status that no loop uses.
func (o *fixOptions) describeUnrepaired(
	c *cobra.Command, at *repairPlace, out *repaired, after []byte, options fix.RepairOptions, said map[string]lint.Meaning,
) (err error) {
	if o.output != "json" && len(out.Repairs) == 0 {
		replace := fix.Options{MaxWait: o.maxWait, Models: models.Load, Express: options.Express, Said: options.Said}
		if out.canReplace, err = fix.CanReplace(c.Context(), at.text, at.read, replace); err != nil {
			return err
		}
	}
	loops, err := findLoops(after, at.read, &options)
	if err != nil {
		return err
	}
	for _, l := range loops {
		if l.Unjudged != "" {
			out.Unjudged = append(out.Unjudged, unjudged{l.Turn.States, l.Unjudged})
		}
	}
	kit.WarnUnusedStatuses(c, lint.UnusedSaid(said, loops))
	return nil
}

// repairPlace is where repairs are made: in the file, or in the text of the definition alone where they are printed.
type repairPlace struct {
	file   string // as the diff names it
	text   []byte
	read   edit.Read
	reason string // why the file stays as it is; empty if it can be changed
}

// placeOf is where repairs of a definition are made.
func (o *fixOptions) placeOf(c *cobra.Command, name string, e *edited, read edit.Read) (*repairPlace, error) {
	at := &repairPlace{file: e.Definition.File, text: e.text, read: read, reason: o.staysInFile(e.Definition)}
	_, unplaced := edit.Apply(e.text, read)
	if unplaced != nil && e.Definition.Form == source.FormTerraform {
		at.reason = computedReason
	}
	if at.reason != "" && (o.write || len(o.accept) > 0) {
		return nil, kit.Usage("%[1]s: fix does not change %[2]s: %[3]s. Without %[1]s it prints the repairs", o.writeFlag(), name, at.reason)
	}
	if unplaced == nil && !isSynthesized(e.Definition) && !e.Definition.Copied {
		return at, nil
	}
	text, err := layOut(e.Definition)
	if err != nil {
		return nil, kit.Usage("%s: %w", name, err)
	}
	at.file, at.text, at.read = e.Definition.Name, text, readApart(c, e.Definition) // as it is read out of there
	return at, nil
}

// layOut is the text of a definition, a member a line.
func layOut(d *source.Definition) ([]byte, error) {
	var text bytes.Buffer
	err := json.Indent(&text, d.Text, "", "  ")
	return text.Bytes(), err
}

// readApart reads what becomes of a definition that is in no file of its own: the text of the
// definition alone.
func readApart(c *cobra.Command, d *source.Definition) edit.Read {
	return func(text []byte) (*source.Definition, error) {
		if d.Literal {
			again := source.Deployed{ARN: d.Name, Text: text, Type: d.Type}
			return again.Definition(), nil
		}
		again, err := source.LoadOne(c.Context(), kit.Stdin, source.Options{Stdin: bytes.NewReader(text)})
		if err == nil {
			again.Type = d.Type
		}
		return again, err
	}
}

// addByHand adds the diffs of repairs that have no place in the files of a Terraform module:
// of the text that Terraform makes.
func (r *repaired) addByHand(c *cobra.Command, d *source.Definition, file []byte, read edit.Read, o fix.RepairOptions) error {
	if d.Form != source.FormTerraform || !slices.ContainsFunc(r.Repairs, func(one repair) bool { return one.Class == fix.Refused }) {
		return nil
	}
	left, err := read(file)
	if err != nil {
		return err
	}
	text, err := layOut(left)
	if err != nil {
		return err
	}
	o.Sure, o.Accept = false, nil
	_, all, err := fix.RepairFile(c.Context(), text, readApart(c, left), o)
	if err != nil {
		return err
	}
	for i, one := range r.Repairs {
		for _, other := range all {
			if one.Class == fix.Refused && other.Class != fix.Refused && other.Name() == one.Name() {
				r.Repairs[i].Diff = fix.Diff(d.Name, d.Name, other.Before, other.After)
			}
		}
	}
	return nil
}

// write writes the repairs as JSON, or as text.
func (r *repaired) write(c *cobra.Command, output string) error {
	if output == "json" {
		return kit.WriteJSON(c.OutOrStdout(), r)
	}
	return r.print(c)
}

// print writes the repairs for people: those that --write makes, those that are offered, and
// what stays.
func (r *repaired) print(c *cobra.Command) error {
	b := wrapper{columns: terminal.ColumnsOf(c.OutOrStdout())}
	for _, one := range r.Repairs {
		names := strings.Join(append([]string{one.Name()}, one.Also...), ", ")
		switch {
		case one.Class == fix.Refused:
			b.wrap("%s stays: %s", one.Name(), one.Reason)
			if one.Diff != "" {
				b.wrap("  as a change of the text that Terraform makes:")
			}
			terminal.Fprintf(&b.text, "%s\n", terminal.Lines(one.Diff))
			continue
		case one.Made:
			terminal.Fprintf(&b.text, "%s\n", names)
		case one.Blocked != "":
			b.wrap("%s, offered, but --accept cannot make it: %s", names, one.Blocked)
		default:
			terminal.Fprintf(&b.text, "%s, offered: --accept %s makes it\n", names, shell.Quote(one.Name()))
		}
		b.wrap("  %s", one.About)
		b.wrap("  tried on %s: nothing else differs", kit.Plural(one.Runs, "run"))
		b.wrapNotTried(one.NotTried)
		terminal.Fprintf(&b.text, "%s\n", terminal.Lines(one.Diff))
	}
	if len(r.Repairs) == 0 {
		b.text.WriteString("nothing to repair")
		if r.canReplace {
			b.text.WriteString("; --replace puts a compiled loop in the place of yours")
		}
		b.text.WriteString("\n")
	}
	for _, l := range r.Unjudged {
		b.wrap("statuses not judged in %s: %s", strings.Join(l.States, " -> "), l.Reason)
	}
	if made := slices.ContainsFunc(r.Repairs, func(one repair) bool { return one.Made }); made && !r.Written && r.hint != "" {
		b.text.WriteString(r.hint + "\n")
	}
	_, err := io.WriteString(c.OutOrStdout(), b.text.String())
	return err
}

// wrapper is a text of lines that fit the terminal, beside tables and diffs.
type wrapper struct {
	text    strings.Builder
	columns int
}

// wrap adds lines of text.
func (w *wrapper) wrap(format string, args ...any) {
	for _, line := range terminal.Wrap(terminal.Sprintf(format, args...), w.columns) {
		w.text.WriteString(line + "\n")
	}
}

// wrapNotTried adds lines that say which Tasks no run got to.
func (w *wrapper) wrapNotTried(tasks []string) {
	for _, what := range tasks {
		w.wrap("  not tried: %s", what)
	}
}
