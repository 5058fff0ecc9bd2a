// Command lambdazip writes the deployment package of a Lambda function, a zip
// file with one executable:
//
//	go run ./internal/lambdazip dist/runjob-arm64.zip dist/runjob/arm64/bootstrap
package main

import (
	"log"
	"os"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("lambdazip: expected two arguments: the zip file to write, and the executable")
	}
	if err := lambdabuild.Zip(os.Args[1], os.Args[2]); err != nil {
		log.Fatalf("lambdazip: %v", err)
	}
}
