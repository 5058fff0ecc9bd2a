package mock

// UnknownJob calls f with each row of the table of errors of unknown jobs:
// "service:action" or "service", the name and the status of the error.
func UnknownJob(f func(call, name string, status int)) {
	for call, e := range unknownJob {
		f(call, e.name, e.status)
	}
}
