//go:build !e2e

package cdkapp_test

import (
	"fmt"
	"testing"
)

// The CDK is a program of Node.js, so the example, too, is for make e2e.
func TestMain(*testing.M) {
	fmt.Println("cdkapp: make e2e runs the tests and the example, which start Node.js")
}
