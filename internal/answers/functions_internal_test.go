package answers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Which function of --lambda runs a function that a Task invokes, and with which handler
// setting.
func TestHandlersOfLocalFunctions(t *testing.T) {
	t.Parallel()
	own := []string{"run-job=go:./functions", "check-status=go:./functions"}
	runJob := source.Function{ID: "RunJob12AB", Handler: "run-job"}
	templates := map[string]source.Function{
		"RunJob12AB": runJob, "RunJobVersion": runJob, "Plain": {ID: "Plain", Handler: "bootstrap"}, "Open": {ID: "Open"},
	}
	for name, test := range map[string]struct {
		lambdas       []string
		function      string
		runs, handler string // runs is empty where nothing in --lambda does
	}{
		"the shipped name":                     {own, "jobpoller-runjob", "run-job", "run-job"},
		"the other one":                        {own, "jobpoller-checkstatus", "check-status", "check-status"},
		"the handler as a name":                {own, "run-job", "run-job", "run-job"},
		"a name of the CDK":                    {own, "orders-check-status", "check-status", "check-status"},
		"a logical ID with the handler":        {own, "RunJob12AB", "run-job", "run-job"},
		"a version of it":                      {own, "RunJobVersion", "run-job", "run-job"},
		"a logical ID that is named":           {[]string{"RunJob12AB=./program"}, "RunJob12AB", "RunJob12AB", "run-job"},
		"a version of one that is named":       {[]string{"RunJob12AB=./program"}, "RunJobVersion", "RunJob12AB", "run-job"},
		"a name wins over its handler":         {append([]string{"RunJob12AB=./program"}, own...), "RunJob12AB", "RunJob12AB", "run-job"},
		"any name, with the handler":           {[]string{"start=./program#run-job"}, "start", "start", "run-job"},
		"the flag wins over the template":      {[]string{"Plain=./program#collector"}, "Plain", "Plain", "collector"},
		"a template's other handler":           {[]string{"Plain=./program"}, "Plain", "Plain", "bootstrap"},
		"nothing says the handler":             {[]string{"Open=./program"}, "Open", "Open", ""},
		"somebody else's name like a handler":  {[]string{"nightly-run-job=./program"}, "nightly-run-job", "nightly-run-job", ""},
		"one that only another names":          {[]string{"nightly-run-job=./program"}, "nightly-check-status", "", ""},
		"a name of its own beside the handler": {append([]string{"nightly-run-job=./program"}, own...), "nightly-run-job", "nightly-run-job", ""},
		"a name of its own with the handler":   {[]string{"orders-run-job=./program#run-job"}, "orders-run-job", "orders-run-job", "run-job"},
		"somebody else's function":             {own, "enrich", "", ""},
		"somebody else's collector":            {[]string{"metrics-collector=./program"}, "metrics-collector", "metrics-collector", ""},
		"our collector":                        {append([]string{"collector=./program"}, own...), "orders-collector", "collector", "collector"},
		"a handler that no flag has":           {own[:1], "jobpoller-checkstatus", "", "check-status"},
		"a name that only ends like a handler": {own, "rerun-jobs", "", ""},
	} {
		l, err := ReadFunctions(test.lambdas)
		require.NoError(t, err, name)
		l.Templates = templates
		require.Equal(t, test.runs, l.Find(test.function), name)
		handler := l.handlerOf(test.function)
		if test.runs != "" {
			handler = l.handlerOf(test.runs)
		}
		require.Equal(t, test.handler, handler, name)
	}
	for _, text := range []string{"run-job", "=./program", "a=", "a=#run-job", "a=go:", "a=go:#run-job", "a=./program#", "a b=./program", strings.Repeat("a", 65) + "=./program"} {
		_, err := ReadFunctions([]string{text})
		require.ErrorContains(t, err, "--lambda must be NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..., is ", text)
	}
}
