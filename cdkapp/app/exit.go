package main

import (
	"fmt"
	"os"

	"github.com/aws/jsii-runtime-go"

	"github.com/jobpoller/jobpoller/cdkapp"
)

// exitOnError prints what the app panicked with, if that is about what the user
// gave: without the stack of a goroutine, which says nothing of it.
func exitOnError() {
	switch thrown := recover().(type) {
	case nil:
	case *cdkapp.Error:
		fmt.Fprintln(os.Stderr, thrown)
		jsii.Close() // which removes its folder, and an exit does not defer
		os.Exit(1)
	default:
		panic(thrown)
	}
}
