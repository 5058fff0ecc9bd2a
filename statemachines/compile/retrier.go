package compile

import "github.com/jobpoller/jobpoller/statemachines/asl"

// retrier is one of the Retry block of a Task.
type retrier struct {
	ErrorEquals     []string           `json:"ErrorEquals"`
	IntervalSeconds int                `json:"IntervalSeconds"`
	MaxAttempts     int                `json:"MaxAttempts"`
	BackoffRate     float64            `json:"BackoffRate"`
	MaxDelaySeconds int                `json:"MaxDelaySeconds,omitempty"`
	JitterStrategy  asl.JitterStrategy `json:"JitterStrategy,omitempty"`
	// clocked tells that the retries end at the deadline, however many are left.
	clocked bool
}

// lasts is how long the retries take at most, in seconds, without their attempts.
func (r retrier) lasts() int {
	sum, delay := 0.0, float64(r.IntervalSeconds)
	for range r.MaxAttempts {
		if r.MaxDelaySeconds > 0 {
			delay = min(delay, float64(r.MaxDelaySeconds))
		}
		sum += delay
		delay *= r.BackoffRate
	}
	return int(sum) + r.MaxAttempts // Step Functions may round each up
}
