//go:build e2e

package cdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// The CDK is a program of Node.js. Without it these tests cannot run, which is a
// failure where CI=true says that they must.
func TestMain(m *testing.M) {
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Fprintln(os.Stderr, "tests/cdk: no tests: the CDK needs Node.js 20 or later:", err)
		if os.Getenv("CI") == "true" {
			os.Exit(1)
		}
		return
	}
	os.Exit(runTests(m))
}

// runTests lets the tests, and the program of Node.js, write into a folder that is
// removed. jsii.Close would do that and wait for the program, but twice at the same
// time, which the race detector sees. The program ends with the pipe from this one.
func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "cdk-")
	if err == nil {
		err = os.Setenv("TMPDIR", folder)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	return m.Run()
}
