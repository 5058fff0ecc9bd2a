package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// protocolSuites compare what awsjob reads with what the model says that a service
// sends.
var protocolSuites = []suite{{name: "protocols", cases: 981, run: runProtocols}}

// valuesOfOperation are how many random answers each operation gets in each
// protocol of its service.
const valuesOfOperation = 8

// canned is an HTTP client that gives one answer.
type canned struct{ wire.Answer }

// Do implements aws.HTTPClient.
func (c *canned) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: c.Status, Header: c.Header.Clone(), Body: io.NopCloser(strings.NewReader(string(c.Body))), Request: r,
	}, nil
}

// Every operation of the catalogue, in every protocol that its service speaks: random
// answers are written by the model, read by awsjob and compared; so are refusals
// with errors that the model declares and one that it does not.
func runProtocols(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	perProtocol := map[catalog.Protocol]int{}
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		whole, err := catalog.AWS().Service(l.Key)
		require.NoError(t, err)
		for _, p := range whole.Protocols {
			service := *whole
			service.Protocols = []catalog.Protocol{p}
			for _, op := range whole.Operations {
				operation := *op
				operation.Service = &service
				r.total++
				perProtocol[p]++
				if what := answersOf(t.Context(), p, &operation); what != "" {
					r.failures[fmt.Sprintf("%s %s:%s", p, l.Key, op.Name)] = what
				}
			}
		}
	}
	for _, p := range []catalog.Protocol{catalog.AWSJSON, catalog.RESTJSON, catalog.RESTXML, catalog.AWSQuery, catalog.EC2Query, catalog.CBOR} {
		r.notes = append(r.notes, fmt.Sprintf("%s: %d operations", p, perProtocol[p]))
	}
	return r
}

// answersOf compares the answers of an operation, and says what differs.
func answersOf(ctx context.Context, p catalog.Protocol, op *catalog.Operation) string {
	service := &canned{}
	client := awsjob.New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String("https://service.test"), HTTPClient: service,
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	})
	g := &wire.Generator{Rand: rand.New(rand.NewPCG(*seed, uint64(len(op.Name)))), Protocol: p}
	for range valuesOfOperation {
		input, output := g.Structure(op.Input), g.Structure(op.Output)
		service.Answer = wire.Succeed(p, op, output)
		got, err := client.Call(ctx, op, input)
		if err != nil {
			return fmt.Sprintf("%v: %s", err, service.Body)
		}
		if op.Output != nil {
			for _, m := range op.Output.Members {
				if m.In == catalog.InStatus && (p == catalog.RESTJSON || p == catalog.RESTXML) {
					output[m.Name] = json.Number("200")
				}
			}
		}
		if !reflect.DeepEqual(got, any(output)) {
			return fmt.Sprintf("read %v\nof   %v\nin   %s", got, output, service.Body)
		}
	}
	return refusalsOf(ctx, p, op, client, service, g.Structure(op.Input))
}

// refusalsOf compares what an operation's errors are called.
func refusalsOf(ctx context.Context, p catalog.Protocol, op *catalog.Operation, client *awsjob.Client, service *canned, input any) string {
	if op.Method == http.MethodHead {
		return "" // TestXMLErrors has their names
	}
	for _, declared := range append(slices.Clone(op.Errors), catalog.Error{Shape: "NobodyDeclaresThis", Status: 400}) {
		if declared.Shape == "" {
			continue
		}
		sent := declared.Shape
		if declared.Code != "" && (p == catalog.AWSQuery || p == catalog.EC2Query) {
			sent = declared.Code
		}
		service.Answer = wire.Refuse(p, op, sent, "it's <not> & so", max(400, declared.Status))
		_, err := client.Call(ctx, op, input)
		var api smithy.APIError
		switch {
		case !errors.As(err, &api):
			return fmt.Sprintf("%s is read as %v", sent, err)
		case api.ErrorCode() != sent || api.ErrorMessage() != "it's <not> & so":
			return fmt.Sprintf("%s is read as %s: %s", sent, api.ErrorCode(), api.ErrorMessage())
		}
	}
	return ""
}
