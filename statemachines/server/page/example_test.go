package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

// The page below a path of a server's own.
func ExampleNew() {
	var world fakeWorld // or what a server.Server gives
	mux := http.NewServeMux()
	mux.Handle("/_jobpoller/", page.New(page.Options{World: &world, Path: "/_jobpoller/", Token: "secret"}))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/_jobpoller/", nil))
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "No execution yet."))
	// Output: 200 true
}
