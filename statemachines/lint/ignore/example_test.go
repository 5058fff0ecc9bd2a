package ignore_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A comment ignores a rule at its state.
func ExampleRead() {
	d, err := source.LoadOne(context.Background(), source.Stdin, source.Options{Stdin: strings.NewReader(`
StartAt: A
States:
  # jobpoller: ignore hot-loop, the state ends at once
  A: {Type: Succeed}
`)})
	if err != nil {
		panic(err)
	}
	set := ignore.Read(d, ignore.Options{Known: []string{lint.HotLoop, lint.UnboundedLoop}})
	fmt.Println(set.Find(lint.HotLoop, "/States/A").Reason)
	fmt.Println(set.Find(lint.UnboundedLoop, "/States/A"))
	// Output:
	// the state ends at once
	// <nil>
}
