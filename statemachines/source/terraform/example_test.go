package terraform_test

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

// oneFile is a module of one file that nobody configures.
type oneFile string

func (f oneFile) Modules(string) ([]string, error) { return []string{"main.tf"}, nil }
func (f oneFile) Values(string) ([]string, error)  { return nil, nil }
func (f oneFile) Read(string) ([]byte, error)      { return []byte(f), nil }
func (f oneFile) Variable(string) (string, bool)   { return "", false }
func (f oneFile) Decode([]byte, bool) (*terraform.Data, error) {
	return nil, errors.New("the module decodes nothing")
}

// What only a deployment knows has the expression as its name.
func Example() {
	project := terraform.New(oneFile(`
resource "aws_sfn_state_machine" "nightly" {
  type       = "EXPRESS"
  definition = jsonencode({StartAt = "Look", States = {Look = {Type = "Task", Resource = aws_lambda_function.look.arn, End = true}}})
}
`))
	machines, err := project.Machines("infra")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range machines {
		look := m.Object.Members[1].Value.Members[0].Value
		fmt.Println(m.Address, m.Type, look.Members[1].Value.At.File)
	}
	// Output: aws_sfn_state_machine.nightly EXPRESS main.tf
}
