package fix

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// repaired is the result of fix without --replace. Its JSON members are a contract: see
// docs/reference/json.md.
type repaired struct {
	File     string   `json:"file"`
	Resource string   `json:"resource,omitempty"`
	Written  bool     `json:"written"`
	Repairs  []repair `json:"repairs"`
}

// repair is a repair with its diff.
type repair struct {
	fix.Repair

	Diff string `json:"diff,omitempty"`
}

// checkRepairFlags refuses flags that only a replaced loop has.
func (o *fixOptions) checkRepairFlags(c *cobra.Command) error {
	for _, name := range []string{"only", "strategy", "max-delay", "schedule", "simulate"} {
		if c.Flags().Changed(name) {
			return kit.Usage("--%s is about a new loop: pass --replace, too", name)
		}
	}
	return nil
}

// runRepair repairs a definition.
func runRepair(c *cobra.Command, name string, o fixOptions) error {
	if err := o.checkRepairFlags(c); err != nil {
		return err
	}
	e, read, err := o.open(c, name)
	if err != nil {
		return err
	}
	if reason := o.staysInFile(e.Definition); reason != "" && (o.write || len(o.accept) > 0) {
		return kit.Usage("--write: fix does not change %s: %s. Without --write it prints the repairs", name, reason)
	}
	options := fix.RepairOptions{
		Sure: true, Accept: o.accept, MaxWait: o.maxWait, Models: models.Load, Express: o.express || e.Definition.Type == asl.Express,
	}
	after, all, err := fix.RepairFile(c.Context(), e.text, read, options)
	if err != nil {
		return kit.Usage("%s: %w", name, err)
	}
	for _, accepted := range o.accept {
		if !slices.ContainsFunc(all, func(r fix.Repair) bool { return r.Name() == accepted && r.Class != fix.Refused }) {
			return kit.Usage("--accept %s: fix offers no such repair. Run fix without --accept to see which it offers", accepted)
		}
	}
	out := repaired{File: e.Definition.File, Resource: e.Definition.ID}
	for _, r := range all {
		one := repair{Repair: r}
		if r.After != nil {
			one.Diff = fix.Diff(out.File, out.File, r.Before, r.After)
		}
		out.Repairs = append(out.Repairs, one)
	}
	if o.write || len(o.accept) > 0 {
		if out.Written, err = e.write(after); err != nil {
			return err
		}
	}
	if o.output == "json" {
		err = kit.WriteJSON(c.OutOrStdout(), out)
	} else {
		err = out.print(c)
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if slices.ContainsFunc(all, func(r fix.Repair) bool { return !r.Made }) {
		return &kit.ExitError{Code: kit.ExitFailed}
	}
	return nil
}

// print writes the repairs for people: those that --write makes, those that are offered, and
// what stays.
func (r *repaired) print(c *cobra.Command) error {
	var b strings.Builder
	for _, one := range r.Repairs {
		switch {
		case one.Class == fix.Refused:
			terminal.Fprintf(&b, "%s stays: %s\n\n", one.Name(), one.Reason)
			continue
		case one.Made:
			terminal.Fprintf(&b, "%s\n", one.Name())
		default:
			terminal.Fprintf(&b, "%s, if you say so: --accept %s\n", one.Name(), shell.Quote(one.Name()))
		}
		terminal.Fprintf(&b, "  %s\n  tried on %s: nothing else differs\n%s\n", one.About, kit.Plural(one.Runs, "run"), terminal.Lines(one.Diff))
	}
	if len(r.Repairs) == 0 {
		b.WriteString("nothing to repair. To put a compiled loop in the place of yours: --replace\n")
	} else if made := slices.ContainsFunc(r.Repairs, func(one repair) bool { return one.Made }); made && !r.Written {
		b.WriteString("to change the file: --write\n")
	}
	_, err := c.OutOrStdout().Write([]byte(cmp.Or(b.String(), "")))
	return err
}
