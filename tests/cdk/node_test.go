// Package cdk_test compares what cdkapp deploys with the functions that it
// deploys, which cdkapp itself does not import.
package cdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/aws/jsii-runtime-go"
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
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}
