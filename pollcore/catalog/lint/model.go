package lint

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

const waitableTrait = "smithy.waiters#waitable"

// model checks the waiters of a Smithy model, against the operations of the
// catalogue where it has the service.
func (f *file) model() error {
	refused := false
	for _, p := range catalog.AnalyzeSmithy(f.text) {
		if p.Severity != diag.Warning { // of errors, for which there is a rule
			refused = true
			f.report(Format, "", p, pollcore.NoAcceptor)
		}
	}
	if refused {
		return nil
	}
	service, err := f.modelService()
	if err != nil {
		return err
	}
	found := false
	for _, shape := range f.root.Get("shapes").Members {
		traits := shape.Value.Get("traits")
		if traits == nil || traits.Get(waitableTrait) == nil {
			continue
		}
		var op *catalog.Operation
		if service != nil {
			op = service.Operations[smithy.ShapeName(shape.Name)]
		}
		for _, m := range traits.Get(waitableTrait).Members {
			found = true
			f.smithy(m.Name, m.Value, op, f.options.Options)
		}
	}
	if !found {
		return fmt.Errorf("%w: no operation of the model has the trait %s", ErrNoWaiters, waitableTrait)
	}
	return nil
}

// modelService finds the service of the model in the catalogue; nil if the
// catalogue does not have it.
func (f *file) modelService() (*catalog.Service, error) {
	f.why = "the catalogue does not have the operation that the waiter polls, so its paths, values and errors are not checked"
	name := f.options.Service
	for _, shape := range f.root.Get("shapes").Members {
		if name == "" && textOf(shape.Value, "type") == "service" {
			if api := shape.Value.Get("traits").Get("aws.api#service"); api != nil {
				name = textOf(api, "sdkId")
			}
		}
	}
	if name == "" {
		return nil, nil //nolint:nilnil // a service of the user's own
	}
	s, err := f.options.Catalog.Service(name)
	if errors.Is(err, catalog.ErrNotFound) && f.options.Service == "" {
		return nil, nil //nolint:nilnil // as above
	}
	return s, err
}
