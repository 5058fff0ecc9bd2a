// Command functions is run-job, check-status and the collector with the driver of shop.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"

	"example.com/shop/deployment"
)

func main() { handler.Main(anystore.Open, deployment.New) }
