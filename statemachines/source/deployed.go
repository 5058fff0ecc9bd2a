package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Deployed is a definition as AWS has it.
type Deployed struct {
	// ARN is that of the state machine, the version or the execution that has the definition.
	ARN  string
	Text []byte
	Type asl.ExecutionType
	// Weight is the share of an alias's executions that a version gets, in percent; 0 where
	// no alias led to it.
	Weight int
}

// Definition is the definition as it stands at AWS.
func (d *Deployed) Definition() *Definition {
	return d.definition(func(string) (string, bool) { return "", false })
}

// definition is the definition, with values put in for its placeholders.
func (d *Deployed) definition(value func(name string) (string, bool)) *Definition {
	out := &Definition{Name: d.ARN, File: d.ARN, Type: d.Type, Form: FormDeployed, Weight: d.Weight}
	out.readJSON((&file{name: d.ARN, bytes: d.Text}).whole(), value)
	out.warnOfPlaceholders()
	return out
}

// warnOfPlaceholders tells of each placeholder that AWS has: there it is a text like others,
// which no deployment fills in any more.
func (d *Definition) warnOfPlaceholders() {
	d.Literal = true
	told := map[string]bool{}
	for _, form := range asl.FindPlaceholders(d.Text) {
		if told[form.Name] || len(told) >= diag.MaxShown {
			continue
		}
		told[form.Name] = true
		p := d.text.problem(form.Start, "", fmt.Sprintf("AWS has the text \"${%s}\" as it stands: "+
			"if a deployment should put a value in for it, it has not", form.Name))
		p.Severity = diag.Warning
		d.Problems = append(d.Problems, p)
	}
}

// IsARN tells whether a name is that of something at AWS, not of a file.
func IsARN(name string) bool { return strings.HasPrefix(name, "arn:") }

// fetch reads the definitions that an ARN names. What could be read is returned beside an
// error.
func (l *loader) fetch(ctx context.Context, arn string) ([]*Definition, error) {
	deployed, err := l.Fetch(ctx, arn)
	all := make([]*Definition, len(deployed))
	for i := range deployed {
		all[i] = deployed[i].definition(l.valuesIn(arn))
	}
	return all, err
}
