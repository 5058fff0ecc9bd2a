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

// model checks the waiters of a Smithy model, against the operations of the service
// where they are known.
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
	f.why = "jobpoller does not know the operation that the waiter polls, so its paths, values and errors are not checked"
	service, found := f.modelService(), false
	for _, shape := range f.root.Get("shapes").Members {
		traits := shape.Value.Get("traits")
		if traits == nil || traits.Get(waitableTrait) == nil {
			continue
		}
		op, err := f.modelOperation(service, smithy.ShapeName(shape.Name))
		if err != nil {
			return err
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

// modelService is the name of the service of the model; empty for one of the user's own.
func (f *file) modelService() string {
	if f.options.Service != "" {
		return f.options.Service
	}
	for _, shape := range f.root.Get("shapes").Members {
		if textOf(shape.Value, "type") == "service" {
			if api := shape.Value.Get("traits").Get("aws.api#service"); api != nil {
				return textOf(api, "sdkId")
			}
		}
	}
	return ""
}

// modelOperation finds an operation of the model; nil if it is not known. A service that
// the options name has to be.
func (f *file) modelOperation(service, name string) (*catalog.Operation, error) {
	if service == "" {
		return nil, nil //nolint:nilnil // a waiter is checked without its operation, too
	}
	op, err := f.options.Operations(service, name)
	missing, ok := errors.AsType[*catalog.NotFoundError](err)
	if ok && (missing.What == "operation" || f.options.Service == "") {
		return nil, nil //nolint:nilnil // as above
	}
	return op, err
}
