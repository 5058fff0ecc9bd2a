package dynamodbexport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
)

// service is the part of DynamoDB that exports tables, in AWS JSON 1.0.
type service struct {
	mu       sync.Mutex
	requests []request
	exports  []*export
	polls    int    // describes that say IN_PROGRESS before the end
	end      string // the status then
	failure  string // answered to every call, if it is set
	silent   bool   // answers without a description
}

type request struct {
	operation string
	body      map[string]any
}

// export is one export; tokens make it unique.
type export struct {
	arn        string
	token      any
	parameters map[string]any
	described  int
}

// start returns the service and a driver that reaches it through the SDK.
func start(t *testing.T) (*service, jobs.Driver) {
	t.Helper()
	s := &service{end: "COMPLETED"}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	driver, err := dynamodbexport.FromEnvironment(jobs.Environment{AWS: aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: server.Client(), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "example"}, nil
		}),
	}})
	require.NoError(t, err)
	return s, driver
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("Content-Type") != "application/x-amz-json-1.0" {
		refuse(w, "SerializationException")
		return
	}
	target := r.Header.Get("X-Amz-Target")
	s.requests = append(s.requests, request{target, body})
	switch {
	case s.failure != "":
		refuse(w, s.failure)
	case s.silent:
		fmt.Fprint(w, `{}`)
	case target == "DynamoDB_20120810.ExportTableToPointInTime":
		s.export(w, body)
	case target == "DynamoDB_20120810.DescribeExport":
		s.describe(w, body)
	default:
		refuse(w, "UnknownOperationException")
	}
}

// says changes what the service answers from now on.
func (s *service) says(change func(*service)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// take returns the requests since the last take.
func (s *service) take() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

func (s *service) export(w http.ResponseWriter, parameters map[string]any) {
	for _, e := range s.exports {
		switch {
		case e.token != parameters["ClientToken"]:
		case !reflect.DeepEqual(e.parameters, parameters):
			refuse(w, "ExportConflictException")
			return
		default:
			e.answer(w, "IN_PROGRESS")
			return
		}
	}
	e := &export{
		arn:   fmt.Sprintf("%s/export/%d", parameters["TableArn"], len(s.exports)+1),
		token: parameters["ClientToken"], parameters: parameters,
	}
	s.exports = append(s.exports, e)
	e.answer(w, "IN_PROGRESS")
}

func (s *service) describe(w http.ResponseWriter, parameters map[string]any) {
	for _, e := range s.exports {
		if e.arn != parameters["ExportArn"] {
			continue
		}
		if e.described++; e.described <= s.polls {
			e.answer(w, "IN_PROGRESS")
		} else {
			e.answer(w, s.end)
		}
		return
	}
	refuse(w, "ExportNotFoundException")
}

func (e *export) answer(w http.ResponseWriter, status string) {
	description := map[string]any{
		"ExportArn": e.arn, "ExportStatus": status, "StartTime": 1795000000.5, "TableArn": e.parameters["TableArn"],
		"ItemCount": 9007199254740993, "ClientToken": e.token,
	}
	if status == "FAILED" {
		description["FailureCode"], description["FailureMessage"] = "S3NoSuchBucket", "no such bucket"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ExportDescription": description})
}

func refuse(w http.ResponseWriter, code string) {
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, `{"__type": "com.amazonaws.dynamodb.v20120810#%s", "message": "said the service"}`, code)
}

func run(t *testing.T, driver jobs.Driver, token, arguments string) jobs.Ref {
	t.Helper()
	ref, err := driver.Start(t.Context(), jobs.Request{Token: token, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	return ref
}
