// Command buildlambdas builds Lambda functions into a folder: for each package,
// <folder>/<name>/<arm64|amd64>/bootstrap and <folder>/<name>-<arm64|amd64>.zip.
//
//	go run ./internal/lambdabuild/buildlambdas dist ./lambdas/runjob ./lambdas/checkstatus
package main

import (
	"context"
	"log"
	"os"
	"path"
	"path/filepath"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("buildlambdas: pass the folder to write to, and the packages of the functions")
	}
	for _, pkg := range os.Args[2:] {
		for _, arch := range []string{"arm64", "amd64"} {
			if err := build(os.Args[1], pkg, arch); err != nil {
				log.Fatalf("buildlambdas: %v", err)
			}
		}
	}
}

func build(folder, pkg, arch string) error {
	base := filepath.Join(folder, path.Base(pkg))
	bootstrap := filepath.Join(base, arch, "bootstrap")
	if err := lambdabuild.Executable(context.Background(), ".", pkg, lambdabuild.Lambda(arch), bootstrap); err != nil {
		return err
	}
	return lambdabuild.Zip(base+"-"+arch+".zip", bootstrap)
}
