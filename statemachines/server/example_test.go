package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

func ExampleNew() {
	endpoint := httptest.NewServer(server.New(server.Options{}))
	defer endpoint.Close()

	q, err := http.NewRequest(http.MethodPost, endpoint.URL, strings.NewReader(`{"maxResults": 10}`))
	if err != nil {
		panic(err)
	}
	q.Header.Set("X-Amz-Target", "AWSStepFunctions.ListStateMachines")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	// Output:
	// {"stateMachines":[]}
}
