package awsjob_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// A program waits for an EKS cluster without the SDK's client of EKS. The input
// and the output are JSON, spelt as the service's model spells them.
func ExampleClient_Call() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL)
		_, _ = io.WriteString(w, `{"cluster": {"name": "prod", "status": "ACTIVE"}}`) // the example would print an error
	}))
	defer service.Close()
	// With AWS itself: cfg, err := config.LoadDefaultConfig(ctx)
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(service.URL), Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}

	entry, err := catalog.Lookup("eks", "ClusterActive")
	if err != nil {
		fmt.Println(err)
		return
	}
	client := awsjob.New(cfg)
	describe := func(ctx context.Context, in map[string]any) (any, error) {
		return client.Call(ctx, entry.Operation, in)
	}
	outcome, err := pollcore.Wait(context.Background(), entry.Waiter, map[string]any{"name": "prod"}, 30*time.Minute,
		describe, pollcore.Transient(goerror.Passes))
	fmt.Println(outcome.Status, outcome.Seen, err)
	// Output:
	// GET /clusters/prod
	// SUCCEEDED ACTIVE <nil>
}
