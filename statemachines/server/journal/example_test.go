package journal_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/journal"
)

// A server that is opened again on the same folder has what it had before.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	answer := func(operation, body string) string {
		j, err := journal.Open(folder, "example")
		if err != nil {
			panic(err)
		}
		defer j.Close()
		s, err := server.Open(server.Options{Journal: j})
		if err != nil {
			panic(err)
		}
		defer s.Close()
		request, response := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)), httptest.NewRecorder()
		request.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
		s.ServeHTTP(response, request)
		return response.Body.String()
	}
	answer("CreateActivity", `{"name": "work"}`)
	fmt.Println(strings.Contains(answer("ListActivities", `{}`), `"name":"work"`))
	// Output: true
}
