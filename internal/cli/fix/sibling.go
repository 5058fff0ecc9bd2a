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

// siblings are the other definitions of the Terraform module of one, which a change of its file may change, too.
type siblings struct {
	flags   *fixOptions
	of      *edited
	options fix.RepairOptions
	express bool // all definitions are of Express workflows
	values  map[string]string
	before  []*source.Definition
	unread  error                 // why the module cannot be read
	own     map[string]ownRepairs // by the name of the definition
}

// ownRepairs are the repairs of one definition of a file.
type ownRepairs struct {
	after []byte
	all   []fix.Repair
	err   error
}

// readSiblings reads the module of a definition. The options are those of its own repairs.
func (o *fixOptions) readSiblings(c *cobra.Command, e *edited, options fix.RepairOptions) (*siblings, error) {
	values, err := kit.Substitutions(o.substitutes).Values()
	if err != nil {
		return nil, err
	}
	s := &siblings{flags: o, of: e, options: options, express: o.express, values: values, own: map[string]ownRepairs{}}
	s.before, s.unread = s.load(c, source.Options{Values: values})
	return s, nil
}

// load reads the definitions of the module.
func (s *siblings) load(c *cobra.Command, o source.Options) ([]*source.Definition, error) {
	d := s.of.Definition
	all, err := s.flags.settings.Load(c.Context(), []string{path.Dir(cmp.Or(d.Template, d.File))}, o)
	if _, unused := errors.AsType[*source.ValueError](err); err != nil && !unused {
		return nil, err
	}
	return all, nil
}

// changedBy finds those that another text of the file changes, one of several that say the same.
func (s *siblings) changedBy(c *cobra.Command, text []byte) ([]*source.Definition, error) {
	if s.unread != nil {
		return nil, s.unread
	}
	d := s.of.Definition
	changed, err := s.load(c, source.Options{Values: s.values, FS: overlay{d.File, text}})
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, other := range changed {
		texts[other.Name] = other.Text
	}
	seen := map[string]bool{string(d.Text): true}
	var all []*source.Definition
	for _, other := range s.before {
		if other.Name != d.Name && !seen[string(other.Text)] && !bytes.Equal(other.Text, texts[other.Name]) {
			seen[string(other.Text)] = true
			all = append(all, other)
		}
	}
	return all, nil
}

// repairsOf finds the repairs of another definition, once.
func (s *siblings) repairsOf(c *cobra.Command, other *source.Definition) ownRepairs {
	own, known := s.own[other.Name]
	if !known {
		options := s.options
		options.Express = s.express || other.Type == asl.Express
		own.after, own.all, own.err = fix.RepairFile(c.Context(), s.of.text, s.flags.reader(c, other.Name, other.File, s.values), options)
		s.own[other.Name] = own
	}
	return own
}

// whyNotShared says why the text that repairs leave, or an offered one after them, is not right for each definition that
// has a part of it: the repairs of one are another change. It is empty if they are the same.
func (s *siblings) whyNotShared(c *cobra.Command, after []byte, all []fix.Repair, offer *fix.Repair) (string, error) {
	text := after
	if offer != nil {
		text = offer.After
	}
	file := s.of.Definition.File
	changed, err := s.changedBy(c, text)
	switch {
	case c.Context().Err() != nil:
		return "", c.Context().Err()
	case err != nil:
		return fmt.Sprintf("%s may give the text of other definitions, which fix cannot read: %v", file, err), nil
	}
	for _, other := range changed {
		var own ownRepairs
		if other.File == file {
			own = s.repairsOf(c, other)
		}
		if c.Context().Err() != nil {
			return "", c.Context().Err()
		}
		if own.err == nil && other.File == file && own.same(after, offer) {
			continue
		}
		return fmt.Sprintf("%s gives the text of %s, too, %s", file, other.Name, s.whyUnlike(own, all)), nil
	}
	return "", nil
}

// whyUnlike says why the repairs of another definition are not the same.
func (s *siblings) whyUnlike(own ownRepairs, all []fix.Repair) string {
	if own.err != nil {
		return fmt.Sprintf("which fix cannot read: %v", own.err)
	}
	reason := "for which the repairs are others. Repair it by hand"
	if s.options.MaxWait == 0 && slices.ContainsFunc(all, func(r fix.Repair) bool { return r.Rule == lint.UnboundedLoop && r.Class != fix.Refused }) {
		reason += ", or pass --max-wait for one bound of all"
	}
	return reason
}

// same tells whether the repairs leave a text, and offer the same change of it.
func (r ownRepairs) same(after []byte, offer *fix.Repair) bool {
	return bytes.Equal(r.after, after) && (offer == nil || slices.ContainsFunc(r.all, func(other fix.Repair) bool {
		return other.Class == fix.Offered && other.Mends(offer.Name()) && bytes.Equal(other.After, offer.After)
	}))
}

// checkSiblings makes sure that a change of the file is right for each definition that has a part of it.
func (o *fixOptions) checkSiblings(c *cobra.Command, e *edited, after []byte, all []fix.Repair, options fix.RepairOptions) error {
	if !e.Definition.IsOfModule() {
		return nil
	}
	s, err := o.readSiblings(c, e, options)
	if err != nil {
		return err
	}
	reason, err := s.whyNotShared(c, after, all, nil)
	if err == nil && reason != "" {
		return kit.Usage("%s: %s", o.writeFlag(), reason)
	}
	return err
}

// blockOffers says of each offered repair why --accept cannot make it, and of the sure ones why --write cannot, where
// the file gives the text of other definitions, too.
func (o *fixOptions) blockOffers(c *cobra.Command, e *edited, at *repairPlace, out *repaired, after []byte, all []fix.Repair, options fix.RepairOptions) error {
	if at.reason != "" || !e.Definition.IsOfModule() {
		return nil
	}
	s, err := o.readSiblings(c, e, options)
	if err != nil {
		return err
	}
	reason, err := s.whyNotShared(c, after, all, nil)
	if err != nil {
		return err
	}
	if reason != "" {
		out.hint = "fix does not change the file: " + reason
	}
	for i := range all {
		if all[i].Class != fix.Offered || all[i].Made {
			continue
		}
		if out.Repairs[i].Blocked, err = s.whyNotShared(c, after, all, &all[i]); err != nil {
			return err
		}
	}
	return nil
}
