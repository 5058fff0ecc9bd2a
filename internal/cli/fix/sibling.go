package fix

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// siblings are the other definitions of a Terraform module that a change of the file
// changes, one of several that say the same.
func (e *edited) siblings(c *cobra.Command, values map[string]string, after []byte) ([]*source.Definition, error) {
	d := e.Definition
	folder := []string{path.Dir(cmp.Or(d.Template, d.File))}
	before, err := source.Load(c.Context(), folder, source.Options{Values: values})
	if _, unused := errors.AsType[*source.ValueError](err); err != nil && !unused {
		return nil, err
	}
	changed, err := source.Load(c.Context(), folder, source.Options{Values: values, FS: overlay{d.File, after}})
	if _, unused := errors.AsType[*source.ValueError](err); err != nil && !unused {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, other := range changed {
		texts[other.Name] = other.Text
	}
	seen := map[string]bool{string(d.Text): true}
	var all []*source.Definition
	for _, other := range before {
		if other.Name != d.Name && !seen[string(other.Text)] && !bytes.Equal(other.Text, texts[other.Name]) {
			seen[string(other.Text)] = true
			all = append(all, other)
		}
	}
	return all, nil
}

// checkSiblings makes sure that a change of the file is right for each definition that has a part of it.
func (o *fixOptions) checkSiblings(c *cobra.Command, e *edited, after []byte, all []fix.Repair, options fix.RepairOptions) error {
	reason, err := o.whyNotShared(c, e, after, all, options)
	if err == nil && reason != "" {
		return kit.Usage("--write: %s", reason)
	}
	return err
}

// whyNotShared says why a change of the file is not right for each definition that has a part of it: the repairs of one
// are another change. It is empty if they are the same.
func (o *fixOptions) whyNotShared(c *cobra.Command, e *edited, after []byte, all []fix.Repair, options fix.RepairOptions) (string, error) {
	values, err := kit.Substitutions(o.substitutes).Values()
	if err != nil || !e.Definition.IsOfModule() {
		return "", err
	}
	siblings, err := e.siblings(c, values, after)
	if err != nil {
		return "", kit.Usage("%w", err)
	}
	for _, other := range siblings {
		options.Express = o.express || other.Type == asl.Express
		same := false
		if other.File == e.Definition.File {
			repaired, _, err := fix.RepairFile(c.Context(), e.text, reader(c, other.Name, other.File, values), options)
			if c.Context().Err() != nil {
				return "", c.Context().Err()
			}
			same = err == nil && bytes.Equal(repaired, after)
		}
		if same {
			continue
		}
		reason := fmt.Sprintf("%s gives the text of %s, too, for which the repairs are others. Repair it by hand", e.Definition.File, other.Name)
		if o.maxWait == 0 && slices.ContainsFunc(all, func(r fix.Repair) bool { return r.Rule == lint.UnboundedLoop && r.Class != fix.Refused }) {
			reason += ", or pass --max-wait for one bound of all"
		}
		return reason, nil
	}
	return "", nil
}

// blockOffers says of each offered repair why --accept cannot make it, and of the sure ones why --write cannot, where
// the file gives the text of other definitions, too.
func (o *fixOptions) blockOffers(c *cobra.Command, e *edited, at *repairPlace, out *repaired, after []byte, all []fix.Repair, options fix.RepairOptions) error {
	if at.reason != "" || !e.Definition.IsOfModule() {
		return nil
	}
	reason, err := o.whyNotShared(c, e, after, all, options)
	if err != nil {
		return err
	}
	if reason != "" {
		out.hint = "fix does not change the file: " + reason
	}
	for i, r := range all {
		if r.Class != fix.Offered || r.Made {
			continue
		}
		with := options
		with.Accept = append(slices.Clone(options.Accept), r.Name())
		changed, repairs, err := fix.RepairFile(c.Context(), at.text, at.read, with)
		if err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
		if out.Repairs[i].Blocked, err = o.whyNotShared(c, e, changed, repairs, with); err != nil {
			return err
		}
	}
	return nil
}
