// Package clients_test drives `jobpoller serve` as its users do: with the SDK for Go,
// boto3, the aws command, the calls of Terraform's provider, and plain HTTP, good and
// bad. Each of Step Functions' operations is called by two clients:
//
//	make check-clients
package clients_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

var (
	seed    = flag.Uint64("seed", 1, "of what is drawn")
	command = flag.String("command", "", "file of jobpoller; it is built if there is none")
)

// binaries is the folder of what the tests build.
var binaries string

// Without npm and Python nothing is checked, which is a failure in CI.
func TestMain(m *testing.M) {
	flag.Parse()
	for _, needed := range []string{"npm", pypi.Python()} {
		if _, err := exec.LookPath(needed); err != nil && os.Getenv("CI") != "true" {
			say("suite clients: not run, there is no %s: install Node.js 20 or later and Python 3.11 or later", needed)
			os.Exit(0)
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("", "clients"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(binaries)
	return m.Run()
}

// say prints a line of the result.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}
