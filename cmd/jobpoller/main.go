// Command jobpoller checks, compiles and runs job pollers on this machine.
package main

import "github.com/jobpoller/jobpoller/internal/cli"

func main() { cli.Main() }
