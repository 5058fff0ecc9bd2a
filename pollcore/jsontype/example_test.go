package jsontype_test

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// A waiter is checked against the response of a service that has no Go types.
func ExampleType() {
	status := &jsontype.Type{Name: "JobStatus", Kind: jsontype.String, Values: []string{"RUNNING", "DONE"}}
	response := &jsontype.Type{Name: "GetJobOutput", Kind: jsontype.Object, Members: map[string]*jsontype.Type{"status": status}}
	w := pollcore.MustNew("JobDone", pollcore.Succeed(pollcore.Output("status").Is("DNE")))
	fmt.Println(pollcore.AnalyzeTypes(w, nil, response))

	pascal := response.Respell(func(name string) string { return strings.ToUpper(name[:1]) + name[1:] })
	fmt.Println(pascal.Members["Status"], pascal.Members["Status"].Enum(), pascal.Equal(response))
	// Output:
	// /acceptors/0/matcher/output/expected: warning: JobStatus is never "DNE" (did you mean "DONE"?)
	// JobStatus [DONE RUNNING] false
}
