package lint

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

const waitableTrait = "smithy.waiters#waitable"

// model checks the waiters of a Smithy model against its own shapes.
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
	var services []*catalog.Service
	if f.options.Model != nil {
		var err error
		if services, err = f.options.Model(f.text); err != nil {
			f.why = fmt.Sprintf("the waiter is not checked against the shapes of the model, which cannot be used: %v", err)
		}
	}
	found := false
	for _, shape := range f.root.Get("shapes").Members {
		traits := shape.Value.Get("traits")
		if traits == nil || traits.Get(waitableTrait) == nil {
			continue
		}
		op := operationOf(services, shape.Name[strings.LastIndexByte(shape.Name, '#')+1:])
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

// operationOf finds an operation of the services.
func operationOf(services []*catalog.Service, name string) *catalog.Operation {
	for _, s := range services {
		if op := s.Operations[name]; op != nil {
			return op
		}
	}
	return nil
}
