package httpjob_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
)

// A server that starts a job with 202, and says in Location where its status is.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Location", "/jobs/7")
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprint(w, `{"status": "succeeded"}`)
	}))
	defer server.Close()
	driver, err := httpjob.New(httpjob.Config{Hosts: []string{server.Listener.Addr().String()}, Loopback: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	arguments, _ := json.Marshal(map[string]any{
		"Start":    map[string]any{"Method": "POST", "Url": server.URL + "/jobs"},
		"Describe": map[string]any{"Url": "{Headers.Location}"},
	})
	ref, err := driver.Start(context.Background(), jobs.Request{Arguments: arguments, Token: "0123456789abcdef0123456789abcdef0123"})
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := driver.Describe(context.Background(), ref)
	answer, _ := output.(map[string]any)
	fmt.Println(answer["StatusCode"], answer["Body"], err)
	// Output: 200 map[status:succeeded] <nil>
}
