package typecheck

import "github.com/jobpoller/jobpoller/statemachines/asl"

// HTTPStatus is the member of the result of an HTTP Task, or of a call of API Gateway, that has the code of the response.
const HTTPStatus = "StatusCode"

// CallsHTTP tells whether a state calls an HTTP endpoint itself: as an HTTP Task, or by API Gateway.
func CallsHTTP(s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	r := asl.ParseResource(s.Task.Resource)
	return (r.Service == "http" || r.Service == "apigateway") && r.Action == "invoke" && r.Pattern == ""
}

// resultOfHTTP is what is known of the result of such a state.
var resultOfHTTP = update(ofKinds(objects), namesOf([]string{HTTPStatus}), func(Value) Value { return anyNumber })
