package edit_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A query that somebody cancels has failed, too.
func ExampleApply() {
	file := []byte(`StartAt: Look
States:
  Done?:
    Type: Choice
    Choices:
      - {Variable: $.status, StringEquals: FAILED, Next: Tell}   # us
    Default: Pause
`)
	read := func(file []byte) (*source.Definition, error) {
		return source.LoadOne(context.Background(), source.Stdin, source.Options{Stdin: bytes.NewReader(file)})
	}
	after, err := edit.Apply(file, read, edit.Edit{
		Op: edit.Before, At: "/States/Done?/Choices/0",
		Value: []byte(`{"Variable": "$.status", "StringEquals": "CANCELLED", "Next": "Tell"}`),
	})
	fmt.Print(string(after))
	fmt.Println(err)
	// Output:
	// StartAt: Look
	// States:
	//   Done?:
	//     Type: Choice
	//     Choices:
	//       - {Variable: $.status, StringEquals: CANCELLED, Next: Tell}
	//       - {Variable: $.status, StringEquals: FAILED, Next: Tell}   # us
	//     Default: Pause
	// <nil>
}
