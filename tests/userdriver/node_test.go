package main

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
		fmt.Fprintln(os.Stderr, "userdriver: no tests: the CDK needs Node.js 20 or later:", err)
		if os.Getenv("CI") == "true" {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
