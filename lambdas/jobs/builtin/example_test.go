package builtin_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

func ExampleDrivers() {
	registry, err := jobs.Build(jobs.Environment{
		AWS:    aws.Config{Region: "eu-west-1"},
		Getenv: func(string) string { return "" },
		Jobs:   []string{"comprehend:StartEntitiesDetectionJob"},
	}, builtin.Drivers()...)
	if err != nil {
		panic(err)
	}
	driver, err := registry.Driver("comprehend:StartEntitiesDetectionJob")
	if err != nil {
		panic(err)
	}
	fmt.Println(driver.Name(), driver.Waiter().Name)
	_, err = registry.Driver("http:Request")
	fmt.Println(err)
	// Output:
	// comprehend:StartEntitiesDetectionJob EntitiesDetectionJobSucceeded
	// http:Request is not configured: set JOBPOLLER_HTTP_HOSTS to the hosts that it may call
}
