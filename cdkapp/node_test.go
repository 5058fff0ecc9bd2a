//go:build e2e

package cdkapp_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The CDK is a program of Node.js. Without it these tests cannot run, which is a
// failure where CI=true says that they must.
func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Fprintln(os.Stderr, "cdkapp: no tests: the CDK needs Node.js 20 or later:", err)
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
	folder, err := os.MkdirTemp("", "cdkapp-")
	if err == nil {
		err = os.Setenv("TMPDIR", folder)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	return m.Run()
}

// kernel is the one process of Node.js that all tests share. It answers one
// call after another.
var kernel sync.Mutex

// inStack calls build, with a stack of an app of its own, while no other test
// uses the kernel.
func inStack(t *testing.T, build func(stack awscdk.Stack)) {
	t.Helper()
	inStackWith(t, nil, build)
}

// inStackWith is inStack with what `cdk -c` gives.
func inStackWith(t *testing.T, context map[string]any, build func(stack awscdk.Stack)) {
	t.Helper()
	kernel.Lock()
	defer kernel.Unlock()
	defer func() { // else it ends the other tests too
		if thrown := recover(); thrown != nil {
			require.Fail(t, fmt.Sprint(thrown), "%s", debug.Stack())
		}
	}()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), Context: &context, AnalyticsReporting: jsii.Bool(false)})
	build(awscdk.NewStack(app, jsii.String("Stack"), nil))
}

// templateOf synthesizes the stack, inside of inStack.
func templateOf(stack awscdk.Stack) (assertions.Template, template) {
	synthesized := assertions.Template_FromStack(stack, nil)
	return synthesized, *synthesized.ToJSON()
}

// synth returns the template of the stack that build fills.
func synth(t *testing.T, build func(stack awscdk.Stack)) template {
	t.Helper()
	var all template
	inStack(t, func(stack awscdk.Stack) {
		build(stack)
		_, all = templateOf(stack)
	})
	return all
}

// problem returns the Error that build panics with.
func problem(t *testing.T, build func(stack awscdk.Stack)) *cdkapp.Error {
	t.Helper()
	var found *cdkapp.Error
	inStack(t, func(stack awscdk.Stack) {
		defer func() {
			err, _ := recover().(error)
			require.ErrorAs(t, err, &found)
		}()
		build(stack)
		require.Fail(t, "nothing was refused")
	})
	require.Contains(t, found.Error(), "Stack/")
	return found
}

// codeFolder returns a folder with packages of the functions that nobody can
// run, so that a test need not build them.
func codeFolder(t *testing.T) *string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"runjob", "checkstatus", "collector"} {
		for _, arch := range []string{"arm64", "amd64"} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name+"-"+arch+".zip"), []byte(name+" for "+arch), 0o600))
		}
	}
	return &folder
}
