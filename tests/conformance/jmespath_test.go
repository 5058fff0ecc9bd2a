package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
)

var jmespathSuites = []suite{
	{name: "jmespath-compliance", cases: 862, run: runCompliance},
	{name: "jmespath-compliance on Go structs", cases: 742, run: runComplianceTyped, differences: typedDifferences},
	{name: "smithy-jmespath-parse", cases: 791, folder: "smithy-jmespath", run: runSmithyParse},
}

// typedDifferences are cases that name members of an object other than in a
// path. There the names of a Go struct count, which start in upper case.
var typedDifferences = map[string]string{
	"functions.json/0 sort(keys(objects))":                                  "keys() gives the names of the Go fields",
	"filters.json/5 foo[?top == `{\"first\": \"foo\", \"last\": \"bar\"}`]": "the members of the literal are not named as the Go fields",
}

// compliance is a file of the JMESPath compliance suite.
type compliance []struct {
	Given any
	Cases []complianceCase
}

type complianceCase struct {
	Expression string
	Result     any
	Error      string
}

// eachCompliance runs through the suite, which the go-jmespath module contains.
func eachCompliance(t *testing.T, run func(name string, given any, c complianceCase)) {
	t.Helper()
	// Of a package, unlike of a module, go list fetches what is not there yet.
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Module.Dir}}", "github.com/jmespath/go-jmespath").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "compliance", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var groups compliance
		require.NoError(t, json.Unmarshal(text, &groups), file)
		for i, group := range groups {
			for _, c := range group.Cases {
				run(fmt.Sprintf("%s/%d %s", filepath.Base(file), i, c.Expression), group.Given, c)
			}
		}
	}
}

func runCompliance(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	eachCompliance(t, func(name string, given any, c complianceCase) {
		r.total++
		if problem := c.judge(reflect.TypeFor[any](), given, func(v any) any { return v }); problem != "" {
			r.failures[name] = problem
		}
	})
	return r
}

// runComplianceTyped runs the cases of which the data can be a Go struct, or a
// list of them.
func runComplianceTyped(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	untyped := 0
	eachCompliance(t, func(name string, given any, c complianceCase) {
		typed := jmespathtest.GoValue(given)
		if k := reflect.TypeOf(typed).Kind(); k != reflect.Pointer && k != reflect.Slice {
			untyped++
			return
		}
		r.total++
		if problem := c.judge(reflect.TypeOf(typed), typed, upperNames); problem != "" {
			r.failures[name] = problem
		}
	})
	r.notes = []string{fmt.Sprintf("%d cases have data of which the names are no Go names", untyped)}
	return r
}

// judge evaluates a case, and says what is wrong with the outcome. Results are
// compared in the form that the caller gives them.
func (c complianceCase) judge(t reflect.Type, given any, form func(any) any) string {
	e, err := jmespath.Parse(c.Expression)
	var got any
	if err == nil {
		p, _ := e.Compile(t)
		got, err = p.Eval(given)
	}
	code := ""
	if failure, ok := errors.AsType[*jmespath.Error](err); ok {
		code = string(failure.Code)
	}
	if code != c.Error {
		return fmt.Sprintf("error %v, want %q", err, c.Error)
	}
	if got, want := form(got), form(c.Result); !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	return ""
}

// upperNames gives the members of objects the names of Go fields, without those
// that are null: a struct has all members that an object of its list has.
func upperNames(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = upperNames(item)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, m := range v {
			if title := jmespathtest.GoName(name); title != "" {
				name = title
			}
			if m != nil {
				out[name] = upperNames(m)
			}
		}
		return out
	default:
		return v
	}
}

// runSmithyParse checks what Smithy's own parser takes and refuses: one JSON
// string a line.
func runSmithyParse(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	for _, list := range []string{"valid", "invalid"} {
		text, err := os.ReadFile(filepath.Join(folder, list))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			var expression string
			require.NoError(t, json.Unmarshal([]byte(strings.TrimRight(line, ",\n")), &expression), line)
			r.total++
			if _, err := jmespath.Parse(expression); (err == nil) != (list == "valid") {
				r.failures[fmt.Sprintf("%s: %s", list, expression)] = fmt.Sprint(err)
			}
		}
	}
	return r
}
